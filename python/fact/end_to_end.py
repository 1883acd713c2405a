# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares a library with its module.

Kernels are verified one by one while they are tuned. This checks all the rest: import,
fusion, folding, the memory plan and the order of steps. The library and the module run once
on the given inputs. A result may be as far from the module in fp64 as 1.5 times the module's
own error in its own types, plus one rounding.

- fp64 is the module's own forward with each op widened (`arithmetic.Wide`). If that does
  not fit in memory, fp32 replaces it for 16-bit results.
- The module's own error is that of eager. On a CPU, products of 16-bit tensors are computed
  in fp32 and rounded once (`arithmetic.ProductsInFloat32`).
- `verify.judge` compares: NaN and infinities by class, as in fp64 or as in eager; integers and
  booleans element by element, those of fp64 or of eager.
- One run of eager does not determine its error if a result has few elements, is exact by chance,
  or is fp64, which is its own truth. Eager's error is then the largest of several runs in which
  ops are perturbed by one rounding, and sums by another order of their terms
  (`arithmetic.Perturbed`). On a GPU these runs round the factors of products and convolutions to
  TF32 where PyTorch's settings allow that, for PyTorch itself does so for some sizes only.
- Rounding decides some integers, booleans, NaN and infinities. They may also be as in one of the
  perturbed runs.
- Buffers and inputs that the module changes are results. The module runs on copies of them
  and of its Python attributes, and the random generators are restored.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from .arithmetic import Perturbed, ProductsInFloat32, TooLarge, Wide, converted, tf32_ops
from .element_types import as_real
from .errors import FactError
from .library import Model
from .signature import CallSignature
from .verify import FACTOR, Comparison, Judgment, compare, copy_module, judge, largest

# The maximum number of perturbed runs of eager, used if one run does not determine its error.
PERTURBED_RUNS = 8


class Refused(FactError):
    """The library's results differ from the module's."""


@dataclasses.dataclass
class Verdict:
    """The result of a comparison; `skipped` says why there was none."""

    skipped: str | None = None
    # By result: the library's error and eager's.
    errors: dict[str, tuple[Comparison, Comparison]] = dataclasses.field(default_factory=dict)

    def __str__(self) -> str:
        if self.skipped:
            return f"not compared with the module: {self.skipped}"
        norms = [(name, ours.norm, eager.norm) for name, (ours, eager) in self.errors.items()]
        name, ours, eager = max(norms, key=lambda entry: entry[1] - FACTOR * entry[2],
                                default=("", 0.0, 0.0))
        return f"as exact as the module: error {ours:.1e}, eager's {eager:.1e}" + (
            f" (output '{name}', the worst of {len(norms)})" if len(norms) > 1 else "")


def compare_with_module(model: Model, module: torch.nn.Module, args: Sequence[Any],
                        kwargs: dict[str, Any] | None = None) -> Verdict:
    """Raises Refused where a result of `model` is too far from the module's."""
    kwargs = kwargs or {}
    if model.signature is None:
        return Verdict("the library does not say how its module was called")
    if any(tensor.is_meta for tensor in _all_tensors(module, args, kwargs)):
        return Verdict("the module or its inputs are on the meta device and have no data")
    try:
        runs = _Runs(model.signature, model.library.device_type, module, args, kwargs)
        found = runs.library(model)
        names = [entry["name"] for entry in model.library.outputs]
        try:
            judgments = judge_results(names, found, _exact(runs, found), runs.eager)
        except _CannotRun:
            if runs.device.type == "cpu":
                raise
            # PyTorch's GPU kernels lack some types, such as products of integers.
            runs = _Runs(model.signature, "cpu", module, args, kwargs)
            found = [result.cpu() for result in found]
            judgments = judge_results(names, found, _exact(runs, found), runs.eager)
    except (TooLarge, torch.OutOfMemoryError, MemoryError) as error:
        return Verdict(f"there is not enough memory ({_first_line(error)})")
    except _CannotRun as error:
        return Verdict(str(error))
    wrong = [judgment for judgment in judgments if judgment.reason]
    if wrong:
        raise Refused(_message(model, wrong))
    return Verdict(errors={judgment.name: (judgment.ours, judgment.eager)
                           for judgment, result in zip(judgments, found)
                           if result.is_floating_point() or result.is_complex()})


@dataclasses.dataclass
class Expected:
    """A result of the module in fp64, and eager's errors."""

    exact: torch.Tensor
    eager: Comparison
    # The largest of perturbed runs too: what a result is judged by if one run refuses it.
    largest: Comparison


def expected_results(signature: CallSignature, module: torch.nn.Module, args: Sequence[Any],
                     kwargs: dict[str, Any] | None = None) -> list[Expected]:
    """What a library must compute, for a comparison without the module."""
    runs = _Runs(signature, "cpu", module, args, kwargs or {})
    exact = runs.wide(torch.float64)
    errors = [list(map(compare, runs.eager(seed), exact)) for seed in (None, *range(PERTURBED_RUNS))]
    return [Expected(truth, own[0], largest(own)) for truth, *own in zip(exact, *errors)]


