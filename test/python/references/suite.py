# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Regions that have every op at least once, with what PyTorch makes of them in fp64."""

import math

import torch
from torch.nn import functional as F

from .region import NAMES, Region, tensor, type_of

INFINITY, NAN = math.inf, math.nan
SPECIAL = [NAN, INFINITY, -INFINITY, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -1.5, -2.5, 2.0,
           3.0, -3.0, 1e-3, -1e-3, 7.25, -7.25, 30.0, -30.0, 60000.0, -60000.0, 6e-8, -6e-8,
           88.0, -88.0, -104.0]
FLOATS = [torch.float64, torch.float32, torch.bfloat16, torch.float16]


def generator(seed):
    return torch.Generator().manual_seed(seed)


def randn(*shape, dtype=torch.float32, seed=1, scale=1.0):
    return (torch.randn(*shape, generator=generator(seed), dtype=torch.float64) * scale).to(dtype)


def specials(dtype, shape=None, seed=1):
    """Numbers that functions treat apart among random ones."""
    values = torch.tensor(SPECIAL, dtype=torch.float64)
    if shape is None:
        return torch.cat([values, randn(35, dtype=torch.float64, seed=seed, scale=3)]).to(dtype)
    x = randn(*shape, dtype=torch.float64, seed=seed).flatten()
    places = torch.randperm(x.numel(), generator=generator(seed))[:x.numel() // 4]
    x[places] = values[torch.arange(len(places)) % len(values)]
    return x.reshape(shape).to(dtype)


def ops(pattern, names, operands, results):
    """A body with an op for each name, and its yields."""
    body, yields = [], []
    for i, name in enumerate(names):
        body.append(f"%v{i} = " + pattern.replace("OP", name) + f" : ({operands}) -> {results}")
        yields.append((f"%v{i}", results))
    return body, yields


#===------------------------------------------------------------------------===#
# Pointwise ops
#===------------------------------------------------------------------------===#

UNARY = {
    "fact.neg %a0": torch.neg,
    "fact.abs %a0": torch.abs,
    "fact.sign %a0": lambda x: torch.where(x.isnan(), 0.0, x.sign()),
    "fact.floor %a0": torch.floor,
    "fact.ceil %a0": torch.ceil,
    "fact.round %a0": torch.round,
    "fact.exp %a0": torch.exp,
    "fact.log %a0": torch.log,
    "fact.expm1 %a0": torch.expm1,
    "fact.log1p %a0": torch.log1p,
    "fact.sqrt %a0": torch.sqrt,
    "fact.rsqrt %a0": torch.rsqrt,
    "fact.reciprocal %a0": torch.reciprocal,
    "fact.sin %a0": torch.sin,
    "fact.cos %a0": torch.cos,
    "fact.erf %a0": torch.erf,
    "fact.tanh %a0": torch.tanh,
    "fact.sigmoid %a0": torch.sigmoid,
    "fact.relu %a0": torch.relu,
    "fact.silu %a0": F.silu,
    "fact.mish %a0": F.mish,
    # PyTorch leaves log(1 + exp(-x)) out above 20.
    "fact.softplus %a0": lambda x: torch.logaddexp(x, torch.zeros_like(x)),
    "fact.gelu %a0": F.gelu,
    "fact.gelu %a0 approximate tanh": lambda x: F.gelu(x, approximate="tanh"),
    "fact.clamp %a0 min -0.5 max 0.75": lambda x: x.clamp(-0.5, 0.75),
    "fact.clamp %a0 min -0.5": lambda x: x.clamp(min=-0.5),
    "fact.clamp %a0 max 0.75": lambda x: x.clamp(max=0.75),
    "fact.clamp %a0 min 0.75 max -0.5": lambda x: x.clamp(0.75, -0.5),
}

BINARY = {
    "fact.add": torch.add,
    "fact.sub": torch.sub,
    "fact.mul": torch.mul,
    "fact.div": torch.div,
    "fact.maximum": torch.maximum,
    "fact.minimum": torch.minimum,
    "fact.fmod": torch.fmod,
    "fact.pow": torch.pow,
}

COMPARISONS = {
    "fact.compare eq": torch.eq,
    "fact.compare ne": torch.ne,
    "fact.compare lt": torch.lt,
    "fact.compare le": torch.le,
    "fact.compare gt": torch.gt,
    "fact.compare ge": torch.ge,
}

INTEGER_UNARY = {
    "fact.neg %a0": torch.neg,
    "fact.abs %a0": torch.abs,
    "fact.sign %a0": torch.sign,
    "fact.relu %a0": torch.relu,
    "fact.floor %a0": lambda x: x,
    "fact.ceil %a0": lambda x: x,
    "fact.round %a0": lambda x: x,
}


def shift(x, count, left):
    bits = torch.iinfo(x.dtype).bits
    inside = (count >= 0) & (count < bits)
    safe = torch.where(inside, count, 0)
    if left:
        return torch.where(inside, x << safe, 0)
    return torch.where(inside, x >> safe, torch.where(x < 0, -1, 0))


def quotient(x, y):
    """0 by 0, and what wraps around does."""
    safe = torch.where((y == 0) | (y == -1), 1, y)
    return torch.where((y == 0) | (y == -1), x * y, torch.div(x, safe, rounding_mode="trunc"))


INTEGER_BINARY = {
    "fact.add": torch.add,
    "fact.sub": torch.sub,
    "fact.mul": torch.mul,
    "fact.div": quotient,
    "fact.maximum": torch.maximum,
    "fact.minimum": torch.minimum,
    "fact.fmod": lambda x, y: x - quotient(x, y) * y,
    "fact.and": torch.bitwise_and,
    "fact.or": torch.bitwise_or,
    "fact.xor": torch.bitwise_xor,
    "fact.shift_left": lambda x, y: shift(x, y, True),
    "fact.shift_right": lambda x, y: shift(x, y, False),
}


def integers(dtype, seed=1):
    limits = torch.iinfo(dtype)
    values = [limits.min, limits.max, -1, 1, 2, 3, -3, 7, -7, 8, 31, 63, 64, 100]
    x = torch.randint(-100, 100, (17,), generator=generator(seed))
    x = torch.cat([torch.tensor([v for v in values if limits.min <= v <= limits.max]), x]).to(dtype)
    return torch.cat([x, torch.zeros(1, dtype=dtype)])


def pointwise():
    for dtype in FLOATS:
        x = specials(dtype)
        body, yields = ops("OP", UNARY, type_of(x), type_of(x))
        yield Region(f"unary-{NAMES[dtype]}", [x], body, yields,
                     lambda x: [f(x) for f in UNARY.values()])
        # A column and a row broadcast.
        x, y = specials(dtype).reshape(-1, 1), specials(dtype, seed=2).reshape(1, -1)
        shape = (x.numel(), y.numel())
        types = f"{type_of(x)}, {type_of(y)}"
        body, yields = ops("OP %a0, %a1", BINARY, types, tensor(shape, NAMES[dtype]))
        yield Region(f"binary-{NAMES[dtype]}", [x, y], body, yields,
                     lambda x, y: [f(x, y) for f in BINARY.values()])
        body, yields = ops("OP %a0, %a1", COMPARISONS, types, tensor(shape, "i1"))
        yield Region(f"comparisons-{NAMES[dtype]}", [x, y], body, yields,
                     lambda x, y: [f(x, y) for f in COMPARISONS.values()])
    for dtype in (torch.int64, torch.int32, torch.int8):
        x, y = integers(dtype).reshape(-1, 1), integers(dtype, 2).reshape(1, -1)
        name, types = NAMES[dtype], f"{type_of(x)}, {type_of(y)}"
        shape = (x.numel(), y.numel())
        body, yields = ops("OP", INTEGER_UNARY, type_of(x), type_of(x))
        yield Region(f"unary-{name}", [x], body, yields,
                     lambda x: [f(x) for f in INTEGER_UNARY.values()])
        body, yields = ops("OP %a0, %a1", INTEGER_BINARY, types, tensor(shape, name))
        yield Region(f"binary-{name}", [x, y], body, yields,
                     lambda x, y: [f(x, y) for f in INTEGER_BINARY.values()])
        body, yields = ops("OP %a0, %a1", COMPARISONS, types, tensor(shape, "i1"))
        yield Region(f"comparisons-{name}", [x, y], body, yields,
                     lambda x, y: [f(x, y) for f in COMPARISONS.values()])
    x, y = torch.tensor([[False], [True]]), torch.tensor([[False, True]])
    boolean = {"fact.and": torch.logical_and, "fact.or": torch.logical_or,
               "fact.xor": torch.logical_xor, "fact.maximum": torch.logical_or,
               "fact.minimum": torch.logical_and}
    types = f"{type_of(x)}, {type_of(y)}"
    body, yields = ops("OP %a0, %a1", {**boolean, **COMPARISONS}, types, tensor((2, 2), "i1"))
    yield Region("booleans", [x, y], body, yields,
                 lambda x, y: [f(x, y) for f in {**boolean, **COMPARISONS}.values()])
    condition, x, y = torch.rand(5, 1, generator=generator(3)) > 0.5, specials(torch.float32), randn(1)
    yield Region("select", [condition, x, y],
                 [f"%0 = fact.select %a0, %a1, %a2 : ({type_of(condition)}, {type_of(x)}, {type_of(y)})"
                  f" -> {tensor((5, x.numel()), 'f32')}"], [("%0", tensor((5, x.numel()), "f32"))],
                 lambda c, x, y: [torch.where(c, x, y)])
    x = specials(torch.bfloat16)
    yield Region("wide-scalar", [x],
                 ["%0 = fact.constant dense<0.1> : tensor<f64>",
                  f"%1 = fact.mul %a0, %0 : ({type_of(x)}, tensor<f64>) -> {type_of(x)}"],
                 [("%1", type_of(x))], lambda x: [x * float(torch.tensor(0.1))])


def cast_truth(dtype):
    def truth(x):
        if dtype.is_floating_point:
            # Integers become f32 first.
            if not x.is_floating_point() and dtype != torch.float64:
                x = x.float()
            return [x.to(dtype).double()]
        if dtype == torch.bool:
            return [x != 0]
        if x.is_floating_point():
            # The nearest bound, and 0 for NaN; small types have the low bits of 32.
            wide = dtype if dtype == torch.int64 else torch.int32
            limits = torch.iinfo(wide)
            whole = torch.where(x.abs() < 2.0**(limits.bits - 1), x, 0.0).to(wide)
            whole = torch.where(x >= 2.0**(limits.bits - 1), limits.max, whole)
            return [torch.where(x <= -2.0**(limits.bits - 1), limits.min, whole).to(dtype)]
        return [x.to(dtype)]
    return truth


def casts():
    every = FLOATS + [torch.int64, torch.int32, torch.int8, torch.bool]
    for source in every:
        if source == torch.bool:
            x = torch.tensor([False, True])
        else:
            x = specials(source) if source.is_floating_point else integers(source)
        for target in every:
            if target == source:
                continue
            result = tensor(x.shape, NAMES[target])
            yield Region(f"cast-{NAMES[source]}-{NAMES[target]}", [x],
                         [f"%0 = fact.cast %a0 : ({type_of(x)}) -> {result}"], [("%0", result)],
                         cast_truth(target))


#===------------------------------------------------------------------------===#
# Views, gathers, rotary embeddings, constants
#===------------------------------------------------------------------------===#

def chain(name, operands, steps, truth, **options):
    """Ops one after the other; `steps` are (op with %x for the last value, result type)."""
    body, last, type = [], "%a0", type_of(operands[0])
    for i, (op, result) in enumerate(steps):
        body.append(f"%v{i} = " + op.replace("%x", last).replace("TYPE", type) + f" -> {result}")
        last, type = f"%v{i}", result
    return Region(name, operands, body, [(last, type)], truth, **options)


def views():
    for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.int64, torch.bool):
        name = NAMES[dtype]
        x = torch.arange(120).reshape(2, 3, 4, 5).to(dtype)
        t = lambda *shape, name=name: tensor(shape, name)
        yield chain(f"reshape-{name}", [x], [("fact.reshape %x : (TYPE)", t(8, 15))],
                    lambda x: [x.reshape(8, 15)])
        yield chain(f"permute-{name}", [x], [("fact.permute %x [2, 0, 3, 1] : (TYPE)", t(4, 2, 5, 3))],
                    lambda x: [x.permute(2, 0, 3, 1)])
        yield chain(f"windows-{name}", [x],
                    [("fact.windows %x dim 2 kernel [2, 3] strides [1, 2] dilations [2, 1] "
                      ": (TYPE)", t(2, 3, 2, 2, 2, 3))],
                    lambda x: [x.unfold(2, 3, 1)[..., ::2].unfold(3, 3, 2)])
        yield chain(f"slice-{name}", [x],
                    [("fact.slice %x dim 3 start 1 step 3 : (TYPE)", t(2, 3, 4, 2)),
                     ("fact.slice %x dim 1 start 2 : (TYPE)", t(2, 1, 4, 2))],
                    lambda x: [x[:, 2:3, :, 1::3]])
        yield chain(f"expand-{name}", [x[:, :1, :, :1]],
                    [("fact.expand %x : (TYPE)", t(3, 2, 6, 4, 7))],
                    lambda x: [x.expand(3, 2, 6, 4, 7)])
        yield chain(f"views-{name}", [x],
                    [("fact.permute %x [1, 3, 0, 2] : (TYPE)", t(3, 5, 2, 4)),
                     ("fact.reshape %x : (TYPE)", t(15, 8)),
                     ("fact.slice %x dim 0 start 1 step 2 : (TYPE)", t(7, 8)),
                     ("fact.permute %x [1, 0] : (TYPE)", t(8, 7)),
                     ("fact.reshape %x : (TYPE)", t(2, 4, 1, 7)),
                     ("fact.expand %x : (TYPE)", t(2, 4, 3, 7)),
                     ("fact.reshape %x : (TYPE)", t(24, 7))],
                    lambda x: [x.permute(1, 3, 0, 2).reshape(15, 8)[1::2].T.reshape(2, 4, 1, 7)
                               .expand(2, 4, 3, 7).reshape(24, 7)])
        a, b, c = x, x[:, :1] , x[:, :2]
        yield Region(f"concat-{name}", [a, b.contiguous(), c.contiguous()],
                     [f"%0 = fact.concat %a0, %a1, %a2, %a0 dim 1 : ({type_of(a)}, {type_of(b)}, "
                      f"{type_of(c)}, {type_of(a)}) -> {t(2, 9, 4, 5)}"], [("%0", t(2, 9, 4, 5))],
                     lambda a, b, c: [torch.cat([a, b, c, a], 1)])
    x = randn(3, 4)
    yield chain("pointwise between views", [x],
                [("fact.permute %x [1, 0] : (TYPE)", tensor((4, 3), "f32")),
                 ("fact.exp %x : (TYPE)", tensor((4, 3), "f32")),
                 ("fact.reshape %x : (TYPE)", tensor((2, 6), "f32")),
                 ("fact.add %x, %x : (TYPE, TYPE)", tensor((2, 6), "f32")),
                 ("fact.slice %x dim 1 start 1 step 2 : (TYPE)", tensor((2, 3), "f32")),
                 ("fact.tanh %x : (TYPE)", tensor((2, 3), "f32"))],
                lambda x: [torch.tanh(2 * x.T.exp().reshape(2, 6)[:, 1::2])])
    scalar = randn(1).reshape(())
    yield Region("scalars", [x, scalar],
                 [f"%0 = fact.mul %a0, %a1 : ({type_of(x)}, tensor<f32>) -> {type_of(x)}"],
                 [("%0", type_of(x)), ("%a1", "tensor<f32>"), ("%a0", type_of(x))],
                 lambda x, y: [x * y, y, x])
    yield Region("constants", [],
                 ["%0 = fact.constant dense<[[1.5, -2.0], [0x7FC00000, 0xFF800000]]> : tensor<2x2xf32>",
                  "%1 = fact.constant dense<[9223372036854775807, -9223372036854775808]> : tensor<2xi64>",
                  "%2 = fact.constant dense<[true, false, true]> : tensor<3xi1>",
                  "%3 = fact.constant dense<0.25> : tensor<3xbf16>",
                  "%4 = fact.constant dense<[-128, 127]> : tensor<2xi8>"],
                 [("%0", "tensor<2x2xf32>"), ("%1", "tensor<2xi64>"), ("%2", "tensor<3xi1>"),
                  ("%3", "tensor<3xbf16>"), ("%4", "tensor<2xi8>")],
                 lambda: [torch.tensor([[1.5, -2.0], [NAN, -INFINITY]], dtype=torch.float64),
                          torch.tensor([2**63 - 1, -2**63]), torch.tensor([True, False, True]),
                          torch.full((3,), 0.25, dtype=torch.float64),
                          torch.tensor([-128, 127], dtype=torch.int8)])


