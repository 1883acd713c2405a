# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of the transformers library (`test/models`) on the host.

`fact.compile` compares each library with its module in fp64: it may be 1.5 times as far from it
as eager, plus one rounding. The long tests are all models; `pytest -rs --full` lists what is
refused, and why.
"""

import copy
import json
import os
import re
import sys
from pathlib import Path

import pytest
import torch

import fact
from fact import toolchain
from fact.errors import CompilerError
from fact.export import _supported_ops, export
from fact.safetensors_file import read_safetensors, write_safetensors

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from models import architectures, run
from models.architectures import TOKENS, RandomWeight, arguments

if not os.environ.get("FACT_REQUIRE_COMPILER"):
    pytest.importorskip("torch_mlir")
    if toolchain.find_tool("fact-compile") is None:
        pytest.skip("fact-compile is not built", allow_module_level=True)

transformers = pytest.importorskip("transformers", reason="transformers cannot be imported")

# Cheap, and one of each kind.
ALWAYS = [("bert", "mask"), ("gpt2", "decode"), ("llama", "decode")]


def model_of(name, dtype):
    class_name = architectures.ARCHITECTURES[name][0]
    if not hasattr(transformers, class_name):
        pytest.skip(f"transformers {transformers.__version__} has no {class_name}")
    return architectures.build(name, dtype)[0]


def compile_or_skip(model, args, kwargs):
    """Skips a model only if it has ops that FACT does not have."""
    try:
        return fact.compile(model, args, kwargs, target="host", candidates=1)
    except CompilerError as error:
        ops = {re.search(r"unsupported op '([^']+)'", text) for _, _, text in error.errors}
        if not ops or None in ops:
            raise
        pytest.skip("refused: " + ", ".join(sorted({match[1] for match in ops})))


def tensors_of(result):
    return [leaf for leaf in torch.utils._pytree.tree_leaves(result)
            if isinstance(leaf, torch.Tensor)]


@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
@pytest.mark.parametrize("name, call", [
    pytest.param(*case, id="-".join(case), marks=[] if case in ALWAYS else pytest.mark.full)
    for case in architectures.CALLS])
@torch.no_grad()
def test_model(name, call, dtype):
    model = model_of(name, architectures.DTYPES[dtype])
    args, kwargs = arguments(model, name, call)
    compiled = compile_or_skip(model, args, kwargs)
    assert compiled.library.verified
    # Both may change the cache that they are given.
    found = compiled(*args, **copy.deepcopy(kwargs))
    expected = model(*args, **kwargs)
    assert type(found) is type(expected) and found.keys() == expected.keys()
    for ours, eager in zip(tensors_of(found), tensors_of(expected), strict=True):
        assert ours.shape == eager.shape and ours.dtype == eager.dtype
    if call in ("decode", "static"):
        cache, grown = found.past_key_values, expected.past_key_values
        assert type(cache) is type(grown) and cache.get_seq_length() == grown.get_seq_length()


@pytest.mark.full
@torch.no_grad()
def test_a_loaded_library_takes_a_cache(tmp_path):
    model = model_of("llama", torch.float32)
    args, kwargs = arguments(model, "llama", "decode")
    compiled = fact.compile(model, args, kwargs, target="host", candidates=1)
    loaded = fact.load(compiled.library.path, model)
    found, expected = loaded(*args, **kwargs), compiled(*args, **kwargs)
    assert torch.equal(found.logits, expected.logits)
    assert found.past_key_values.get_seq_length() == TOKENS + 1
    longer = arguments(model, "llama", "decode")[1]
    model(args[0], **longer)
    with pytest.raises(fact.FactError, match="has shape"):
        loaded(*args, **longer)


@torch.no_grad()
def test_a_static_cache_as_an_argument():
    """One library computes all steps: the cache, its length included, changes in place."""
    model = model_of("llama", torch.float32)
    args, kwargs = arguments(model, "llama", "static")
    compiled = fact.compile(model, args, kwargs, target="host", candidates=1)
    ours, theirs = kwargs["past_key_values"], copy.deepcopy(kwargs["past_key_values"])
    for step in range(1, 4):
        found = compiled(args[0] + step, past_key_values=ours)
        expected = model(args[0] + step, past_key_values=theirs)
        assert torch.allclose(found.logits, expected.logits, atol=1e-5)
        assert ours.get_seq_length() == theirs.get_seq_length() == TOKENS + step
        assert torch.allclose(ours.layers[0].values, theirs.layers[0].values, atol=1e-5)
        assert torch.equal(ours.layers[0].keys, found.past_key_values.layers[0].keys)


@torch.no_grad()
def test_static_caches_that_are_refused():
    token = torch.ones(1, 1, dtype=torch.int64)
    for name, text in (("llama", "a static cache has no tensors yet"),
                       ("mistral", "a static cache has a layer of class StaticSlidingWindowLayer")):
        model = model_of(name, torch.float32)
        cache = transformers.StaticCache(config=model.config, max_cache_len=16)
        with pytest.raises(fact.FactError, match=text):
            export(model, (token,), kwargs={"past_key_values": cache})


@pytest.mark.full
@torch.no_grad()
def test_a_static_cache_in_buffers():
    if "aten.index_copy" not in _supported_ops():
        pytest.skip("refused: torch.aten.index_copy")
    from transformers.integrations.executorch import TorchExportableModuleWithStaticCache

    model = model_of("llama", torch.float32)
    model.generation_config = transformers.GenerationConfig(
        use_cache=True, cache_implementation="static",
        cache_config={"batch_size": 1, "max_cache_len": 16, "device": "cpu"})

    def step(module, token, position):
        kwargs = {"input_ids": torch.tensor([[token]]), "cache_position": torch.tensor([position])}
        return kwargs if module is None else module(**kwargs)

    compiled = fact.compile(TorchExportableModuleWithStaticCache(model), (), step(None, 5, 0),
                            target="host", candidates=1)
    eager = TorchExportableModuleWithStaticCache(model)
    for position, token in enumerate((5, 7, 11)):
        assert torch.allclose(step(compiled, token, position), step(eager, token, position),
                              atol=1e-5)


@pytest.mark.full
@pytest.mark.parametrize("name, call", [("roberta", "ids"), ("llama", "ids"), ("opt", "mask")])
@torch.no_grad()
def test_torch_compile(name, call):
    model = model_of(name, torch.float32)
    args, kwargs = arguments(model, name, call)
    torch._dynamo.reset()
    fast = torch.compile(model, backend="fact", options={"target": "host", "candidates": 1})
    for ours, eager in zip(tensors_of(fast(*args, **kwargs)), tensors_of(model(*args, **kwargs)),
                           strict=True):
        assert torch.allclose(ours, eager, atol=1e-4)


def test_random_weights():
    """Another machine draws the same numbers from a name."""
    weight = RandomWeight("layer.weight", 1.0, 0.5)
    assert weight.draw((1, 3), torch.float64).tolist() == [
        pytest.approx([1.5305991050116785, 1.2294355255311673, 1.0191701879038257])]


def test_packed_models(tmp_path, monkeypatch):
    """test/models/run.py, both of its steps on this machine."""
    def call(*words):
        monkeypatch.setattr(sys, "argv", ["run.py", *map(str, words)])
        return run.main()

    folder = tmp_path / "packed"
    assert call("pack", folder, "--target", "host", "--precision", "fp32", "--names", "^vit") == 0
    assert call("run", folder) == 0
    (case,) = json.loads((folder / "report.json").read_text())["cases"]
    assert case["rules"]["attention"] == 1 and case["failure"] is None and len(case["errors"]) == 2
    bundle = folder / "vit_pixels_fp32"
    path = bundle / "tensors.safetensors"
    tensors = {name: tensor.clone() for name, tensor in read_safetensors(path).items()}
    tensors["result 0"][0, 0, 0] += 1e-3
    write_safetensors(path, tensors)
    failure = run.compare_library(bundle)["failure"]
    assert re.match(r"output 'last_hidden_state': norm .*; allowed is norm ", failure)