def judge_results(names: Sequence[str], found: Sequence[torch.Tensor],
                  exact: Sequence[torch.Tensor],
                  eager: Callable[[int | None], Sequence[torch.Tensor]]) -> list[Judgment]:
    """Judges results by a run of eager, `eager(None)`. Results that this refuses are judged by
    perturbed runs too, `eager(seed)`, which show what rounding decides and how exact eager is if
    its one run was exact by chance."""
    runs = [[tensor] for tensor in eager(None)]
    judgments = list(map(judge, names, found, runs, exact))
    for seed in range(PERTURBED_RUNS):
        unsure = [i for i, judgment in enumerate(judgments) if judgment.reason]
        if not unsure:
            break
        disturbed = eager(seed)
        for i in unsure:
            runs[i].append(disturbed[i])
            judgments[i] = judge(names[i], found[i], runs[i], exact[i])
    return judgments


def _exact(runs: _Runs, found: list[torch.Tensor]) -> list[torch.Tensor]:
    """The truth: fp64, or fp32 for 16-bit results where fp64 does not fit."""
    floating = [result.dtype for result in found if result.is_floating_point()]
    try:
        return runs.wide(torch.float64)
    except (TooLarge, torch.OutOfMemoryError):
        if not floating or any(dtype.itemsize > 2 for dtype in floating):
            raise
        return runs.wide(torch.float32)


def _message(model: Model, wrong: list[Judgment]) -> str:
    lines = [f"the library of {model.library.name} does not compute what the module does:"]
    lines += [f"  {judgment.reason}" for judgment in wrong[:4]]
    if len(wrong) > 4:
        lines.append(f"  and {len(wrong) - 4} more results")
    if any(judgment.zeros_for_nan for judgment in wrong):
        lines.append(
            "Attention that is written out is NaN where a mask of -inf hides every key of a query, "
            "and FACT's is 0 there, as scaled_dot_product_attention's is. With inputs in which each "
            "query sees a key, or a mask of the lowest finite number, both agree")
    else:
        lines.append(f"A result may be {FACTOR} times as far from fp64 as eager, plus one rounding. "
                     "This is a defect of FACT: please report it with the module and inputs")
    return "\n".join(lines)


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _all_tensors(module, args, kwargs) -> list[torch.Tensor]:
    leaves = pytree.tree_leaves((args, kwargs))
    return [*module.parameters(), *module.buffers(),
            *(leaf for leaf in leaves if isinstance(leaf, torch.Tensor))]


# Runs.


class _CannotRun(Exception):
    """The module itself fails, so no comparison is possible."""


class _Runs:
    """Runs the library and the module on the same inputs, each on copies of what may change."""

    def __init__(self, signature: CallSignature, kind: str, module: torch.nn.Module, args, kwargs):
        self.signature, self.module = signature, module
        self.args, self.kwargs = tuple(args), kwargs
        tensors = _all_tensors(module, args, kwargs)
        self.device = next((t.device for t in tensors if t.device.type == kind),
                           torch.device(kind))
        if any(tensor.device != self.device for tensor in tensors):
            self.module = copy_module(module).to(self.device)
            self.args, self.kwargs = pytree.tree_map_only(
                torch.Tensor, lambda t: t.to(self.device), (self.args, self.kwargs))
        self.changed = {m.target for m in self.signature.mutations if isinstance(m.target, str)}

    def library(self, model: Model) -> list[torch.Tensor]:
        args, kwargs = _copies((self.args, self.kwargs))
        outputs = model.call_flat(self.signature.flatten(args, kwargs))
        return self.signature.as_returned(outputs)

    def wide(self, dtype: torch.dtype) -> list[torch.Tensor]:
        """The module with every op in `dtype`. Some layers check types before an op can widen its
        operands, as convolutions and recurrent layers do, and need wide weights; modules that
        depend on their own type run if they are converted and nothing else is done."""
        problems = []
        for modes, convert in (([Wide(dtype)], False), ([Wide(dtype)], True), ([], True)):
            try:
                return self._run(modes, dtype, convert=convert)
            except (TooLarge, torch.OutOfMemoryError):
                raise
            except Exception as error:
                # Not the exception, whose frames keep a wide copy of the module.
                problems.append(_first_line(error))
        raise _CannotRun(f"the module does not run in {dtype}: {problems[0]}; "
                         f"converted to it: {problems[-1]}")

    def eager(self, seed: int | None = None) -> list[torch.Tensor]:
        """The module in its own types; with a seed, disturbed by roundings."""
        tf32 = tf32_ops() if self.device.type == "cuda" else frozenset()
        perturbed = None if seed is None else Perturbed(seed, self.device, tf32)
        modes: list[TorchDispatchMode] = [perturbed] if perturbed else []
        if self.device.type == "cpu":
            modes.append(ProductsInFloat32())
        try:
            return self._run(modes, perturb=perturbed.factors if perturbed else None)
        except torch.OutOfMemoryError:
            raise
        except Exception as error:
            raise _CannotRun(f"the module does not run: {_first_line(error)}") from error

    def _run(self, modes, dtype: torch.dtype | None = None, perturb: Callable | None = None,
             convert: bool = False) -> list[torch.Tensor]:
        own = _Copy(self.module, self.changed, dtype, convert)
        args, kwargs = _copies((self.args, self.kwargs), dtype, perturb)
        with contextlib.ExitStack() as stack:
            stack.enter_context(torch.no_grad())
            stack.enter_context(_same_random_numbers(self.device))
            for mode in modes:
                stack.enter_context(mode)
            returned = own(args, kwargs)
        return self._in_order(own, args, kwargs, returned)

    def _in_order(self, own: _Copy, args, kwargs, returned) -> list[torch.Tensor]:
        """The values that the module returned and changed, in the order of the outputs."""
        results: dict[int, torch.Tensor] = {}
        leaves = pytree.tree_leaves(returned)
        if len(leaves) != len(self.signature.result_leaves):
            raise _CannotRun(f"the module returned {len(leaves)} values where the exported one "
                             f"has {len(self.signature.result_leaves)}")
        for leaf, position in zip(leaves, self.signature.result_leaves):
            if isinstance(position, int):
                results[position] = leaf
        inputs = self.signature.flatten(args, kwargs) if self.signature.mutations else []
        for mutation in self.signature.mutations:
            results[mutation.output] = (inputs[mutation.target]
                                        if isinstance(mutation.target, int)
                                        else own.state()[mutation.target])
        return [results[position] for position in sorted(results)]


