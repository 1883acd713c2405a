# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops against PyTorch in fp64, many in one compilation.

A case is a function of tensors. All cases of a group are results of one module, which is
compiled for the host once a type; a failure names each case that is wrong. Inputs are
representable in the type under test, and the truth is computed from the same values.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence

import pytest
import torch
from torch import nn

import fact
from fact import verify
from fact.arithmetic import ProductsInFloat32
from fact.workload import DTYPES

TYPES = sorted(DTYPES)


def rand(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def positive(*shape, seed=0):
    return rand(*shape, seed=seed).abs() + 0.125


def integers(*shape, low=-9, high=10, seed=0):
    return torch.randint(low, high, shape, generator=torch.Generator().manual_seed(seed))


class Several(nn.Module):
    """All of some functions of the same inputs."""

    def __init__(self, functions: Sequence[Callable]):
        super().__init__()
        self.functions = functions

    def forward(self, *inputs):
        return tuple(function(*inputs) for function in self.functions)


@dataclasses.dataclass(eq=False)
class Case:
    name: str
    function: Callable
    inputs: Sequence[torch.Tensor]
    # Of fp32 results; a 16-bit result is compared with PyTorch's own error.
    reduction: int = 1
    roundings: int = 2
    # Not merged with others: it knows its dimensions by number.
    alone: bool = False


class Group(nn.Module):
    """Cases as one module: the inputs of all of them in, the results by name out.

    A kernel of its own for each elementwise case would make compilation long. With `merge`,
    cases of one shape and type become rows of one result: the row's number selects which
    case is stored, so that one kernel computes many of them.
    """

    LIMIT = 20

    def __init__(self, name: str, cases: Sequence[Case], merge: bool):
        super().__init__()
        self.name, self.cases = name, list(cases)
        names = [case.name for case in cases]
        assert len(names) == len(set(names)), f"{name} has a case twice"
        self.given: list[torch.Tensor] = []
        self.inputs: list[torch.Tensor] = []
        self.places = []
        for case in cases:
            self.places.append([self._place(tensor) for tensor in case.inputs])
        self.buckets = self._buckets() if merge else []
        # The number of the row that an element is in: an input, since what follows from
        # constants would be computed beforehand, each in a kernel of its own.
        for cases in self.buckets:
            shape = cases[0].function(*cases[0].inputs).shape
            lanes = torch.arange(len(cases)).reshape(-1, *[1] * len(shape))
            self.inputs.append(lanes.expand(len(cases), *shape).contiguous())

    def _place(self, tensor: torch.Tensor) -> int:
        for index, known in enumerate(self.given):
            if known is tensor:
                return index
        self.given.append(tensor)
        # torch.export takes inputs that share memory for one.
        self.inputs.append(tensor if tensor._base is None else tensor.clone())
        return len(self.inputs) - 1

    def _buckets(self) -> list[list[Case]]:
        buckets: dict[tuple, list[Case]] = {}
        for case in self.cases:
            result = case.function(*case.inputs)
            if case.alone or not isinstance(result, torch.Tensor):
                continue
            key = result.shape, result.dtype
            while len(buckets.setdefault(key, [])) == self.LIMIT:
                key = key + (0,)
            buckets[key].append(case)
        return [cases for cases in buckets.values() if len(cases) > 1]

    def _result(self, case: Case, inputs, rows: tuple = ()):
        """With `rows`, the case is computed in each of them."""
        arguments = [inputs[place] for place in self.places[self.cases.index(case)]]
        if rows:
            arguments[0] = arguments[0].expand(rows)
        return case.function(*arguments)

    def forward(self, *inputs):
        results = {}
        merged = [case.name for cases in self.buckets for case in cases]
        for case in self.cases:
            if case.name not in merged:
                results[case.name] = self._result(case, inputs)
        for index, cases in enumerate(self.buckets):
            lanes = inputs[index - len(self.buckets)]
            rows = lanes.shape
            chosen = self._result(cases[-1], inputs, rows)
            for lane, case in reversed(list(enumerate(cases[:-1]))):
                chosen = torch.where(lanes == lane, self._result(case, inputs, rows), chosen)
            results[f"merged {index}"] = chosen
        return results

    def split(self, results: dict) -> dict:
        """Results by case, whatever was merged."""
        split = dict(results)
        for index, cases in enumerate(self.buckets):
            rows = split.pop(f"merged {index}").unbind()
            split.update({case.name: row for case, row in zip(cases, rows, strict=True)})
        return split

    def inputs_in(self, dtype: str) -> list[torch.Tensor]:
        to = DTYPES[dtype]
        return [x.to(to) if x.is_floating_point() else x for x in self.inputs]


# Every group of every test file, for the table of supported ops.
GROUPS: dict[str, Group] = {}
# The text that was compiled and has passed, by group and type.
TESTED: dict[tuple[str, str], str] = {}


def group(name: str, *cases: Case, types: Sequence[str] = TYPES, merge: bool = False) -> Group:
    GROUPS[name] = Group(name, cases, merge)
    GROUPS[name].types = types
    return GROUPS[name]


def runs(*groups: Group):
    """A test of each group in each of its types."""
    return pytest.mark.parametrize(
        "cases, dtype", [(group, dtype) for group in groups for dtype in group.types],
        ids=lambda value: value if isinstance(value, str) else value.name)


def check(group: Group, dtype: str) -> None:
    """Compiles in `dtype`, runs twice, compares each case with the module in fp64."""
    inputs = group.inputs_in(dtype)
    model = fact.compile(group, inputs, target="host", candidates=1, name=group.name)
    first, second = group.split(model(*inputs)), group.split(model(*inputs))
    exact = group.split(verify.reference(group, inputs))
    with torch.no_grad(), ProductsInFloat32():
        eager = group.split(group(*inputs))
    wrong = []
    for case in group.cases:
        try:
            _compare(case, first[case.name], second[case.name], eager[case.name],
                     exact[case.name])
        except (AssertionError, ValueError) as error:
            wrong.append(f"{case.name}: {error}")
    if wrong:
        raise AssertionError(f"{len(wrong)} of {len(group.cases)} cases:\n" + "\n".join(wrong))
    source = model.library.work_folder / f"{group.name}.mlir"
    TESTED[group.name, dtype] = source.read_text()


def _compare(case: Case, first, second, eager, exact) -> None:
    leaves = torch.utils._pytree.tree_leaves
    for one, two in zip(leaves(first), leaves(second), strict=True):
        assert torch.equal(one.nan_to_num(), two.nan_to_num()), "two runs differ"
    for one, truth in zip(leaves(first), leaves(exact), strict=True):
        assert one.is_floating_point() == truth.is_floating_point(), (
            f"has type {one.dtype}, and the truth {truth.dtype}")
    if any(leaf.dtype in (torch.float16, torch.bfloat16) for leaf in leaves(first)):
        verify.check_beside(first, eager, exact)
    else:
        verify.check(first, exact, reduction=case.reduction, roundings=case.roundings)


_OP = re.compile(r'(?:torch\.operator "torch\.([\w.]+)"|torch\.((?:aten|prims|prim)\.[\w.]+))'
                 r'.*? : (.*)')
_ELEMENT = re.compile(r"!torch\.vtensor<\[[^\]]*\],(\w+)>")
_NAMES = {"f16": "fp16", "bf16": "bf16", "f32": "fp32", "f64": "fp64", "si64": "i64",
          "si32": "i32", "si8": "i8", "i1": "bool"}


def ops_in(text: str) -> dict[str, set[str]]:
    """The torch ops of an exported program, each with the element types it has there."""
    found: dict[str, set[str]] = {}
    for named, whole, types in _OP.findall(text):
        elements = {_NAMES.get(e, e) for e in _ELEMENT.findall(types)}
        found.setdefault(named or whole, set()).update(elements)
    return found
