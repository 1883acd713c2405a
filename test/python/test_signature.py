# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How modules are called: containers, keywords, constants, and their form as JSON."""

import collections
import dataclasses
from typing import NamedTuple

import pytest
import torch
from torch import nn
from torch.utils import _pytree as pytree

import fact
from fact.signature import CallSignature

pytest.importorskip("torch_mlir")


class Pair(NamedTuple):
    first: torch.Tensor
    second: torch.Tensor


@dataclasses.dataclass
class Batch:
    tokens: torch.Tensor
    mask: torch.Tensor


torch.export.register_dataclass(Batch, serialized_type_name="test_signature.Batch")


class Everything(nn.Module):
    def forward(self, batch, pair, scale=2.0, *rest, options=None, kind="sum"):
        x = batch["x"] * scale + pair[0] - pair[1][0]
        for tensor in rest:
            x = x + tensor
        if options is not None:
            x = x * options["gain"]
        if kind == "sum":
            return {"y": x, "extra": (None, 3, [x + 1])}
        return [x, kind]


def tensors(count, start=0):
    return [torch.full((2,), float(start + i)) for i in range(count)]


def signatures(module, inputs, kwargs=None):
    """The signature itself and what a loaded library makes of it."""
    signature = fact.export(module, inputs, kwargs=kwargs).signature
    return [signature, CallSignature.from_json(signature.to_json())]


def values(found):
    return [float(tensor[0]) for tensor in found]


def test_nested_arguments_keywords_and_constants():
    a, b, c, d = tensors(4)
    for s in signatures(Everything(), ({"x": a}, (b, [c]), 3.0), {"options": {"gain": d}}):
        assert values(s.flatten(({"x": a}, (b, [c]), 3.0), {"options": {"gain": d}})) == [0, 1, 2, 3]
        # The same call in other words.
        assert values(s.flatten(({"x": a},), {
            "options": {"gain": d}, "pair": (b, [c]), "scale": 3.0, "kind": "sum"})) == [0, 1, 2, 3]
        found = s.build(["y", "z"])
        assert found == {"y": "y", "extra": (None, 3, ["z"])}


@pytest.mark.parametrize("call, message", [
    (lambda a, b, c: (({"x": a}, (b, [c]), 4.0), {}), r"'scale' is 4.0, but was 3.0 when"),
    (lambda a, b, c: (({"x": a}, (b, [c])), {}), r"'scale' is 2.0, but was 3.0 when"),
    (lambda a, b, c: (({"x": a}, (b, [c]), a), {}), r"'scale' is a tensor, but was 3.0 when"),
    (lambda a, b, c: (({"x": a}, (b, [c]), 3.0), {"kind": "all"}), r"'kind' was not given when"),
    (lambda a, b, c: (({"x": a}, (b, [c]), 3.0), {"other": a}), r"unexpected keyword"),
    (lambda a, b, c: (({"x": a},), {}), r"missing a required argument: 'pair'"),
    (lambda a, b, c: (({"y": a}, (b, [c]), 3.0), {}), r"not nested like the compiled ones"),
    (lambda a, b, c: (({"x": a}, (b, (c,)), 3.0), {}), r"not nested like the compiled ones"),
    (lambda a, b, c: (({"x": a}, (b, [c]), 3.0, a), {}), r"not nested like the compiled ones"),
])
def test_another_call_is_refused(call, message):
    a, b, c = tensors(3)
    args, kwargs = call(a, b, c)
    for signature in signatures(Everything(), ({"x": a}, (b, [c]), 3.0)):
        with pytest.raises(fact.FactError, match=message):
            signature.flatten(args, kwargs)