class _Copy:
    """A copy of the module that shares its parameters and nothing else."""

    def __init__(self, module: torch.nn.Module, changed: set[str], dtype: torch.dtype | None,
                 convert: bool):
        parameters = dict(module.named_parameters(remove_duplicate=False))
        changed_ids = {id(p) for name, p in parameters.items() if name in changed}
        shared = {} if convert else {id(p): p for p in parameters.values()
                                     if id(p) not in changed_ids}
        self.substitutes: dict[str, torch.Tensor] | None = None
        try:
            self.module = copy_module(module, dict(shared))
        except Exception:
            # Attributes that cannot be copied are shared; parameters and buffers are not.
            self.module = module
            own = {**parameters, **dict(module.named_buffers(remove_duplicate=False))}
            self.substitutes = _copies({name: tensor for name, tensor in own.items()
                                        if id(tensor) not in shared}, dtype)
            return
        if convert:
            assert dtype is not None
            self.module._apply(lambda tensor: converted(tensor, dtype))
        elif dtype is not None:
            self._widen_changing_state(changed, dtype)

    def _widen_changing_state(self, changed: set[str], dtype: torch.dtype) -> None:
        for name, parameter in self.module.named_parameters():
            if name in changed and parameter.is_floating_point():
                parameter.data = parameter.data.to(dtype)
        widened: dict[int, torch.Tensor] = {}
        for part in self.module.modules():
            for name, buffer in part._buffers.items():
                if buffer is not None:
                    part._buffers[name] = widened.setdefault(id(buffer), converted(buffer, dtype))

    def __call__(self, args, kwargs) -> Any:
        if self.substitutes is None:
            return self.module(*args, **kwargs)
        return torch.func.functional_call(self.module, self.substitutes, args, kwargs)

    def state(self) -> dict[str, torch.Tensor]:
        if self.substitutes is not None:
            return self.substitutes
        return {**dict(self.module.named_parameters(remove_duplicate=False)),
                **dict(self.module.named_buffers(remove_duplicate=False))}


def _copies(tree, dtype: torch.dtype | None = None, perturb: Callable | None = None):
    """A copy of the tree and its tensors; aliases stay aliases."""
    made: dict[int, torch.Tensor] = {}

    def one(tensor: torch.Tensor) -> torch.Tensor:
        if id(tensor) not in made:
            new = tensor.detach().clone().resolve_conj()
            if perturb is not None and (new.is_floating_point() or new.is_complex()):
                parts = as_real(new)
                parts.mul_(perturb(parts))
            made[id(tensor)] = new if dtype is None else converted(new, dtype)
        return made[id(tensor)]

    return pytree.tree_map_only(torch.Tensor, one, tree)


@contextlib.contextmanager
def _same_random_numbers(device: torch.device):
    """Runs draw the same random numbers, and the user's generators are restored."""
    devices = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices):
        torch.manual_seed(0)
        yield
