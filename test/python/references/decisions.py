# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Regions in which rounding decides, and where it may and must be said to.

`undecided` of these regions gives two lists, an entry for each result: elements that must be
marked (f32 arithmetic does decide otherwise there) and elements that must not be (the margin
is far beyond its error).
"""

import torch

from .region import Region, tensor, type_of
from .suite import generator, randn

CLOSE, FAR = 1e-7, 1e-4


def margins(value, border=0.0, scale=1.0):
    distance = (value - border).abs() / scale
    return distance < CLOSE, distance > FAR


def near(x, share=0.2, seed=9):
    """Numbers next to x for a share of the elements, others for the rest."""
    chosen = torch.rand(x.shape, generator=generator(seed)) < share
    other = randn(*x.shape, seed=seed + 1, dtype=torch.float64)
    step = x.abs() * 2.0**-26 * torch.sign(randn(*x.shape, seed=seed + 2, dtype=torch.float64))
    return torch.where(chosen, x + step, x + 0.5 * other.sign() + other)


def decisions():
    yield from _of_elements()
    yield from _of_rows()
    yield from _of_contractions()


def _operands():
    """Two tensors, numbers near their products, and the types of these and of comparisons."""
    x, y = randn(64, 32), randn(64, 32, seed=2)
    z = near(x.double() * y.double()).float()
    return x, y, z, type_of(x), tensor((64, 32), "i1")


def _of_elements():
    x, y, z, t, b = _operands()
    for word, compare in (("lt", torch.lt), ("ge", torch.ge), ("eq", torch.eq)):
        yield Region(f"compare-{word}", [x, y, z],
                     [f"%0 = fact.mul %a0, %a1 : ({t}, {t}) -> {t}",
                      f"%1 = fact.compare {word} %0, %a2 : ({t}, {t}) -> {b}"], [("%1", b)],
                     lambda x, y, z, compare=compare: [compare(x * y, z)],
                     lambda x, y, z: [[m] for m in margins(x * y, z, (x * y).abs() + 1e-9)])
    yield Region("select", [x, y, z],
                 [f"%0 = fact.mul %a0, %a1 : ({t}, {t}) -> {t}",
                  f"%1 = fact.compare lt %0, %a2 : ({t}, {t}) -> {b}",
                  f"%2 = fact.select %1, %a0, %a1 : ({b}, {t}, {t}) -> {t}",
                  f"%3 = fact.exp %2 : ({t}) -> {t}"], [("%3", t)],
                 lambda x, y, z: [torch.where(x * y < z, x, y).exp()],
                 lambda x, y, z: [[m] for m in margins(x * y, z, (x * y).abs() + 1e-9)])
    whole = torch.randint(1, 50, (64, 32), generator=generator(3)).double()
    w = near(whole / x.double().abs().clamp(0.1)).float()
    p = x.abs().clamp(0.1)
    for name, function in (("floor", torch.floor), ("ceil", torch.ceil)):
        def borders(p, w):
            product = p * w
            return [[m] for m in margins(product, product.round(), product.abs() + 1e-9)]
        yield Region(name, [p, w],
                     [f"%0 = fact.mul %a0, %a1 : ({t}, {t}) -> {t}",
                      f"%1 = fact.{name} %0 : ({t}) -> {t}"], [("%1", t)],
                     lambda p, w, function=function: [function(p * w)], borders)
    yield Region("cast to integers", [p, w],
                 [f"%0 = fact.mul %a0, %a1 : ({t}, {t}) -> {t}",
                  f"%1 = fact.cast %0 : ({t}) -> {tensor((64, 32), 'i64')}"],
                 [("%1", tensor((64, 32), "i64"))], lambda p, w: [(p * w).trunc().long()], borders)
    # Digits of numbers far beyond their bounds are decided, however large the error.
    m = torch.where(torch.rand(64, 32, generator=generator(8)) < 0.5, w, w * 1e9)
    def digits(p, m):
        product = p * m
        tie, far = margins(product - 0.5, (product - 0.5).round(), product.abs() + 1e-9)
        return [[tie & (product.abs() < 100)], [far & (product.abs() < 100) | (product.abs() > 150)]]
    yield Region("digits", [p, m],
                 [f"%0 = fact.mul %a0, %a1 : ({t}, {t}) -> {t}", f"%1 = fact.round %0 : ({t}) -> {t}",
                  f"%2 = fact.clamp %1 min -128.0 max 127.0 : ({t}) -> {t}",
                  f"%3 = fact.cast %2 : ({t}) -> {tensor((64, 32), 'i8')}"],
                 [("%3", tensor((64, 32), "i8"))],
                 lambda p, m: [(p * m).round().clamp(-128, 127).to(torch.int8)], digits)
    yield Region("sign", [x, y],
                 [f"%0 = fact.sub %a0, %a1 : ({t}, {t}) -> {t}",
                  f"%1 = fact.sub %0, %a0 : ({t}, {t}) -> {t}",
                  f"%2 = fact.add %1, %a1 : ({t}, {t}) -> {t}",
                  f"%3 = fact.sign %2 : ({t}) -> {t}"], [("%3", t)],
                 lambda x, y: [(x - y - x + y).sign()],
                 lambda x, y: [[(x - y).float() != x - y], [(x - y).float() == x - y]])
    # Thirds of whole numbers, of which those of 3 are whole: division rounds as IEEE has it.
    n = torch.randint(-50, 50, (64, 32), generator=generator(4)).float()
    yield Region("thirds", [n],
                 ["%0 = fact.constant dense<4.0> : tensor<f32>",
                  f"%1 = fact.mul %a0, %0 : ({t}, tensor<f32>) -> {t}",
                  "%2 = fact.constant dense<3.0> : tensor<f32>",
                  f"%3 = fact.div %1, %2 : ({t}, tensor<f32>) -> {t}", f"%4 = fact.floor %3 : ({t}) -> {t}"],
                 [("%4", t)], lambda n: [(n * 4 / 3).floor()],
                 lambda n: [[torch.zeros(64, 32, dtype=torch.bool)], [torch.ones(64, 32, dtype=torch.bool)]])
    # The side of a pole: x x - y y of equal numbers is 0, or a little less.
    e = torch.where(torch.rand(64, 32, generator=generator(6)) < 0.5, x, x.abs() + 0.5)
    def at_pole(x, e):
        return [[(x * x - e * e) == 0] * 2, [(e * e - x * x).abs() > 1e-2] * 2]
    yield Region("square root of a difference", [x, e],
                 [f"%0 = fact.mul %a0, %a0 : ({t}, {t}) -> {t}",
                  f"%1 = fact.mul %a1, %a1 : ({t}, {t}) -> {t}",
                  f"%2 = fact.sub %1, %0 : ({t}, {t}) -> {t}",
                  f"%3 = fact.sqrt %2 : ({t}) -> {t}", f"%4 = fact.log %2 : ({t}) -> {t}"],
                 [("%3", t), ("%4", t)],
                 lambda x, e: [(e * e - x * x).sqrt(), (e * e - x * x).log()], at_pole)


def _of_rows():
    x, y, z, t, b = _operands()
    # Rows whose two largest elements are next to each other, and others.
    rows = randn(40, 16, dtype=torch.float64)
    rows[:20, 3] = rows[:20].amax(-1) + 1
    rows[:20, 9] = rows[:20, 3] * (1 + 2.0**-26)
    a, places = rows.float(), tensor((40,), "i64")
    half = torch.full((40, 16), 0.7)
    def close_rows(a, half):
        top = (a * half).topk(2).values
        return [[m] for m in margins(top[:, 0], top[:, 1], top[:, 0].abs())]
    yield Region("argmax", [a, half],
                 [f"%0 = fact.mul %a0, %a1 : ({type_of(a)}, {type_of(a)}) -> {type_of(a)}",
                  f"%1 = fact.reduce argmax %0 dims [1] : ({type_of(a)}) -> {places}"],
                 [("%1", places)], lambda a, half: [(a * half).argmax(1)], close_rows)
    sorted_places = tensor((40, 15), "i64")
    def close_places(a, half):
        ranked = (a * half).sort(1).values
        gaps = ranked.diff(dim=1)
        before = torch.cat([torch.full((40, 1), torch.inf), gaps], 1)[:, :15]
        nearest = torch.minimum(before, gaps)
        return [[m] for m in margins(nearest, 0.0, ranked.abs().amax(1, keepdim=True))]
    yield Region("argsort", [a, half],
                 [f"%0 = fact.mul %a0, %a1 : ({type_of(a)}, {type_of(a)}) -> {type_of(a)}",
                  f"%1 = fact.argsort %0 dim 1 count 15 : ({type_of(a)}) -> {sorted_places}"],
                 [("%1", sorted_places)],
                 lambda a, half: [(a * half).argsort(dim=1, stable=True)[:, :15]], close_places)
    # A value that a mask of computed floats chose, summed up.
    r = tensor((64,), "f32")
    def any_close(x, y, z):
        must, never = margins(x * y, z, (x * y).abs() + 1e-9)
        return [[must.any(1)], [never.all(1)]]
    yield Region("sum of selected", [x, y, z],
                 [f"%0 = fact.mul %a0, %a1 : ({t}, {t}) -> {t}",
                  f"%1 = fact.compare lt %0, %a2 : ({t}, {t}) -> {b}",
                  f"%2 = fact.select %1, %a0, %a1 : ({b}, {t}, {t}) -> {t}",
                  f"%3 = fact.reduce sum %2 dims [1] : ({t}) -> {r}"], [("%3", r)],
                 lambda x, y, z: [torch.where(x * y < z, x, y).sum(1)], any_close)


def _of_contractions():
    # Products: the margin grows with the sum.
    l, k = randn(24, 300), randn(300, 24, seed=2, scale=300**-0.5)
    q = tensor((24, 24), "f32")
    border = (l.double() @ k.double())
    chosen = torch.rand(24, 24, generator=generator(5)) < 0.3
    border = torch.where(chosen, border, border + 1).float()
    yield Region("matmul", [l, k, border],
                 [f"%0 = fact.matmul %a0, %a1 : ({type_of(l)}, {type_of(k)}) -> {q}",
                  f"%1 = fact.compare gt %0, %a2 : ({q}, {q}) -> {tensor((24, 24), 'i1')}"],
                 [("%1", tensor((24, 24), "i1"))], lambda l, k, z: [l @ k > z],
                 lambda l, k, z: [[m] for m in margins(l @ k, z)])
    # A hidden key's NaN may show.
    v = randn(1, 1, 6, 4)
    v[0, 0, 4, 1] = float("nan")
    s = randn(1, 1, 6, 4, seed=2)
    hidden = torch.zeros(1, 1, 6, 4, dtype=torch.bool)
    hidden[0, 0, :4, 1] = True
    yield Region("attention", [s, v],
                 [f"%0 = fact.attention %a0, %a0, %a1 causal scale 0.5 : ({type_of(s)}, {type_of(s)}, "
                  f"{type_of(v)}) -> {type_of(s)}"], [("%0", type_of(s))],
                 lambda s, v: [torch.stack([torch.softmax(s[0, 0, i] @ s[0, 0, :i + 1].T * 0.5, -1)
                                            @ v[0, 0, :i + 1] for i in range(6)])[None, None]],
                 lambda s, v: [[hidden], [~hidden]])