@pytest.mark.parametrize("compiled, given, accepted", [
    (1, 1, True), (1, 1.0, True), (1, True, False), (None, None, True), (None, 0, False),
    ("sum", "sum", True), ("sum", "mean", False), (2, torch.tensor(2), False),
])
def test_constants_are_compared_by_value(compiled, given, accepted):
    class Takes(nn.Module):
        def forward(self, x, what):
            return x + 1

    x = torch.zeros(2)
    for signature in signatures(Takes(), (x, compiled)):
        if accepted:
            assert signature.flatten((x, given), {}) == [x]
        else:
            with pytest.raises(fact.FactError, match="argument 'what' is"):
                signature.flatten((x, given), {})


def test_a_default_that_json_has_no_word_for():
    class Takes(nn.Module):
        def forward(self, x, dtype=torch.float32):
            return x.to(dtype)

    x = torch.zeros(2)
    for signature in signatures(Takes(), (x,)):
        assert signature.flatten((x, torch.float32), {}) == [x]
        with pytest.raises(fact.FactError, match="'dtype' was not given"):
            signature.flatten((x, torch.float16), {})


def test_calls_without_containers():
    class Takes(nn.Module):
        def forward(self, x, flag, y=None, scale=1.0):
            return x + y, scale

    x, y = tensors(2)
    for signature in signatures(Takes(), (x, True), {"scale": 2.0, "y": y}):
        for args, kwargs in (((x, True), {"scale": 2.0, "y": y}), ((x, True), {"y": y, "scale": 2}),
                             ((x, True, y, 2.0), {}), ((), dict(x=x, flag=True, y=y, scale=2.0))):
            assert values(signature.flatten(args, kwargs)) == [0, 1]
        for args, kwargs, message in (
                ((x, False), {"scale": 2.0, "y": y}, "argument 'flag' is False"),
                ((x, True), {"scale": 3.0, "y": y}, "argument 'scale' is 3.0"),
                ((x, True), {"scale": 2.0, "z": y}, "unexpected keyword")):
            with pytest.raises(fact.FactError, match=message):
                signature.flatten(args, kwargs)
        assert signature.build(["sum"]) == ("sum", 2.0)


def test_more_positional_arguments():
    a, b, c, d, e = tensors(5)
    for signature in signatures(Everything(), ({"x": a}, (b, [c]), 2.0, d, e)):
        assert values(signature.flatten(({"x": a}, (b, [c]), 2.0, d, e), {})) == [0, 1, 2, 3, 4]


def test_dictionaries_in_another_order():
    class Adds(nn.Module):
        def forward(self, batch):
            return collections.OrderedDict(sum=batch["a"] + batch["b"])

    a, b = tensors(2)
    for signature in signatures(Adds(), ({"a": a, "b": b},)):
        assert values(signature.flatten(({"b": b, "a": a},), {})) == [0, 1]
        assert isinstance(signature.build([a]), collections.OrderedDict)


def test_dataclasses_and_named_tuples():
    class Splits(nn.Module):
        def forward(self, batch, pair):
            return Batch(batch.tokens + pair.first, batch.mask * pair.second)

    a, b, c, d = tensors(4)
    for signature in signatures(Splits(), (Batch(a, b), Pair(c, d))):
        assert values(pytree.tree_leaves(signature.flatten((Batch(a, b), Pair(c, d)), {}))) == \
            [0, 1, 2, 3]
        built = signature.build([a, b])
        assert isinstance(built, Batch) and built.mask is b


def test_a_container_without_a_serialized_form_is_flat_when_loaded():
    @dataclasses.dataclass
    class Local:
        value: torch.Tensor

    torch.export.register_dataclass(Local)

    class Wraps(nn.Module):
        def forward(self, x):
            return Local(x + 1)

    x = torch.zeros(2)
    here, loaded = signatures(Wraps(), (x,))
    assert isinstance(here.build([x]), Local)
    assert loaded.build([x]) is x


def test_other_names_and_unused_names():
    class Module(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(2, 2), nn.Linear(2, 2)
            self.second.weight = self.first.weight

        def forward(self, x):
            return self.second(x @ self.first.weight)

    for signature in signatures(Module(), (torch.zeros(2, 2),)):
        assert signature.aliases == {"second.weight": "first.weight"}
        assert signature.unused == ["first.bias"]
