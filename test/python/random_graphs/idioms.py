# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What models write out and the compiler raises to one op: norms, softmax, activations,
attention, rotary embeddings, gates. Each is sometimes written a little differently, so
that taking it for the usual form would be wrong."""

from __future__ import annotations


def chain(generator, x, *steps):
    """Nodes one after the other: a step is a text and its operands, where None is the value
    before. Stops where a step is refused."""
    value = x
    for text, operands in steps:
        if not generator.add(text, [value if o is None else o for o in operands]):
            return None
        value = generator.values[-1]
    return value


def layer_norm(g, x):
    r = g.random
    dim, other = r.choice([(-1, -1), (-1, -1), (-1, 0), (0, 0)])
    eps = r.choice([1e-5, 1e-2, 0.5])
    centered = chain(g, x, ("{0} - {0}.mean(%d, keepdim=True)" % dim, [None]))
    if not centered:
        return
    variance = chain(g, centered, ("{0}.pow(2).mean(%d, keepdim=True)" % other, [None]))
    if variance:
        divide = r.choice(["{0} * torch.rsqrt({1} + %g)", "{0} / torch.sqrt({1} + %g)"]) % eps
        normal = chain(g, variance, (divide, [centered, None]))
        if normal and r.random() < 0.5:
            width = normal[1].shape[-1]
            scale, shift = (g.add_leaf(normal[2], [width], weight=True) for _ in range(2))
            chain(g, normal, ("{0} * {1}", [None, scale]), ("{0} + {1}", [None, shift]))


def rms_norm(g, x):
    r = g.random
    dim, keep = r.choice([-1, -1, 0]), "{0} * torch.rsqrt({1} + %g)" % r.choice([1e-5, 0.1])
    chain(g, x, ("{0}.pow(2).mean(%d, keepdim=True)" % dim, [None]), (keep, [x, None]))


def softmax(g, x):
    dim = g.random.choice([-1, -1, 0])
    other = g.random.choice([dim, dim, 0])
    powers = chain(g, x, ("torch.exp({0} - {0}.amax(%d, keepdim=True))" % dim, [None]))
    if powers:
        chain(g, powers, ("{0} / {0}.sum(%d, keepdim=True)" % other, [None]))


def activation(g, x):
    c = g.random.choice(["0.7978845608", "0.7978845608", "0.8"])
    chain(g, x, (g.random.choice([
        "{0} * torch.sigmoid({0})", "{0} * torch.sigmoid({0} * 1.5)",
        "0.5 * {0} * (1 + torch.tanh(%s * ({0} + 0.044715 * {0} * {0} * {0})))" % c,
        "0.5 * {0} * (1.0 + torch.erf({0} / 1.4142135))", "torch.log1p(torch.exp({0}))",
        "{0} * torch.tanh(F.softplus({0}))",
    ]), [None]))


def attention(g, x):
    """Queries from a value, or all three new; grouped heads; masks that are almost causal."""
    r, dtype = g.random, x[2]
    batch, heads, tokens, width = 2, r.choice([2, 4]), r.choice([3, 5, 8]), r.choice([4, 8])
    groups = r.choice([heads, heads, heads // 2, 1])
    keys = r.choice([tokens, tokens, tokens + 2])
    q = g.add_leaf(dtype, [batch, heads, tokens, width])
    k, v = (g.add_leaf(dtype, [batch, groups, keys, width]) for _ in range(2))
    repeated = []
    for part in (k, v):
        text = r.choice(["{0}.repeat_interleave(%d, dim=1)" % (heads // groups),
                         "{0}[:, :, None].expand(-1, -1, %d, -1, -1).flatten(1, 2)"
                         % (heads // groups)])
        repeated.append(chain(g, part, (text, [None])) if groups != heads else part)
    k, v = repeated
    if not k or not v:
        return
    if r.random() < 0.5:
        causal = ", is_causal=True" if tokens == keys and r.random() < 0.5 else ""
        chain(g, q, ("F.scaled_dot_product_attention({0}, {1}, {2}%s)" % causal, [None, k, v]))
        return
    scale = r.choice([width ** -0.5, 0.3])
    scores = chain(g, q, ("({0} @ {1}.transpose(-2, -1)) * %.6f" % scale, [None, k]))
    diagonal = r.choice([None, 1, 1, 2])
    weights = "F.softmax({0}, dim=%d)" % r.choice([-1, -1, -1, -2])
    if diagonal is not None:
        mask = "torch.ones(%d, %d, dtype=torch.bool).triu(%d)" % (tokens, keys, diagonal)
        weights = weights.format("{0}.masked_fill(%s, float('-inf'))" % mask)
    if scores:
        chain(g, scores, (weights, [None]), ("{0} @ {1}", [None, v]))


def rotary(g, x):
    width = x[1].shape[-1]
    if width % 2 or x[1].dim() < 2:
        return
    angles = [x[1].shape[-2], width]
    cos, sin = (g.add_leaf(x[2], angles) for _ in range(2))
    turned = g.random.choice(["torch.cat([-{0}.chunk(2, -1)[1], {0}.chunk(2, -1)[0]], -1)",
                              "torch.cat([{0}.chunk(2, -1)[1], -{0}.chunk(2, -1)[0]], -1)"])
    chain(g, x, (turned, [None]), ("{0} * {1}", [None, sin]), ("{1} * {2} + {0}", [None, x, cos]))


def gated(g, x):
    if x[1].dim() < 2:
        return
    k, hidden = x[1].shape[-1], g.random.choice([4, 8, 12])
    gate, up = (g.add_leaf(x[2], [hidden, k], weight=True, scale=k ** -0.5) for _ in range(2))
    opened = chain(g, x, ("F.linear({0}, {1})", [None, gate]),
                   (g.random.choice(["F.silu({0})", "F.gelu({0})", "torch.sigmoid({0})"]), [None]))
    value = chain(g, x, ("F.linear({0}, {1})", [None, up]))
    if opened and value:
        chain(g, opened, ("{0} * {1}", [None, value]))


IDIOMS = [layer_norm, rms_norm, softmax, activation, attention, attention, rotary, gated]


def any_idiom(g):
    x = g.pick(lambda value, dtype: dtype.is_floating_point and value.dim() >= 1)
    if x is not None:
        g.random.choice(IDIOMS)(g, x)