def gather_truth(dim):
    def truth(source, indices):
        size = source.shape[dim]
        inside = (indices >= 0) & (indices < size)
        safe = torch.where(inside, indices, 0).long()
        found = source.movedim(dim, 0)[safe]
        missing = NAN if source.is_floating_point() else 0
        mask = inside.reshape(*inside.shape, *[1] * (source.dim() - 1))
        found = torch.where(mask, found, torch.tensor(missing, dtype=found.dtype))
        places = list(range(indices.dim()))
        return [found.movedim(places, [dim + p for p in places])]
    return truth


def indexing():
    for dtype, index_type in ((torch.float32, torch.int64), (torch.bfloat16, torch.int32),
                              (torch.int8, torch.int64), (torch.bool, torch.int32)):
        source = torch.arange(2 * 7 * 3).reshape(2, 7, 3).to(dtype)
        indices = torch.tensor([[0, 6, 3], [6, 7, -1]]).to(index_type)
        for dim in range(3):
            shape = list(source.shape)
            shape[dim:dim + 1] = [2, 3]
            result = tensor(shape, NAMES[dtype])
            yield Region(f"gather-{NAMES[dtype]}-{dim}", [source, indices],
                         [f"%0 = fact.gather %a0, %a1 dim {dim} : ({type_of(source)}, "
                          f"{type_of(indices)}) -> {result}"], [("%0", result)], gather_truth(dim))
    for dtype in (torch.float32, torch.bfloat16):
        x, cos, sin = specials(dtype, (2, 3, 8)), randn(3, 8, dtype=dtype), randn(1, 8, dtype=dtype, seed=2)
        def turned(x, interleaved):
            if interleaved:
                return torch.stack([-x[..., 1::2], x[..., 0::2]], -1).flatten(-2)
            return torch.cat([-x[..., 4:], x[..., :4]], -1)
        for word in ("", " interleaved"):
            yield Region(f"rotary-{NAMES[dtype]}{word}", [x, cos, sin],
                         [f"%0 = fact.rotary %a0, %a1, %a2{word} : ({type_of(x)}, {type_of(cos)}, "
                          f"{type_of(sin)}) -> {type_of(x)}"], [("%0", type_of(x))],
                         lambda x, cos, sin, word=word: [x * cos + turned(x, bool(word)) * sin])


