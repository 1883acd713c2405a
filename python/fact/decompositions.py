# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch writes out what the compiler does not convert.

An op that has no conversion is replaced by what FACT (`forms`) or PyTorch (its
table of decompositions, or the op's own composite form) writes it out as, again and again,
until every op has a conversion. An op that does not get that far stays whole, so that an
error names the op that the user called. Ops that have a conversion always stay whole.
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch._subclasses.functional_tensor import dispatch_functionalize
from torch.fx.experimental.proxy_tensor import make_fx

from . import constants, forms

# What says where a node is in the user's files.
_PLACE = ("stack_trace", "nn_module_stack", "torch_fn", "source_fn_stack")

# Written-out forms of written-out forms; none that ends is deeper.
_DEPTH_LIMIT = 12


def decompose(program: torch.export.ExportedProgram, supported: frozenset[str]) -> None:
    """Folds constants and writes out the ops of `program` that are not `supported`."""
    if not supported:
        return
    constants.fold_program(program)
    known = constants.known_tensors(program)
    changed = False
    written: dict[tuple, torch.fx.GraphModule | None] = {}
    with _tracing():
        for node in list(program.graph.nodes):
            form = _shared_form(node, supported, known, written)
            if form is not None:
                _inline(program.graph, node, form, lambda t: constants.lift(program, t))
                changed = True
    if changed:
        program.graph.eliminate_dead_code()
        constants.fold_program(program)
    _name_outputs(program)
    program.graph_module.recompile()


def _name_outputs(program: torch.export.ExportedProgram) -> None:
    """The signature names the nodes that the program returns."""
    output = next(iter(reversed(program.graph.nodes)))
    for spec, value in zip(program.graph_signature.output_specs, output.args[0], strict=True):
        if isinstance(value, torch.fx.Node):
            spec.arg.name = value.name


def op_name(target: Any) -> str | None:
    """The name of an op as the compiler has it: `aten.add.Tensor`, `aten.relu`."""
    if not isinstance(target, torch._ops.OpOverload):
        return None
    return str(target).removesuffix(".default")


@contextlib.contextmanager
def _tracing() -> Iterator[None]:
    # oneDNN's ops have no forms of their own.
    enabled = torch._C._get_mkldnn_enabled()
    torch._C._set_mkldnn_enabled(False)
    try:
        with torch.no_grad():
            yield
    finally:
        torch._C._set_mkldnn_enabled(enabled)


def _is_taken(node: torch.fx.Node, supported: frozenset[str]) -> bool:
    """Whether the compiler takes a node as it is."""
    if node.op != "call_function" or node.target is operator.getitem:
        return True
    return op_name(node.target) in supported and not forms.is_exception(node)


def _shared_form(node: torch.fx.Node, supported: frozenset[str], known: dict,
                 written: dict) -> torch.fx.GraphModule | None:
    """The form of a node, once for all nodes that are alike: tracing takes long, and a loop
    that was unrolled has many of them. `written` has the forms so far."""
    key = None if _is_taken(node, supported) else _call(node, known)
    if key is None:
        return _supported_form(node, supported, known, 0)
    if key not in written:
        written[key] = _supported_form(node, supported, known, 0)
    return written[key]


def _call(node: torch.fx.Node, known: dict) -> tuple | None:
    """All that the form of a node depends on; None if that includes the values of operands."""
    operands = node.all_input_nodes
    values = _tensors_of(operands)
    if values is None or any(operand in known for operand in operands):
        return None
    places = {operand: f"%{place}" for place, operand in enumerate(operands)}
    arguments = repr(_named_operands((node.args, dict(node.kwargs)), places))
    used = tuple(sorted({_index_of(user) for user in node.users if user.users
                         and user.target is operator.getitem}))
    return node.target, arguments, used, tuple(
        (tuple(value.shape), value.stride(), value.dtype, value.device) for value in values)


def _tensors_of(operands: list[torch.fx.Node]) -> list[torch.Tensor] | None:
    """The values of operands; None if one of them is no tensor."""
    values = [operand.meta.get("val") for operand in operands]
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    return tensors if len(tensors) == len(values) else None


def _index_of(element: torch.fx.Node) -> int:
    """Which result of an op with several a node takes."""
    index = element.args[1]
    assert isinstance(index, int)
    return index


def _named_operands(argument: Any, places: dict[torch.fx.Node, str]) -> Any:
    """An argument with names in place of nodes."""
    if isinstance(argument, torch.fx.Node):
        return places[argument]
    if isinstance(argument, (list, tuple)):
        return [_named_operands(one, places) for one in argument]
    if isinstance(argument, dict):
        return {key: _named_operands(one, places) for key, one in argument.items()}
    return argument


def _supported_form(node: torch.fx.Node, supported: frozenset[str], known: dict,
                    depth: int) -> torch.fx.GraphModule | None:
    """The node as a graph of supported ops; None if it is one, or if there is none."""
    if _is_taken(node, supported) or depth == _DEPTH_LIMIT:
        return None
    form = _written_out(node, known)
    if form is None:
        return None
    graph = form.graph
    operands = _operands(graph, node.all_input_nodes)
    inside = {place: known[given] for place, given in operands if given in known}
    inside.update({place: getattr(form, place.target) for place in graph.nodes
                   if place.op == "get_attr"})
    constants.fold(graph, inside, lambda tensor: _attribute(form, tensor))
    for inner in list(graph.nodes):
        if _is_taken(inner, supported):
            continue
        replacement = _supported_form(inner, supported, inside, depth + 1)
        if replacement is None:
            return None
        _inline(graph, inner, replacement, lambda tensor: _attribute(form, tensor))
    graph.eliminate_dead_code()
    return form


def _operands(graph: torch.fx.Graph, operands: list[torch.fx.Node]):
    """Pairs of a form's placeholders and the operands that they stand for."""
    places = [place for place in graph.nodes if place.op == "placeholder"]
    return zip(places, operands, strict=True)


def _attribute(form: torch.fx.GraphModule, tensor: torch.Tensor) -> torch.fx.Node:
    """A constant of a form, as an attribute."""
    index = 0
    while hasattr(form, f"constant_{index}"):
        index += 1
    form.register_buffer(f"constant_{index}", tensor, persistent=False)
    with form.graph.inserting_before(next(iter(form.graph.nodes))):
        node = form.graph.get_attr(f"constant_{index}")
    node.meta["val"] = constants.fake(form.graph, tensor)
    return node


def _written_out(node: torch.fx.Node, known: dict) -> torch.fx.GraphModule | None:
    """One step of FACT's or PyTorch's own form of an op, as a graph of the node's operands."""
    operands = node.all_input_nodes
    values = _tensors_of(operands)
    if values is None:
        return None
    for function, is_composite in _forms(node.target):

        def call(*tensors, function=function):
            of = dict(zip(operands, tensors))
            args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), lambda n: of[n])
            with forms.known_values((of[n], known[n]) for n in operands if n in known):
                result = function(*args, **kwargs)
            return tuple(result) if isinstance(result, tuple) else result  # Of no own class.

        # Below autograd, the dispatcher itself writes composite ops out. Above, it leaves
        # those that a form calls whole.
        form = trace(call, values, pre_dispatch=not is_composite)
        if form is not None and _has_results_of(form, node):
            return form
    return None


