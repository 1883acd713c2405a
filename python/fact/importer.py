# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch-mlir's FX importer, with weights by name. Imported only by `export`."""

from __future__ import annotations

import re
from typing import Any

import numpy
import torch
from torch_mlir import ir
from torch_mlir.dialects import torch as torch_dialect
from torch_mlir.extras.fx_importer import FxImporter, GraphNodeImporter

from . import precision
from .element_types import type_name
from .errors import FactError
from .export import State, has_embeddable_data
from .signature import CallSignature

# Up to this many elements the data is written as a list, and as a resource above.
READABLE_ELEMENTS = 32


def import_program(
    program: torch.export.ExportedProgram,
    state: State,
    name: str,
    inputs: list[dict[str, Any]],
    outputs: list[dict[str, Any]],
    signature: CallSignature,
) -> tuple[str, dict[str, torch.Tensor]]:
    """The program as text, and the tensors that the text names."""
    context = ir.Context()
    torch_dialect.register_dialect(context)
    # The text has attributes of the `fact` dialect, which torch-mlir does not know.
    context.allow_unregistered_dialects = True
    weights: dict[str, torch.Tensor] = {}

    def node_importer(*args):
        return WeightImporter(*args, state=state, weights=weights)

    importer = FxImporter(context=context, graph_node_importer_cls=node_importer)
    try:
        with context:
            function = importer.import_frozen_program(program, func_name="main")
    except FactError:
        raise
    except Exception as error:
        raise FactError(
            f"torch-mlir could not import the program: {type(error).__name__}: {error}"
        ) from error
    with context:
        module = importer.module.operation
        module.attributes["sym_name"] = ir.StringAttr.get(name)
        module.attributes["fact.float32_matmul_precision"] = ir.StringAttr.get(
            precision.of_products()
        )
        module.attributes["fact.float32_convolution_precision"] = ir.StringAttr.get(
            precision.of_convolutions()
        )
        module.attributes["fact.signature"] = ir.StringAttr.get(signature.to_json())
        function.attributes["arg_attrs"] = _names(inputs)
        function.attributes["res_attrs"] = _names(outputs)
        # `torch.fact.weight` is not an op of torch-mlir's dialect, so its verifier would
        # refuse it, and printing without `assume_verified` would be in generic form.
        text = module.get_asm(enable_debug_info=True, assume_verified=True)
    return text + "\n", weights


class WeightImporter(GraphNodeImporter):
    """Writes one `torch.fact.weight` per tensor where literals would be inlined."""

    __slots__ = ("state", "weights", "ops")

    def __init__(self, *args, state: State, weights: dict[str, torch.Tensor]):
        super().__init__(*args)
        self.state, self.weights = state, weights
        self.ops: dict[str, ir.Operation] = {}

    # The hook `resolve_literal` would see booleans only as copies in another type, which
    # have lost their identity, so the caller of that hook is overridden instead.
    def _import_literal(self, py_value, info=None):
        if not isinstance(py_value, torch.Tensor):
            return super()._import_literal(py_value, info)
        name = self.state.names.get(id(py_value))
        if name is None:
            name = f"constant{len(self.weights)}"
            self.state.add(name, py_value, "constant")
        if name not in self.ops:
            self.ops[name] = self._weight(name, py_value)
        return self.ops[name].result

    # torch-mlir accepts only lists of values that nodes computed, which weights are not:
    # `torch.cat([self.token, x])`.
    def _import_list_argument(self, loc, arg, expected_jit_type):
        if not any(isinstance(element, torch.Tensor) for element in arg):
            return super()._import_list_argument(loc, arg, expected_jit_type)
        optional = any(element is None for element in arg)
        with loc:
            values = [self._import_list_element(loc, element) for element in arg]
            type_ = "!torch.list<optional<vtensor>>" if optional else "!torch.list<vtensor>"
            return ir.Operation.create("torch.prim.ListConstruct", results=[ir.Type.parse(type_)],
                                       operands=values).result

    def _import_list_element(self, loc, element):
        if isinstance(element, torch.fx.Node):
            return self.resolve_node_value(element)
        if element is None:
            return self._import_default_value(loc, None, torch.NoneType)
        return self._import_literal(element)

    def _weight(self, name: str, tensor: torch.Tensor) -> ir.Operation:
        if tensor.layout != torch.strided:
            raise FactError(f"weight '{name}' is {tensor.layout}: only dense tensors are supported")
        type_name(tensor.dtype)
        attributes = {"name": ir.StringAttr.get(name)}
        kind = self.state.kinds[name]
        if kind == "constant":
            if tensor.is_meta:
                raise FactError(f"constant tensor '{name}' has no data (meta device)")
            attributes["constant"] = ir.UnitAttr.get()
            attributes["value"] = _elements(name, tensor)
        elif kind == "buffer" and has_embeddable_data(tensor):
            attributes["value"] = _elements(name, tensor)
        self.weights[name] = tensor.detach()
        result = self._cc.tensor_to_vtensor_type(tensor)
        return ir.Operation.create("torch.fact.weight", results=[result], attributes=attributes)


def _names(entries: list[dict[str, Any]]) -> ir.ArrayAttr:
    return ir.ArrayAttr.get(
        [ir.DictAttr.get({"fact.name": ir.StringAttr.get(e["name"])}) for e in entries]
    )


def _elements(name: str, tensor: torch.Tensor) -> ir.Attribute:
    """A tensor's data: a splat, a readable list, or a resource. Booleans become `i8`."""
    data = tensor.detach().cpu().contiguous()
    if data.dtype == torch.bool:
        # How `i1` data is packed has changed between versions of MLIR.
        data = data.to(torch.int8)
    element = ir.Type.parse(type_name(data.dtype))
    shaped = ir.RankedTensorType.get(list(data.shape), element)
    flat = data.reshape(-1)
    # Bits rather than values: NumPy has no bfloat16.
    integer = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[data.element_size()]
    bits = flat.view(integer).numpy()
    make = ir.FloatAttr.get if data.dtype.is_floating_point else ir.IntegerAttr.get
    if not bits.size:
        return ir.Attribute.parse(f"dense<> : {shaped}")
    if (bits == bits[0]).all():
        return ir.DenseElementsAttr.get_splat(shaped, make(element, flat[0].item()))
    if bits.size <= READABLE_ELEMENTS:
        return ir.DenseElementsAttr.get([make(element, v) for v in flat.tolist()], shaped)
    blob = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return ir.DenseResourceElementsAttr.get_from_buffer(
        numpy.ascontiguousarray(bits), blob, shaped
    )
