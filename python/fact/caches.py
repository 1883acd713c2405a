# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Key-value caches of the transformers library, as arguments and results.

PyTorch takes a class that holds tensors as an argument or result of an exported module if it
is registered as a pytree node. transformers registers `DynamicCache` on demand only, and what
it registers builds a cache by updates, which become ops of the program. These do not: a cache
is its tensors, and everything else about it (the kinds of its layers, how many tokens they
have seen) is compared at each call, as the structure of the arguments is. The tensors of a
`StaticCache` change in place, and its length is one of them, so one library computes all steps.
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import _disable_current_modes

from .errors import FactError


def register_caches() -> None:
    """Registers the caches of transformers, if it is loaded."""
    if "transformers.cache_utils" in sys.modules:
        _register_once(sys.modules["transformers.cache_utils"])


@functools.cache
def _register_once(library) -> None:
    if hasattr(library, "DynamicCache") and hasattr(library, "DynamicLayer"):
        _register(library.DynamicCache, _flatten_cache,
                  functools.partial(_unflatten_cache, library))
    if hasattr(library, "StaticCache") and hasattr(library, "StaticLayer"):
        _register(library.StaticCache, _flatten_static, functools.partial(_unflatten_static, library))
    if hasattr(library, "EncoderDecoderCache"):
        _register(library.EncoderDecoderCache,
                  lambda cache: ([cache.self_attention_cache, cache.cross_attention_cache], ""),
                  functools.partial(_unflatten_pair, library))


def _register(cls: type, flatten: Callable, unflatten: Callable) -> None:
    def flatten_with_keys(cache):
        leaves, context = flatten(cache)
        return [(pytree.SequenceKey(i), leaf) for i, leaf in enumerate(leaves)], context

    try:
        pytree.register_pytree_node(
            cls, flatten, unflatten, flatten_with_keys_fn=flatten_with_keys,
            serialized_type_name=f"{cls.__module__}.{cls.__name__}")
    except ValueError:
        # The user has registered the class, with transformers' own function for example.
        pass


def _flatten_cache(cache) -> tuple[list[torch.Tensor], str]:
    """The tensors, and a JSON list that describes each layer: JSON, so that it is equal after a
    library was saved and loaded."""
    leaves, layers = [], []
    for layer in cache.layers:
        kind = type(layer).__name__
        if kind not in ("DynamicLayer", "DynamicSlidingWindowLayer"):
            raise FactError(f"a cache has a layer of class {kind}; FACT knows DynamicLayer and "
                            "DynamicSlidingWindowLayer: pass use_cache=False, or use "
                            "torch.compile(backend=\"fact\")")
        entry: dict[str, Any] = {"filled": layer.keys is not None}
        if kind == "DynamicSlidingWindowLayer":
            entry |= {"window": layer.sliding_window, "seen": layer.cumulative_length}
        if entry["filled"]:
            leaves += [layer.keys, layer.values]
        layers.append(entry)
    return leaves, json.dumps(layers)


def _unflatten_cache(library, leaves, context: str):
    cache, leaves = library.DynamicCache(), iter(leaves)
    for entry in json.loads(context):
        # A layer may make a tensor of its window, which is no part of the program.
        with _disable_current_modes():
            layer = (library.DynamicSlidingWindowLayer(entry["window"]) if "window" in entry
                     else library.DynamicLayer())
        if "seen" in entry:
            layer.cumulative_length = entry["seen"]
        if entry["filled"]:
            layer.keys, layer.values = next(leaves), next(leaves)
            # While PyTorch compares structures, leaves are no tensors.
            if isinstance(layer.keys, torch.Tensor):
                layer.dtype, layer.device = layer.keys.dtype, layer.keys.device
            layer.is_initialized = True
        cache.layers.append(layer)
    return cache


def _flatten_static(cache) -> tuple[list[torch.Tensor], str]:
    leaves = []
    for layer in cache.layers:
        kind = type(layer).__name__
        if kind != "StaticLayer":
            # Others count tokens in Python too, and a call of a library does not change that.
            raise FactError(f"a static cache has a layer of class {kind}; FACT knows StaticLayer: "
                            "pass a DynamicCache, or use torch.compile(backend=\"fact\")")
        if not layer.is_initialized:
            raise FactError("a static cache has no tensors yet: call its early_initialization, or "
                            "the model in eager with it first")
        leaves += [layer.keys, layer.values, layer.cumulative_length]
    return leaves, json.dumps([layer.max_cache_len for layer in cache.layers])


def _unflatten_static(library, leaves, context: str):
    # Its constructor wants the model's configuration.
    cache, leaves = library.StaticCache.__new__(library.StaticCache), iter(leaves)
    layers = []
    for length in json.loads(context):
        with _disable_current_modes():
            layer = library.StaticLayer(length)
        layer.keys, layer.values, layer.cumulative_length = next(leaves), next(leaves), next(leaves)
        if isinstance(layer.keys, torch.Tensor):
            layer.dtype, layer.device = layer.keys.dtype, layer.keys.device
            layer.batch_size, layer.num_heads, _, layer.k_head_dim = layer.keys.shape
            layer.v_head_dim = layer.values.shape[-1]
        layer.is_initialized = True
        layers.append(layer)
    library.Cache.__init__(cache, layers=layers)
    return cache


def _unflatten_pair(library, caches, context: str):
    # Its constructor reads sizes, which leaves that are no tensors do not have.
    pair = library.EncoderDecoderCache.__new__(library.EncoderDecoderCache)
    pair.self_attention_cache, pair.cross_attention_cache = caches
    pair.is_updated = {index: layer.is_initialized
                       for index, layer in enumerate(getattr(caches[1], "layers", ()))}
    return pair