#===------------------------------------------------------------------------===#
# Rows
#===------------------------------------------------------------------------===#

def first_argmax(best):
    largest = best.amax(-1, keepdim=True)
    places = torch.arange(best.shape[-1]).expand(best.shape)
    return torch.where(best == largest, places, best.shape[-1]).amin(-1)


def reduce_truth(kind, dims, keep):
    def truth(x):
        if kind == "sum":
            y = x.sum(dims, dtype=x.dtype)
        elif kind == "mean":
            y = x.mean(dims)
        elif kind in ("max", "min"):
            if x.dtype == torch.bool:
                y = x.byte().amax(dims).bool() if kind == "max" else x.byte().amin(dims).bool()
            else:
                y = x.amax(dims) if kind == "max" else x.amin(dims)
        elif kind == "prod":
            y = x
            for dim in sorted(dims, reverse=True):
                y = y.prod(dim, dtype=x.dtype)
        else:
            kept = [d for d in range(x.dim()) if d not in dims]
            rows = x.permute(*kept, *dims).flatten(len(kept)).double()
            nan = rows.isnan()
            key = rows if kind == "argmax" else -rows
            y = first_argmax(torch.where(nan.any(-1, keepdim=True), nan.double(), key))
        if keep:
            for dim in sorted(dims):
                y = y.unsqueeze(dim)
        return [y]
    return truth


