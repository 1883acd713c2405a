# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs of convolutions, pools, norms and what stands between them."""

from __future__ import annotations

import math

from .generator import ELEMENTS_LIMIT, Generator


class ImageGenerator(Generator):
    """Values are [batch, channels, ...] until a view says otherwise."""

    def __init__(self, seed: int, base=None):
        super().__init__(seed, base)
        self.limit = max(self.limit, 3 * ELEMENTS_LIMIT)

    def shape(self):
        r = self.random
        dims = r.choices([1, 2, 3], weights=[2, 6, 1])[0]
        sizes = [r.choice([1, 3, 4, 5, 6, 7, 9]) for _ in range(dims)]
        return [r.choice([1, 2, 2]), r.choice([1, 2, 3, 4, 6, 8, 12]), *sizes]

    def steps(self):
        return {self.convolution: 7, self.transposed: 2, self.pool: 4, self.batch_norm: 3,
                self.group_norm: 1, self.resize: 1, self.pad: 1, self.pooled_scale: 1,
                self.unary: 5, self.binary: 5, self.view: 2, self.row: 1, self.reduction: 2,
                self.concatenation: 2, self.product: 1, self.cast: 0.5}

    def pick_image(self):
        return self.pick(lambda value, dtype: dtype.is_floating_point and 3 <= value.dim() <= 5)

    def filter_sizes(self, count):
        return [self.random.choice([1, 2, 3, 3, 3, 5]) for _ in range(count)]

    def filters(self):
        """Of a group."""
        return self.random.choice([1, 1, 2, 3, 5])

    def convolution(self):
        if not (x := self.pick_image()):
            return
        r, channels, dims = self.random, x[1].shape[1], x[1].dim() - 2
        divisors = [d for d in range(1, channels + 1) if channels % d == 0]
        groups = r.choice([1, 1, channels, r.choice(divisors)])
        filters, kernel = groups * self.filters(), self.filter_sizes(dims)
        scale = (channels // groups * math.prod(kernel)) ** -0.5
        operands = [x, self.add_leaf(x[2], [filters, channels // groups, *kernel], True, scale)]
        if r.random() < 0.5:
            operands.append(self.add_leaf(x[2], [filters], weight=True))
        places = ", ".join(f"{{{i}}}" for i in range(len(operands)))
        if r.random() < 0.15:
            more = "padding='same'"
        else:
            more = f"stride={r.choice([1, 1, 2, 3])}, padding={r.choice([0, 1, 1, 2])}"
        self.add(f"F.conv{dims}d({places}, {more}, dilation={r.choice([1, 1, 1, 2])}, "
                 f"groups={groups})", operands)

    def transposed(self):
        if not (x := self.pick_image()):
            return
        r, channels, dims = self.random, x[1].shape[1], x[1].dim() - 2
        groups = r.choice([1, 1, r.choice([d for d in range(1, channels + 1) if channels % d == 0])])
        kernel, stride = self.filter_sizes(dims), r.choice([1, 2, 2, 3])
        w = self.add_leaf(x[2], [channels, r.choice([1, 2, 3]), *kernel], True,
                          (channels // groups * math.prod(kernel)) ** -0.5)
        self.add(f"F.conv_transpose{dims}d({{0}}, {{1}}, stride={stride}, "
                 f"padding={r.choice([0, 1])}, output_padding={r.randrange(stride)}, "
                 f"groups={groups}, dilation={r.choice([1, 1, 2])})", [x, w])

    def pool(self):
        if not (x := self.pick_image()):
            return
        r, dims = self.random, x[1].dim() - 2
        kernel = r.choice([2, 3, 3, 5])
        text = r.choice([
            f"F.max_pool{dims}d({{0}}, {kernel}, {r.choice([1, 2])}, {r.randint(0, kernel // 2)}, "
            f"ceil_mode={r.random() < 0.3})",
            f"F.avg_pool{dims}d({{0}}, {kernel}, {r.choice([1, 2])}, {r.randint(0, kernel // 2)}, "
            f"count_include_pad={r.random() < 0.5})",
            f"F.adaptive_avg_pool{dims}d({{0}}, {r.choice([1, 1, 2, 3])})",
            f"F.max_pool{dims}d({{0}}, 2)"])
        self.add(text, [x])

    def batch_norm(self):
        if x := self.pick_image():
            channels = x[1].shape[1]
            mean, scale, shift = (self.add_leaf(x[2], [channels], weight=True) for _ in range(3))
            self.add("F.batch_norm({0}, {1}, {2}.square() + 0.5, {2}, {3})",
                     [x, mean, scale, shift])

    def group_norm(self):
        if x := self.pick_image():
            channels = x[1].shape[1]
            groups = self.random.choice([d for d in range(1, channels + 1) if channels % d == 0])
            if x[1][0].numel() // groups > 1:
                self.add(f"F.group_norm({{0}}, {groups}, eps=1e-2)", [x])

    def resize(self):
        if x := self.pick_image():
            linear = {3: "linear", 4: "bilinear", 5: "trilinear"}[x[1].dim()]
            # PyTorch's kernel and its written-out form disagree about infinities.
            mode = self.random.choice(["nearest", "nearest" if self.planted else linear])
            self.add(f"F.interpolate({{0}}, scale_factor=2, mode='{mode}')", [x])

    def pad(self):
        if x := self.pick_image():
            r = self.random
            amounts = [r.choice([0, 1, 2]) for _ in range(2 * (x[1].dim() - 2))]
            mode = r.choice(["constant", "reflect", "replicate"])
            self.add(f"F.pad({{0}}, {amounts}, mode='{mode}')", [x], moves=True)

    def pooled_scale(self):
        """Squeeze and excitation."""
        if x := self.pick_image():
            dims = list(range(2, x[1].dim()))
            self.add(f"{{0}} * torch.sigmoid({{0}}.mean({dims}, keepdim=True))", [x])
