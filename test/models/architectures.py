# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of the transformers library, tiny and with random weights, called as people call them.

Each is called with token ids (or pixels) alone and with a padding mask. Those that generate text
are also called for one more token, with the cache that they made themselves (`decode`) and with
one of fixed size that they change in place (`static`).
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence
from typing import Any

import torch

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}
VOCABULARY, BATCH, TOKENS, CACHE_TOKENS = 96, 2, 12, 16

# Sizes: width, layers, heads, inner width.
BERT = dict(hidden_size=64, num_hidden_layers=1, num_attention_heads=4, intermediate_size=128,
            max_position_embeddings=64)
LLAMA = BERT | dict(num_key_value_heads=2)
BART = dict(d_model=64, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4,
            decoder_attention_heads=4, encoder_ffn_dim=128, decoder_ffn_dim=128,
            max_position_embeddings=64)
T5 = dict(d_model=64, d_kv=16, d_ff=128, num_layers=1, num_heads=4)
VISION = dict(hidden_size=64, num_hidden_layers=1, num_attention_heads=4, intermediate_size=128,
              image_size=32, patch_size=16)

# The name of a model's class, and its sizes.
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
    "t5_encoder": ("T5EncoderModel", T5),
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
    "mixtral": ("MixtralForCausalLM", LLAMA | dict(num_local_experts=4)),
}
TRANSLATORS = {
    "t5": ("T5ForConditionalGeneration", T5),
    "bart": ("BartForConditionalGeneration", BART),
}
IMAGES = {
    "vit": ("ViTModel", VISION),
    "dinov2": ("Dinov2Model", VISION),
}
ARCHITECTURES = ENCODERS | GENERATORS | TRANSLATORS | IMAGES
# A static layer with a window counts tokens in Python, which a compiled step cannot change; OPT
# makes a tensor of the cache's length.
NOT_STATIC = ("mistral", "gemma2", "opt")
CALLS = [*[(name, call) for name in (*ENCODERS, *GENERATORS, *TRANSLATORS)
           for call in ("ids", "mask")],
         *[(name, "decode") for name in (*GENERATORS, *TRANSLATORS)],
         *[(name, "static") for name in GENERATORS if name not in NOT_STATIC],
         *[(name, "pixels") for name in IMAGES]]


@dataclasses.dataclass(frozen=True)
class RandomWeight:
    """A parameter as numbers that any machine draws alike, so that they need not be stored."""

    name: str
    center: float
    spread: float

    @staticmethod
    def like(name: str, parameter: torch.Tensor) -> RandomWeight:
        """Weights as large as those of a trained model: with those that a new model has, scores
        are nearly 0, and wrong attention goes unnoticed. Scales of norms remain near 1."""
        terms = parameter.numel() // parameter.shape[0]
        spread = terms**-0.5 if parameter.dim() > 1 else 0.1
        return RandomWeight(name, float(round(float(parameter.float().mean()))), spread)

    def draw(self, shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
        data = random.Random(self.name).randbytes(4 * torch.Size(shape).numel())
        noise = torch.frombuffer(bytearray(data), dtype=torch.int32).double() / 2**31
        return (self.center + 3**0.5 * self.spread * noise).reshape(shape).to(dtype)


@torch.no_grad()
def draw_weights(model: torch.nn.Module, dtype: torch.dtype) -> dict[str, RandomWeight]:
    """Draws a model's parameters; returns them by all of their names."""
    weights = {id(parameter): RandomWeight.like(key, parameter)
               for key, parameter in model.named_parameters()}
    for parameter in model.parameters():
        parameter.data = weights[id(parameter)].draw(parameter.shape, dtype)
    return {key: weights[id(parameter)]
            for key, parameter in model.named_parameters(remove_duplicate=False)}


def build(name: str, dtype: torch.dtype) -> tuple[torch.nn.Module, dict[str, RandomWeight]]:
    """A model, and its parameters by all of their names. Raises AttributeError if the
    installed transformers has no such model."""
    import transformers

    transformers.logging.set_verbosity_error()
    class_name, sizes = ARCHITECTURES[name]
    model_class = getattr(transformers, class_name)
    if name not in IMAGES:
        sizes = sizes | dict(vocab_size=VOCABULARY)
    torch.manual_seed(0)
    model = model_class(model_class.config_class(**sizes)).to(dtype).eval()
    return model, draw_weights(model, dtype)


@torch.no_grad()
def arguments(model: torch.nn.Module, name: str, call: str) -> tuple[tuple, dict[str, Any]]:
    """The positional and keyword arguments of a call."""
    generator = torch.Generator().manual_seed(1)
    if call == "pixels":
        return (torch.randn(BATCH, 3, 32, 32, generator=generator).to(model.dtype),), {}
    ids = torch.randint(3, VOCABULARY, (BATCH, TOKENS), generator=generator)
    ids[:, -1] = VOCABULARY - 1
    if call in ("decode", "static"):
        return _next_token(model, name, call, ids)
    kwargs = {"decoder_input_ids": ids[:, :5]} if name in TRANSLATORS else {}
    if call == "mask":
        mask = torch.ones_like(ids)
        # Generators are padded at the left.
        mask[0, slice(0, 4) if name in GENERATORS else slice(-4, None)] = 0
        kwargs["attention_mask"] = mask
    return (ids,), kwargs


def _next_token(model, name: str, call: str, ids: torch.Tensor) -> tuple[tuple, dict[str, Any]]:
    if name in TRANSLATORS:
        from transformers.modeling_outputs import BaseModelOutput

        first = model(ids, decoder_input_ids=ids[:, :5])
        encoded = BaseModelOutput(last_hidden_state=first.encoder_last_hidden_state)
        return (), {"decoder_input_ids": ids[:, 5:6], "encoder_outputs": encoded,
                    "past_key_values": first.past_key_values}
    if call == "decode":
        return (ids[:, :1],), {"past_key_values": model(ids).past_key_values}
    from transformers import StaticCache

    cache = StaticCache(config=model.config, max_cache_len=CACHE_TOKENS)
    model(ids, past_key_values=cache)
    return (ids[:, :1],), {"past_key_values": cache}