def reductions():
    cases = [(torch.float32, k) for k in ("sum", "mean", "max", "min", "prod", "argmax", "argmin")]
    cases += [(torch.bfloat16, k) for k in ("sum", "mean", "max", "argmin")]
    cases += [(torch.int64, k) for k in ("sum", "max", "min", "prod", "argmax")]
    cases += [(torch.int32, "sum"), (torch.int8, "min"), (torch.bool, "max"), (torch.bool, "min"),
              (torch.bool, "argmax")]
    for dtype, kind in cases:
        if dtype.is_floating_point:
            x = randn(3, 5, 7, dtype=dtype)
            x[0, 0, 0], x[0, 1, 2], x[1, 1] = NAN, INFINITY, -INFINITY
            x[2, 2], x[2, 3, 4], x[2, 3, 5] = 1.0, 9.0, 9.0
        elif dtype == torch.bool:
            x = torch.rand(3, 5, 7, generator=generator(4)) > 0.8
        else:
            x = torch.randint(-9, 9, (3, 5, 7), generator=generator(5)).to(dtype)
        for dims, keep in (([2], False), ([0], True), ([0, 2], False), ([0, 1, 2], False)):
            shape = [1 if d in dims else n for d, n in enumerate(x.shape) if keep or d not in dims]
            result = tensor(shape, "i64" if kind.startswith("arg") else NAMES[dtype])
            word = " keep" if keep else ""
            yield Region(f"{kind}-{NAMES[dtype]}-{''.join(map(str, dims))}{word}", [x],
                         [f"%0 = fact.reduce {kind} %a0 dims {dims}{word} : ({type_of(x)}) -> {result}"],
                         [("%0", result)], reduce_truth(kind, dims, keep))
    x = torch.empty(2, 0)
    yield Region("nothing", [x], [f"%0 = fact.reduce sum %a0 dims [1] : ({type_of(x)}) -> tensor<2xf32>",
                                  f"%1 = fact.reduce prod %a0 dims [1] : ({type_of(x)}) -> tensor<2xf32>"],
                 [("%0", "tensor<2xf32>"), ("%1", "tensor<2xf32>")],
                 lambda x: [x.sum(1), x.prod(1)])