def trace(call: Callable, values: Sequence[torch.Tensor], *,
          pre_dispatch: bool = False) -> torch.fx.GraphModule | None:
    """A function as a graph that changes no tensor, if PyTorch can make one."""
    form = _trace(call, values, pre_dispatch)
    if form is not None and _changes_tensors(form.graph):
        form = _trace(dispatch_functionalize(call), values, pre_dispatch=False)
    return None if form is None or _changes_tensors(form.graph) else form


def _trace(call: Callable, values: Sequence[torch.Tensor],
           pre_dispatch: bool) -> torch.fx.GraphModule | None:
    try:
        return make_fx(call, tracing_mode="fake", pre_dispatch=pre_dispatch)(*values)
    except Exception:
        # A form that PyTorch does not have for these arguments; the op stays whole.
        return None


def _changes_tensors(graph: torch.fx.Graph) -> bool:
    return any(isinstance(node.target, torch._ops.OpOverload) and node.target._schema.is_mutable
               for node in graph.nodes)


def _has_results_of(form: torch.fx.GraphModule, node: torch.fx.Node) -> bool:
    """Whether a form returns tensors like those of the node. Drops what nobody uses."""
    def is_like(result, value) -> bool:
        made = result.meta.get("val") if isinstance(result, torch.fx.Node) else None
        return isinstance(made, torch.Tensor) and isinstance(value, torch.Tensor) and \
            made.shape == value.shape and made.dtype == value.dtype

    output = next(iter(reversed(form.graph.nodes)))
    result, value = output.args[0], node.meta.get("val")
    if not isinstance(value, (list, tuple)):
        return is_like(result, value)
    used = {_index_of(user) for user in node.users if user.users}
    output.args = (tuple(one if index in used else None for index, one in enumerate(result)),)
    form.graph.eliminate_dead_code()
    return all(is_like(result[index], value[index]) for index in used)


def _forms(target: Any) -> Iterator[tuple[Callable, bool]]:
    """FACT's own form of an op, PyTorch's decomposition, and the op itself if it is composite."""
    from torch._decomp import decomposition_table

    for function in (forms.own_form(target), decomposition_table.get(target)):
        if function is not None:
            yield function, False
    if is_composite(target):
        yield target, True


def is_composite(target: Any) -> bool:
    if not isinstance(target, torch._ops.OpOverload):
        return False
    key = torch._C.DispatchKey.CompositeImplicitAutograd
    return key in target.py_kernels or \
        torch._C._dispatch_has_kernel_for_dispatch_key(target.name(), key)


def _inline(graph: torch.fx.Graph, node: torch.fx.Node, form: torch.fx.GraphModule,
            constant: Callable[[torch.Tensor], torch.fx.Node]) -> None:
    """Replaces a node by its form."""
    _replace(graph, node, copy_form(graph, node, form, node.all_input_nodes, constant))


def copy_form(graph: torch.fx.Graph, node: torch.fx.Node, form: torch.fx.GraphModule,
              operands: list[torch.fx.Node],
              constant: Callable[[torch.Tensor], torch.fx.Node]) -> Any:
    """Copies a form before a node, and gives it the node's place in the user's files. Returns
    the form's result."""
    of = dict(_operands(form.graph, operands))
    result = None
    for inner in form.graph.nodes:
        if inner.op == "get_attr":
            of[inner] = constant(getattr(form, inner.target))
        elif inner.op == "call_function":
            with graph.inserting_before(node):
                of[inner] = graph.node_copy(inner, lambda n: of[n])
            of[inner].meta = {"val": inner.meta.get("val"), **{
                key: node.meta[key] for key in _PLACE if key in node.meta}}
        elif inner.op == "output":
            result = torch.fx.node.map_arg(inner.args[0], lambda n: of[n])
    return result


def _replace(graph: torch.fx.Graph, node: torch.fx.Node, result: Any) -> None:
    if isinstance(result, torch.fx.Node):
        node.replace_all_uses_with(result)
    else:
        for user in list(node.users):
            if user.users:
                user.replace_all_uses_with(result[user.args[1]])
            graph.erase_node(user)
    graph.erase_node(node)
