# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random graphs from a seed.

Each step proposes an op on random earlier values and computes it in fp64. What is not
finite, leaves the range of 16-bit types, or is too large is not taken, so that a
difference between the library and PyTorch means something.

Graphs are of three kinds, by their seed: small ones, which find most mistakes; some with
extents around the sizes of vectors, tiles and panels, for loops that end early; small ones
whose inputs hold NaN, infinities, zeros of both signs and denormals. Every fourth is of
convolutions and pools (`images.py`).
"""

from __future__ import annotations

import math
import random

import torch

from .graph import Graph, Leaf, Node, double, evaluate_node, leaf_value
from .idioms import any_idiom

# Of a value, in graphs with small extents and with large ones.
ELEMENTS_LIMIT, LARGE_ELEMENTS_LIMIT = 600, 40_000
EXTENTS = [1, 2, 3, 4, 5, 7, 8, 12]
LARGE_EXTENTS = [1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 47, 63, 64, 65, 95, 96, 97, 127, 128, 129,
                 160, 192, 193, 256, 257]
PLANTED = [(math.nan, -0.0, 0.0), (math.nan, 1e-40, -0.0), (math.inf, -math.inf),
           (math.inf, -math.inf, math.nan, -0.0)]
LARGEST, SMALLEST = 60.0, 1e-2

UNARY = [
    "-{0}", "{0}.abs()", "torch.tanh({0})", "torch.sigmoid({0})", "torch.relu({0})",
    "F.gelu({0})", "F.gelu({0}, approximate='tanh')", "F.silu({0})", "F.softplus({0})",
    "torch.erf({0})", "torch.sin({0})", "torch.cos({0})", "torch.exp({0}.clamp(max=2.0))",
    "torch.sqrt({0}.abs() + 0.1)", "torch.rsqrt({0}.abs() + 0.25)", "{0}.clamp(-0.5, 0.75)",
    "{0} * 0.375 + 1.5", "2.0 - {0}", "{0}.square()", "1.0 / ({0}.abs() + 0.5)",
    "F.leaky_relu({0}, 0.1)", "F.hardswish({0})", "F.mish({0})", "torch.log({0}.abs() + 0.5)",
    "{0} * 1.5",
]
BINARY = [
    "{0} + {1}", "{0} - {1}", "{0} * {1}", "{0} / ({1}.abs() + 0.5)", "torch.maximum({0}, {1})",
    "torch.minimum({0}, {1})", "torch.where({0} > {1}, {0}, {1})",
    "torch.add({0}, {1}, alpha=0.5)",
]
INTEGER = ["{0} + {1}", "{0} - {1}", "{0} * {1}", "torch.maximum({0}, {1})",
           "torch.minimum({0}, {1})"]
COMPARISONS = ["{0} > {1}", "{0} <= {1}", "{0} == {1}"]
FLOATS = [torch.float32, torch.bfloat16, torch.float16]


class Generator:
    def __init__(self, seed: int, base: torch.dtype | None = None):
        """`base` is the type of floating-point inputs; any by default."""
        self.random = random.Random(seed)
        self.base = base
        self.seed = seed
        kind = self.random.choices(["small", "large", "planted"], weights=[2, 1, 1])[0]
        self.extents = LARGE_EXTENTS if kind == "large" else EXTENTS
        self.limit = LARGE_ELEMENTS_LIMIT if kind == "large" else ELEMENTS_LIMIT
        self.planted = self.random.choice(PLANTED) if kind == "planted" else ()
        self.leaves: list[Leaf] = []
        self.leaf_values: list[torch.Tensor] = []
        # Nodes refer to values by object until the graph is finished, because leaves may
        # be added at any time.
        self.nodes: list[tuple[str, list[object], object]] = []
        # Token, value in fp64, type in the program, whether it is bit for bit an input.
        self.values: list[tuple[object, torch.Tensor, torch.dtype, bool]] = []

    def make(self) -> Graph:
        r = self.random
        base = self.base or r.choices(FLOATS, weights=[5, 3, 3])[0]
        for _ in range(r.randint(1, 2)):
            self.add_leaf(base, self.shape())
        wanted, attempts = r.randint(2, 9), 0
        steps = self.steps()
        while len(self.nodes) < wanted and attempts < 200:
            attempts += 1
            r.choices(list(steps), weights=list(steps.values()))[0]()
        return self.finish()

    def steps(self):
        """What a step may be, with weights."""
        return {self.unary: 6, self.binary: 6, self.view: 7, self.row: 3, self.reduction: 3,
                self.product: 4, self.concatenation: 2, self.broadcast: 3, self.cast: 1.5,
                self.choice: 1.5, self.integer: 1, self.idiom: 2}

    def finish(self) -> Graph:
        tokens = [token for token, *_ in self.values]
        leaf_tokens = [token for token in tokens if isinstance(token, LeafToken)]
        numbers = {token: index for index, token in enumerate(leaf_tokens)}
        for _, _, token in self.nodes:
            numbers[token] = len(numbers)
        nodes = tuple(Node(text, tuple(numbers[o] for o in operands))
                      for text, operands, _ in self.nodes)
        used = {operand for node in nodes for operand in node.operands}
        outputs = tuple(n for n in range(len(self.leaves), len(self.leaves) + len(nodes))
                        if n not in used)
        return Graph(self.seed, tuple(self.leaves), nodes, outputs, self.planted)

    # Values.

    def add_leaf(self, dtype, shape, weight=False, scale=1.0):
        leaf = Leaf(dtype, tuple(shape), weight, scale)
        value = leaf_value(self.seed, len(self.leaves), leaf)
        self.leaves.append(leaf)
        entry = (LeafToken(), double(value), dtype, True)
        self.values.append(entry)
        return entry

    def add(self, text, operands, moves=False) -> bool:
        """Takes the node if what it computes is worth comparing."""
        node = Node(text, tuple(range(len(operands))))
        try:
            exact = evaluate_node(node, [value for _, value, *_ in operands], exact=True)
            meta = [torch.empty(value.shape, dtype=dtype, device="meta")
                    for _, value, dtype, _ in operands]
            dtype = evaluate_node(node, meta).dtype
        except (RuntimeError, IndexError, TypeError):
            return False
        if not 1 <= exact.numel() <= self.limit or exact.dim() > 5 or not self.in_range(exact):
            return False
        token = object()
        self.nodes.append((text, [operand[0] for operand in operands], token))
        self.values.append((token, exact, dtype, moves and all(o[3] for o in operands)))
        return True

    @staticmethod
    def in_range(value) -> bool:
        if not value.is_floating_point():
            return value.dtype == torch.bool or bool(value.abs().max() < 1000)
        largest = float(value.abs().max())
        return bool(torch.isfinite(value).all()) and SMALLEST < largest < LARGEST

    def shape(self) -> list[int]:
        while True:
            rank = self.random.choices([1, 2, 3, 4], weights=[1, 4, 4, 2])[0]
            shape = [self.random.choice(self.extents) for _ in range(rank)]
            if math.prod(shape) <= self.limit:
                return shape

    def pick(self, wanted=lambda value, dtype: True):
        """A random value, later ones rather than earlier ones."""
        found = [entry for entry in self.values if wanted(entry[1], entry[2])]
        if not found:
            return None
        return found[max(self.random.randrange(len(found)), self.random.randrange(len(found)))]

    def pick_float(self, least_rank=0):
        return self.pick(lambda value, dtype: dtype.is_floating_point
                         and value.dim() >= least_rank)

    # Ops.

    def unary(self):
        if x := self.pick_float():
            self.add(self.random.choice(UNARY), [x])

    def partner(self, x):
        """Another value that broadcasts with `x`, of the same type."""
        _, value, dtype, _ = x

        def fits(other, other_dtype):
            try:
                torch.broadcast_shapes(value.shape, other.shape)
            except RuntimeError:
                return False
            return other_dtype == dtype and other.numel() > 0

        y = self.pick(fits)
        if y is None or (y is x and self.random.random() < 0.8) or self.random.random() < 0.2:
            y = self.add_leaf(dtype, self.broadcast_shape(value.shape))
        return y

    def broadcast_shape(self, shape):
        kept = [1 if self.random.random() < 0.3 else size for size in shape]
        return kept[self.random.randint(0, len(kept)):] if self.random.random() < 0.2 else kept

    def binary(self):
        if x := self.pick_float():
            operands = [x, self.partner(x)]
            self.random.shuffle(operands)
            self.add(self.random.choice(BINARY), operands)

    def view(self):
        x = self.pick()
        shape, r = list(x[1].shape), self.random
        rank = len(shape)
        kind = r.choice(["reshape", "permute", "slice", "unsqueeze", "squeeze", "select",
                         "flatten", "transpose", "chunk"])
        if kind == "reshape":
            text = f".reshape({self.factor(x[1].numel())})"
        elif kind == "permute" and rank > 1:
            text = f".permute({r.sample(range(rank), rank)})"
        elif kind == "transpose" and rank > 1:
            text = ".transpose({}, {})".format(*r.sample(range(rank), 2))
            text += r.choice(["", ".contiguous()"])
        elif kind == "slice" and rank > 0:
            dim = r.randrange(rank)
            begin = r.randrange(shape[dim])
            end, step = r.randint(begin + 1, shape[dim]), r.choice([1, 1, 2])
            text = "[" + ":, " * dim + f"{begin}:{end}:{step}]"
        elif kind == "unsqueeze":
            text = f".unsqueeze({r.randint(0, rank)})"
        elif kind == "squeeze":
            text = ".squeeze()"
        elif kind == "select" and rank > 1:
            dim = r.randrange(rank)
            text = f".select({dim}, {r.randrange(shape[dim])})"
        elif kind == "flatten" and rank > 1:
            text = f".flatten({r.randrange(rank - 1)})"
        elif kind == "chunk" and rank > 0 and shape[-1] > 1:
            text = f".chunk(2, dim=-1)[{r.randrange(2)}]"
        else:
            return
        self.add("{0}" + text, [x], moves=True)

    def factor(self, count):
        """Sizes whose product is `count`."""
        sizes = []
        for _ in range(self.random.randint(0, 3)):
            divisors = [d for d in range(1, count + 1) if count % d == 0]
            sizes.append(self.random.choice(divisors))
            count //= sizes[-1]
        sizes.append(count)
        self.random.shuffle(sizes)
        return sizes

    def row(self):
        if not (x := self.pick_float(1)):
            return
        r, width = self.random, x[1].shape[-1]
        kind = r.choice(["softmax", "log_softmax", "norm", "affine", "rms"])
        if kind in ("softmax", "log_softmax"):
            self.add(f"F.{kind}({{0}}, dim={r.choice([-1, -1, r.randrange(x[1].dim())])})", [x])
        elif width < 2:
            return
        elif kind == "norm":
            self.add(f"F.layer_norm({{0}}, [{width}], eps=1e-2)", [x])
        elif kind == "affine":
            scale, shift = (self.add_leaf(x[2], [width], weight=True) for _ in range(2))
            self.add(f"F.layer_norm({{0}}, [{width}], {{1}}, {{2}}, 1e-2)", [x, scale, shift])
        else:
            self.add("{0} * torch.rsqrt({0}.pow(2).mean(-1, keepdim=True) + 0.01)", [x])

    def reduction(self):
        if not (x := self.pick_float(1)):
            return
        r, rank = self.random, x[1].dim()
        dims = sorted(r.sample(range(rank), r.randint(1, min(2, rank))))
        kind = r.choice(["sum", "mean", "amax", "amin", "var"])
        more = ", correction=0" if kind == "var" else ""
        self.add(f"{{0}}.{kind}(dim={dims}, keepdim={r.random() < 0.5}{more})", [x])

    def product(self):
        if not (x := self.pick_float(2)):
            return
        r, k, dtype = self.random, x[1].shape[-1], x[2]
        columns = r.choice([1, 3, 4, 8, 10, 16] if self.extents is EXTENTS else self.extents)
        kind = r.choice(["linear", "biased", "matmul", "scores", "batched"])
        if kind in ("linear", "biased"):
            w = self.add_leaf(dtype, [columns, k], weight=True, scale=k ** -0.5)
            if kind == "linear":
                self.add("F.linear({0}, {1})", [x, w])
            else:
                self.add("F.linear({0}, {1}, {2})",
                         [x, w, self.add_leaf(dtype, [columns], weight=True)])
        elif kind == "matmul":
            self.add("{0} @ {1}", [x, self.add_leaf(dtype, [k, columns], scale=k ** -0.5)])
        elif kind == "batched":
            shape = [*x[1].shape[:-2], k, columns]
            self.add("{0} @ {1}", [x, self.add_leaf(dtype, shape, scale=k ** -0.5)])
        else:
            y = self.pick(lambda value, other: other == dtype and value.dim() >= 2
                          and value.shape[-1] == k and value.shape[:-2] == x[1].shape[:-2])
            self.add(f"({{0}} @ {{1}}.transpose(-2, -1)) * {k ** -0.5:.4f}", [x, y])

    def concatenation(self):
        if not (x := self.pick(lambda value, dtype: value.dim() >= 1)):
            return
        dim = self.random.randrange(x[1].dim())

        def without(shape):
            return [size for index, size in enumerate(shape) if index != dim]

        y = self.pick(lambda value, dtype: dtype == x[2] and value.dim() == x[1].dim()
                      and without(value.shape) == without(x[1].shape))
        self.add(f"torch.cat([{{0}}, {{1}}], dim={dim})", [x, y], moves=True)

    def broadcast(self):
        x, r = self.pick(), self.random
        shape = list(x[1].shape)
        wide = [r.choice([2, 3, 5]) if size == 1 else size for size in shape]
        if r.random() < 0.4:
            wide.insert(0, r.choice([2, 3]))
        if wide != shape:
            self.add(f"{{0}}.expand({wide})", [x], moves=True)
        elif shape:
            dim = r.randrange(len(shape))
            self.add(f"{{0}}.repeat_interleave(2, dim={dim})", [x], moves=True)

    def cast(self):
        x = self.pick()
        dtype = self.random.choice([d for d in FLOATS if d != x[2]])
        self.add(f"cast({{0}}, {dtype})", [x])

    def choice(self):
        """A condition on inputs as they are, which rounding cannot tip."""
        x = self.pick_float()
        same = [entry for entry in self.values if entry[3] and entry[2].is_floating_point]
        if not x or not same:
            return
        a = self.random.choice(same)
        if not self.add(self.random.choice(["{0} > 0.25", "{0} <= -0.1", "~({0} > 0)"]), [a],
                        moves=True):
            return
        condition = self.values[-1]
        try:
            torch.broadcast_shapes(condition[1].shape, x[1].shape)
        except RuntimeError:
            condition = self.add_leaf(torch.bool, self.broadcast_shape(x[1].shape))
        if self.random.random() < 0.5:
            self.add("{0}.masked_fill({1}, -1.5)", [x, condition])
        else:
            self.add("torch.where({1}, {0}, {2})", [x, condition, self.partner(x)])

    def idiom(self):
        any_idiom(self)

    def integer(self):
        x = self.pick(lambda value, dtype: dtype == torch.int64)
        if x is None:
            x = self.add_leaf(torch.int64, self.shape())
        self.add(self.random.choice(INTEGER), [x, self.partner(x)])
        if self.random.random() < 0.5:
            self.add(f"cast({{0}}, {self.random.choice(FLOATS)})", [self.values[-1]])


class LeafToken:
    """Stands for a leaf until values are numbered."""