def rows():
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        name = NAMES[dtype]
        x = randn(4, 6, 9, dtype=dtype, scale=3)
        x[0, 0, 3], x[1, 0, 0], x[1, 2], x[2, 2, 2], x[3, 3] = NAN, INFINITY, -INFINITY, -INFINITY, 2.0
        x[3, 4, 4], x[3, 5, 5] = 30000.0, -30000.0
        for dim in range(3):
            yield Region(f"softmax-{name}-{dim}", [x],
                         [f"%0 = fact.softmax %a0 dim {dim} : {type_of(x)}"], [("%0", type_of(x))],
                         lambda x, dim=dim: [x.softmax(dim)])
        for kind in ("layer", "rms"):
            for dims in (1, 2):
                shape = x.shape[-dims:]
                weight, bias = randn(*shape, dtype=dtype), randn(*shape, dtype=dtype, seed=2)
                def truth(x, weight=None, bias=None, kind=kind, dims=dims, shape=tuple(shape)):
                    if kind == "layer":
                        return [F.layer_norm(x, shape, weight, bias, 1e-5)]
                    axes = list(range(-dims, 0))
                    y = x / torch.sqrt((x * x).mean(axes, keepdim=True) + 1e-5)
                    y = y if weight is None else y * weight
                    return [y if bias is None else y + bias]
                y = x.clone()
                y[0, 0, 3] = 1.0
                suffix = f" eps 1.0e-05 dims {dims}"
                yield Region(f"{kind}-{name}-{dims}", [y],
                             [f"%0 = fact.norm {kind} %a0{suffix} : ({type_of(x)}) -> {type_of(x)}"],
                             [("%0", type_of(x))], truth)
                yield Region(f"{kind}-{name}-{dims}-affine", [x, weight, bias],
                             [f"%0 = fact.norm {kind} %a0 weight %a1 bias %a2{suffix} : "
                              f"({type_of(x)}, {type_of(weight)}, {type_of(bias)}) -> {type_of(x)}"],
                             [("%0", type_of(x))], truth)


