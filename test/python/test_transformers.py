# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of the transformers library, tiny and with random weights, called as people call them.

Each is called with token ids (or pixels) alone, with a padding mask, and, if it generates
text, for one more token with the cache that it made itself. `fact.compile` compares each
library with its module in fp64: it may be 1.5 times as far from it as eager, plus one
rounding. The long tests are all models; `pytest -rs --full` lists what is refused, and why.
"""

import os
import re

import pytest
import torch

import fact
from fact import toolchain
from fact.errors import CompilerError
from fact.export import _supported_ops

if not os.environ.get("FACT_REQUIRE_COMPILER"):
    pytest.importorskip("torch_mlir")
    if toolchain.find_tool("fact-compile") is None:
        pytest.skip("fact-compile is not built", allow_module_level=True)

transformers = pytest.importorskip("transformers", reason="transformers cannot be imported")
transformers.logging.set_verbosity_error()

VOCABULARY, BATCH, TOKENS = 96, 2, 12

# Names of a model's class and of its sizes: width, layers, heads, inner width.
BERT = dict(hidden_size=64, num_hidden_layers=1, num_attention_heads=4, intermediate_size=128,
            max_position_embeddings=64)
LLAMA = BERT | dict(num_key_value_heads=2)
BART = dict(d_model=64, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4,
            decoder_attention_heads=4, encoder_ffn_dim=128, decoder_ffn_dim=128,
            max_position_embeddings=64)
VISION = dict(hidden_size=64, num_hidden_layers=1, num_attention_heads=4, intermediate_size=128,
              image_size=32, patch_size=16)

ENCODERS = {
    "bert": ("BertModel", BERT),
    "roberta": ("RobertaModel", BERT),
    "camembert": ("CamembertModel", BERT),
    "xlm_roberta": ("XLMRobertaModel", BERT),
    "electra": ("ElectraModel", BERT | dict(embedding_size=64)),
    "albert": ("AlbertModel", BERT | dict(embedding_size=32)),
    "mpnet": ("MPNetModel", BERT),
    "deberta_v2": ("DebertaV2Model", BERT | dict(relative_attention=True,
                                                 pos_att_type=["p2c", "c2p"])),
    "distilbert": ("DistilBertModel", dict(dim=64, n_layers=1, n_heads=4, hidden_dim=128,
                                           max_position_embeddings=64)),
    "modernbert": ("ModernBertModel", BERT | dict(pad_token_id=0)),
    "clip_text": ("CLIPTextModel", BERT | dict(eos_token_id=VOCABULARY - 1)),
    "t5_encoder": ("T5EncoderModel", dict(d_model=64, d_kv=16, d_ff=128, num_layers=1,
                                          num_heads=4)),
}
GENERATORS = {
    "gpt2": ("GPT2LMHeadModel", dict(n_embd=64, n_layer=1, n_head=4, n_positions=64)),
    "gpt_neo": ("GPTNeoForCausalLM", dict(hidden_size=64, num_layers=1, num_heads=4,
                                          attention_types=[[["global"], 1]],
                                          max_position_embeddings=64)),
    "gpt_neox": ("GPTNeoXForCausalLM", BERT),
    "gptj": ("GPTJForCausalLM", dict(n_embd=64, n_layer=1, n_head=4, rotary_dim=8,
                                     n_positions=64)),
    "opt": ("OPTForCausalLM", dict(hidden_size=64, num_hidden_layers=1, num_attention_heads=4,
                                   ffn_dim=128, word_embed_proj_dim=64,
                                   max_position_embeddings=64)),
    "bloom": ("BloomForCausalLM", dict(hidden_size=64, n_layer=1, n_head=4)),
    "falcon": ("FalconForCausalLM", dict(hidden_size=64, num_hidden_layers=1,
                                         num_attention_heads=4)),
    "llama": ("LlamaForCausalLM", LLAMA),
    "mistral": ("MistralForCausalLM", LLAMA | dict(sliding_window=8)),
    "qwen2": ("Qwen2ForCausalLM", LLAMA),
    "qwen3": ("Qwen3ForCausalLM", LLAMA | dict(head_dim=16)),
    "gemma": ("GemmaForCausalLM", LLAMA | dict(head_dim=16)),
    "gemma2": ("Gemma2ForCausalLM", LLAMA | dict(head_dim=16, sliding_window=8)),
    "phi": ("PhiForCausalLM", LLAMA),
    "phi3": ("Phi3ForCausalLM", LLAMA | dict(pad_token_id=0)),
    "stablelm": ("StableLmForCausalLM", LLAMA),
    "olmo2": ("Olmo2ForCausalLM", LLAMA),
    "cohere": ("CohereForCausalLM", LLAMA),
}
TRANSLATORS = {
    "t5": ("T5ForConditionalGeneration", dict(d_model=64, d_kv=16, d_ff=128, num_layers=1,
                                              num_heads=4)),
    "bart": ("BartForConditionalGeneration", BART),
}
IMAGES = {
    "vit": ("ViTModel", VISION),
    "dinov2": ("Dinov2Model", VISION),
}
CALLS = [*[(name, call) for name in (*ENCODERS, *GENERATORS, *TRANSLATORS)
           for call in ("ids", "mask")],
         *[(name, "decode") for name in GENERATORS], *[(name, "pixels") for name in IMAGES]]
# Cheap, and one of each kind.
ALWAYS = [("bert", "mask"), ("gpt2", "decode"), ("llama", "decode")]


def model_of(name, dtype):
    class_name, sizes = (ENCODERS | GENERATORS | TRANSLATORS | IMAGES)[name]
    model_class = getattr(transformers, class_name, None)
    if model_class is None:
        pytest.skip(f"transformers {transformers.__version__} has no {class_name}")
    torch.manual_seed(0)
    if name not in IMAGES:
        sizes = sizes | dict(vocab_size=VOCABULARY)
    return model_class(model_class.config_class(**sizes)).to(dtype).eval()


@torch.no_grad()
def arguments_of(model, name, call):
    """The positional and keyword arguments of a call."""
    ids = torch.randint(3, VOCABULARY, (BATCH, TOKENS))
    ids[:, -1] = VOCABULARY - 1
    if call == "pixels":
        return (torch.randn(BATCH, 3, 32, 32).to(model.dtype),), {}
    kwargs = {"decoder_input_ids": ids[:, :5]} if name in TRANSLATORS else {}
    if call == "decode":
        return (ids[:, :1],), {"past_key_values": model(ids).past_key_values}
    if call == "mask":
        mask = torch.ones_like(ids)
        # Generators are padded at the left.
        mask[0, slice(0, 4) if name in GENERATORS else slice(-4, None)] = 0
        kwargs["attention_mask"] = mask
    return (ids,), kwargs


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
    for case in CALLS])
@torch.no_grad()
def test_model(name, call, dtype):
    model = model_of(name, {"fp32": torch.float32, "bf16": torch.bfloat16}[dtype])
    args, kwargs = arguments_of(model, name, call)
    compiled = compile_or_skip(model, args, kwargs)
    assert compiled.library.verified
    found = compiled(*args, **kwargs)
    # Eager changes the cache that it is given, so it comes last.
    expected = model(*args, **kwargs)
    assert type(found) is type(expected) and found.keys() == expected.keys()
    for ours, eager in zip(tensors_of(found), tensors_of(expected), strict=True):
        assert ours.shape == eager.shape and ours.dtype == eager.dtype
    if call == "decode":
        cache, grown = found.past_key_values, expected.past_key_values
        assert cache.get_seq_length() == grown.get_seq_length() == TOKENS + 1


@pytest.mark.full
@torch.no_grad()
def test_a_loaded_library_takes_a_cache(tmp_path):
    model = model_of("llama", torch.float32)
    args, kwargs = arguments_of(model, "llama", "decode")
    compiled = fact.compile(model, args, kwargs, target="host", candidates=1)
    loaded = fact.load(compiled.library.path, model)
    found, expected = loaded(*args, **kwargs), compiled(*args, **kwargs)
    assert torch.equal(found.logits, expected.logits)
    assert found.past_key_values.get_seq_length() == TOKENS + 1
    longer = arguments_of(model, "llama", "decode")[1]
    model(args[0], **longer)
    with pytest.raises(fact.FactError, match="has shape"):
        loaded(*args, **longer)


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
    args, kwargs = arguments_of(model, name, call)
    torch._dynamo.reset()
    fast = torch.compile(model, backend="fact", options={"target": "host", "candidates": 1})
    for ours, eager in zip(tensors_of(fast(*args, **kwargs)), tensors_of(model(*args, **kwargs)),
                           strict=True):
        assert torch.allclose(ours, eager, atol=1e-4)
