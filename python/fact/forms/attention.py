# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers that PyTorch has as one op, for inference."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from .table import aten, form


@form(aten._native_multi_head_attention.default)
def multi_head_attention(query, key, value, embed_dim, num_head, qkv_weight, qkv_bias, proj_weight,
                         proj_bias, mask=None, need_weights=True, average_attn_weights=True,
                         mask_type=None):
    if need_weights:
        raise NotImplementedError
    parts = zip((query, key, value), qkv_weight.chunk(3), qkv_bias.chunk(3))
    q, k, v = (F.linear(x, weight, bias).unflatten(-1, (num_head, -1)).transpose(1, 2)
               for x, weight, bias in parts)
    if mask is not None:
        # True where a key is hidden: [queries, keys], [batch, keys] or [batch, heads, ...].
        mask = ~mask.to(torch.bool)
        mask = mask[:, None, None, :] if mask_type == 1 else mask
    attended = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    result = F.linear(attended.transpose(1, 2).flatten(-2), proj_weight, proj_bias)
    return result, torch.empty_like(result)


@form(aten._transformer_encoder_layer_fwd.default)
def encoder_layer(src, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, use_gelu,
                  norm_first, eps, norm_weight_1, norm_bias_1, norm_weight_2, norm_bias_2,
                  ffn_weight_1, ffn_bias_1, ffn_weight_2, ffn_bias_2, mask=None, mask_type=None):
    def attend(x):
        return multi_head_attention(x, x, x, embed_dim, num_heads, qkv_weight, qkv_bias,
                                    proj_weight, proj_bias, mask, False, True, mask_type)[0]

    def feed_forward(x):
        hidden = F.linear(x, ffn_weight_1, ffn_bias_1)
        hidden = F.gelu(hidden) if use_gelu else F.relu(hidden)
        return F.linear(hidden, ffn_weight_2, ffn_bias_2)

    def first_norm(x):
        return F.layer_norm(x, (embed_dim,), norm_weight_1, norm_bias_1, eps)

    def second_norm(x):
        return F.layer_norm(x, (embed_dim,), norm_weight_2, norm_bias_2, eps)

    if norm_first:
        x = src + attend(first_norm(src))
        return x + feed_forward(second_norm(x))
    x = first_norm(src + attend(src))
    return second_norm(x + feed_forward(x))