#===------------------------------------------------------------------------===#
# Scans, sorts and scatters
#===------------------------------------------------------------------------===#

SCANS = {"sum": lambda x, dim: x.cumsum(dim, dtype=x.dtype),
         "prod": lambda x, dim: x.cumprod(dim, dtype=x.dtype),
         "max": lambda x, dim: x.cummax(dim)[0],
         "min": lambda x, dim: x.cummin(dim)[0],
         "logsumexp": torch.logcumsumexp}


def few_numbers(dtype, *shape):
    """Ties everywhere."""
    x = torch.randint(-4, 4, shape, generator=generator(6))
    if dtype.is_floating_point:
        x = x.to(dtype)
        x[0, ..., 0, 1], x[..., 1, 0], x[..., 2, 1] = NAN, INFINITY, -INFINITY
        return x
    return x > 0 if dtype == torch.bool else x.to(dtype)


def scans():
    cases = [(torch.float32, kind) for kind in SCANS]
    cases += [(torch.bfloat16, "sum"), (torch.float64, "logsumexp"), (torch.int64, "sum"),
              (torch.int64, "prod"), (torch.int32, "max"), (torch.int8, "min")]
    for dtype, kind in cases:
        x = few_numbers(dtype, 3, 5, 2)
        for dim in range(3):
            yield Region(f"scan-{kind}-{NAMES[dtype]}-{dim}", [x],
                         [f"%0 = fact.scan {kind} %a0 dim {dim} : {type_of(x)}"],
                         [("%0", type_of(x))], lambda x, f=SCANS[kind], dim=dim: [f(x, dim)])


