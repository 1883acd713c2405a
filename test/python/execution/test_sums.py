# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Long sums lose little: no kernel adds thousands of terms one after the other."""

import torch
from torch import nn
from torch.nn import functional as F

import fact
from fact import verify

# How far from fp64 each result may be (its norm), in roundings of fp32. One chain of additions
# over all terms is two to six times as far. Products have sums that grow like the root of their
# length, the others' terms are positive.
LIMITS = {
    "product": 7.0, "product of a row": 6.0, "gated": 7.0, "attention": 9.0,
    "rows of a product": 1.5, "columns of a product": 2.0,
    "rows": 1.5, "columns": 1.5, "softmax": 3.0, "norm": 2.0,
}


class Sums(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Parameter(torch.randn(96, 4096) / 64)
        self.gate = nn.Parameter(torch.randn(24, 4096) / 64)
        self.up = nn.Parameter(torch.randn(2048, 64) / 8)

    def forward(self, x, row, tall, query, key, value):
        return {
            "product": F.linear(x, self.down),
            "product of a row": F.linear(x[:1] + 1, self.down),
            "gated": F.linear(x, self.gate) * F.linear(x, self.down[:24]),
            "attention": F.scaled_dot_product_attention(query, key, value),
            "rows of a product": F.linear(tall[:512], self.up).abs().sum(-1),
            "columns of a product": F.linear(tall, self.up[:48]).abs().sum(0),
            "rows": row.abs().sum(-1),
            "columns": tall.abs().sum(0),
            "softmax": torch.softmax(row, -1),
            "norm": F.layer_norm(row, (row.shape[-1],)),
        }


def test_long_sums_lose_little():
    torch.manual_seed(0)
    module = Sums().eval()
    inputs = [torch.randn(64, 4096), torch.randn(24, 16384), torch.randn(4096, 64),
              torch.randn(1, 2, 24, 32), torch.randn(1, 2, 2048, 32), torch.randn(1, 2, 2048, 32)]
    # Kernel by kernel it would be verified against references that take long.
    options = ["--tuner-argument=--untuned", "--tuner-argument=--no-check"]
    model = fact.compile(module, inputs, target="host", candidates=1, options=options, name="sums")
    found, exact = model(*inputs), verify.reference(module, inputs)
    unit = torch.finfo(torch.float32).eps / 2
    errors = {name: verify.compare(found[name], exact[name]).norm / unit for name in LIMITS}
    assert all(errors[name] <= limit for name, limit in LIMITS.items()), errors