def sorts():
    for dtype in (torch.float32, torch.float16, torch.int64, torch.int8, torch.bool):
        x = few_numbers(dtype, 3, 11, 2)
        for dim, word, count in ((1, "", 11), (1, " descending", 4), (0, " descending", 3),
                                 (1, "", 1), (2, "", 2)):
            shape = list(x.shape)
            shape[dim] = count
            result = tensor(shape, "i64")
            yield Region(f"argsort-{NAMES[dtype]}-{dim}{word}-{count}", [x],
                         [f"%0 = fact.argsort %a0 dim {dim}{word} count {count} : "
                          f"({type_of(x)}) -> {result}"], [("%0", result)],
                         lambda x, dim=dim, down=bool(word), count=count: [
                             x.argsort(dim=dim, descending=down, stable=True).narrow(dim, 0, count)])


COMBINED = {"set": lambda x, y: y, "sum": lambda x, y: x + y, "prod": lambda x, y: x * y,
            "max": torch.maximum, "min": torch.minimum}


def scatter_truth(kind, dim):
    def truth(source, indices, updates):
        result = source.movedim(dim, 0).clone()
        updates = updates.flatten(dim, dim + indices.dim() - 1).movedim(dim, 0)
        for index, update in zip(indices.flatten().tolist(), updates):
            if 0 <= index < len(result):
                result[index] = COMBINED[kind](result[index], update)
        return [result.movedim(0, dim)]
    return truth


def scatters():
    cases = [(torch.float32, kind) for kind in COMBINED]
    cases += [(torch.bfloat16, "sum"), (torch.int64, "sum"), (torch.int32, "prod"),
              (torch.int8, "max"), (torch.bool, "set"), (torch.bool, "min")]
    for dtype, kind in cases:
        source = few_numbers(dtype, 2, 7, 3)
        indices = torch.tensor([[0, 6, 3], [6, 7, -1], [3, 0, 6]])
        indices = indices.to(torch.int32 if dtype.is_floating_point else torch.int64)
        for dim in range(3):
            shape = list(source.shape)
            shape[dim:dim + 1] = [3, 3]
            updates = few_numbers(dtype, *shape)
            yield Region(f"scatter-{kind}-{NAMES[dtype]}-{dim}", [source, indices, updates],
                         [f"%0 = fact.scatter {kind} %a0, %a1, %a2 dim {dim} : ({type_of(source)}, "
                          f"{type_of(indices)}, {type_of(updates)}) -> {type_of(source)}"],
                         [("%0", type_of(source))], scatter_truth(kind, dim))


#===------------------------------------------------------------------------===#
# Contractions
#===------------------------------------------------------------------------===#

def matmuls():
    for dtype in FLOATS:
        name = NAMES[dtype]
        for a_shape, b_shape in (((5, 7), (7, 11)), ((3, 1, 5, 7), (2, 7, 11)), ((2, 5, 7), (7, 11)),
                                 ((1, 7), (4, 7, 1))):
            for transpose_a, transpose_b in ((0, 0), (0, 1), (1, 0), (1, 1)):
                a, b = randn(*a_shape, dtype=dtype), randn(*b_shape, dtype=dtype, seed=2)
                a[..., 0, 3], b[..., 2, 0] = INFINITY, NAN
                a[..., 0, 0] = -0.0
                result = torch.matmul(a.double(), b.double())
                a = a.mT.contiguous() if transpose_a else a
                b = b.mT.contiguous() if transpose_b else b
                words = " transpose_a" * transpose_a + " transpose_b" * transpose_b
                type = tensor(result.shape, name)
                yield Region(f"matmul-{name}-{len(a_shape)}-{len(b_shape)}{words}", [a, b],
                             [f"%0 = fact.matmul %a0, %a1{words} : ({type_of(a)}, {type_of(b)}) -> {type}"],
                             [("%0", type)],
                             lambda a, b, ta=transpose_a, tb=transpose_b:
                             [(a.mT if ta else a) @ (b.mT if tb else b)])
    for dtype in (torch.bfloat16, torch.float16):
        x, w = randn(4, 6, dtype=dtype), randn(6, 3, dtype=dtype, seed=2)
        result = tensor((4, 3), NAMES[dtype])
        # What the region computed rounds as an operand.
        yield Region(f"matmul-of-computed-{NAMES[dtype]}", [x, w],
                     [f"%0 = fact.exp %a0 : ({type_of(x)}) -> {type_of(x)}",
                      f"%1 = fact.matmul %0, %a1 : ({type_of(x)}, {type_of(w)}) -> {result}"],
                     [("%1", result)],
                     lambda x, w, dtype=dtype: [x.exp().to(dtype).double() @ w])


def attention_truth(scale, causal):
    def truth(q, k, v, mask=None):
        group = q.shape[1] // k.shape[1]
        k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
        scores = q @ k.mT * scale
        if mask is not None:
            scores = scores + mask
        if causal:
            seen = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
            scores = torch.where(seen, scores, -INFINITY)
        weights = scores.softmax(-1)
        empty = (scores == -INFINITY).all(-1, keepdim=True)
        # Hidden keys contribute nothing.
        hidden = scores == -INFINITY
        weights = torch.where(empty | hidden & ~weights.isnan(), 0.0, weights)
        return [weights @ v]
    return truth


def attentions():
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        name = NAMES[dtype]
        q, k, v = (randn(2, 4, 5, 8, dtype=dtype), randn(2, 2, 7, 8, dtype=dtype, seed=2),
                   randn(2, 2, 7, 6, dtype=dtype, seed=3))
        k[0, 0, 2, 2] = NAN
        result = tensor((2, 4, 5, 6), name)
        mask = randn(5, 7, dtype=dtype, seed=4)
        mask[1], mask[2, :4], mask[0, 2] = -INFINITY, -INFINITY, -INFINITY
        heads = randn(2, 1, 1, 7, dtype=dtype, seed=5)
        for extra, suffix in ((None, ""), (mask, "-mask"), (heads, "-heads")):
            for causal in (False, True):
                operands = [q, k, v] + ([extra] if extra is not None else [])
                word = (" mask %a3" if extra is not None else "") + (" causal" if causal else "")
                yield Region(f"attention-{name}{suffix}{'-causal' * causal}", operands,
                             [f"%0 = fact.attention %a0, %a1, %a2{word} scale 0.25 : "
                              f"({', '.join(type_of(x) for x in operands)}) -> {result}"],
                             [("%0", result)], attention_truth(0.25, causal))
    q = randn(1, 1, 6, 4)
    k, v = randn(1, 1, 3, 4, seed=2), randn(1, 1, 3, 4, seed=3)
    yield Region("attention-more-queries", [q, k, v],
                 [f"%0 = fact.attention %a0, %a1, %a2 causal scale 1.0 : ({type_of(q)}, {type_of(k)}, "
                  f"{type_of(v)}) -> {type_of(q)}"], [("%0", type_of(q))], attention_truth(1.0, True))


def suite():
    for regions in (pointwise(), casts(), views(), indexing(), reductions(), rows(), scans(),
                    sorts(), scatters(), matmuls(), attentions()):
        yield from regions
