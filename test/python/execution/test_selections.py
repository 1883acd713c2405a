# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules that select rows by a mask, count them, and read numbers out of tensors."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import fact


class Module(nn.Module):
    def __init__(self, function):
        super().__init__()
        torch.manual_seed(0)
        self.function = function
        self.linear, self.norm, self.table = nn.Linear(16, 16), nn.LayerNorm(16), nn.Embedding(10, 16)
        self.register_buffer("strides", torch.tensor([8.0, 16.0]))

    def forward(self, *inputs):
        return self.function(self, *inputs)


def rand(*shape, seed=0):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed))


def classes(*shape, count=10):
    return torch.randint(0, count, shape, generator=torch.Generator().manual_seed(1))


X, Y, ROWS, IDS = rand(4, 32), rand(4, 32, seed=1), rand(9, 16), classes(9)


def assigned(m, x, y):
    y = y.clone()
    nearer = x < y
    y[nearer] = x[nearer]
    return y


def decremented(m, x):
    low, high = (9 * x).floor().long(), (9 * x).ceil().long()
    low[(high > 0) * (low == high - 1)] -= 1
    return low


def accumulated(m, x, y):
    y = y.clone()
    y.index_put_((x > 0.5,), 2 * x[x > 0.5], accumulate=True)
    return y


def experts_by_mask(m, x, ids):
    result = torch.zeros_like(x)
    for expert in range(2):
        mask = ids % 2 == expert
        result[mask] = result[mask] + m.linear(x[mask]) * (expert + 1)
    return result


def experts_by_place(m, x, ids):
    result = torch.zeros_like(x)
    for expert in range(2):
        place = torch.where(ids % 2 == expert)[0]
        result[place] += m.norm(m.linear(x[place]))
    return result


def experts_of_tokens(m, x, scores):
    """As in Mixtral's loop over experts."""
    weights, chosen = scores.softmax(-1).topk(2)
    result = torch.zeros_like(x)
    for expert in range(4):
        token, rank = torch.where(chosen == expert)
        result.index_add_(0, token, m.linear(x[token]) * weights[token, rank, None])
    return result


def experts_of_rows(m, t, mul):
    """With names that ops have, and places behind a dimension of one row."""
    mask = F.one_hot(mul.topk(2).indices, 4).permute(2, 1, 0)
    result = torch.zeros_like(t)
    for expert in range(4):
        rank, token = torch.where(mask[expert])
        rows = m.linear(t[None, token].reshape(-1, 16)) * mul[token, rank, None]
        result.index_add_(0, token, rows.to(t.dtype))
    return result


def statistics(m, x, y):
    chosen = x[y > 0.3]
    other = y[y > 0.3]
    return (chosen.sum(), chosen.mean(), chosen.amax(), chosen.min(), chosen.std(), chosen.var(correction=0),
            chosen.norm(), (chosen > 0.5).any(), (chosen > 0.1).all(), chosen.cumsum(0).sum(),
            ((chosen - other) ** 2).mean(), chosen.logsumexp(0), chosen.prod())


def counts(m, x):
    mask = x > 0.5
    return (x[mask].sum() / x[mask].shape[0], (x[mask] ** 2).sum() / max(x[mask].numel(), 1),
            mask.nonzero().shape[0] * x, mask.nonzero().float().mean(0), (x[mask] / x[mask].shape[0]).sum())


def within_rows(m, x, ids):
    rows = x[ids > 2]
    return (rows.softmax(-1).amax(0), rows.max(-1).values.sum(), rows[:, 3:9].reshape(-1, 2, 3).sum((0, 1)),
            (rows[:, None, :] * rows[:, :, None]).sum(0), rows[rows[:, 0] > 0.5].sum(0),
            torch.cat([rows, -rows], -1).mean(0))


def losses(m, x, ids):
    mask = ids > 1
    return (F.cross_entropy(x[mask], ids[mask]), F.cross_entropy(x[mask], ids[mask], reduction="sum"),
            F.cross_entropy(x[mask], torch.where(ids == 2, -100, ids)[mask]),
            F.cross_entropy(x[ids > 1], ids[ids > 1], label_smoothing=0.1))


def padded(m, ids):
    ids = torch.where(ids > 4, ids, -100)
    return m.table(ids[ids >= 0]).sum(0)


def numbers(m, x):
    return (x * m.strides[0].item() + torch.full((4, 1), m.strides[1]), x.clamp(max=x.max().item() * 0.9),
            torch.full_like(x, x.mean().item()), x[x[:, 0].argmax().item()],
            torch.full((2,), x.argmax().item()))


CASES = {
    "assigned": (assigned, X, Y), "decremented": (decremented, X), "accumulated": (accumulated, X, Y),
    "experts by mask": (experts_by_mask, ROWS, IDS), "experts by place": (experts_by_place, ROWS, IDS),
    "experts of tokens": (experts_of_tokens, ROWS, rand(9, 4, seed=2)),
    "experts of rows": (experts_of_rows, ROWS, rand(9, 4, seed=2)),
    "statistics": (statistics, X, Y), "counts": (counts, X), "within rows": (within_rows, ROWS, IDS),
    "losses": (losses, ROWS, IDS), "padded": (padded, IDS), "numbers": (numbers, X),
    "masked_select": (lambda m, x, y: torch.masked_select(x, y[:, :1] > 0.2).max(), X, Y),
    "mul": (lambda m, mul: mul[mul > 0.5].mul(2).mul(mul[mul > 0.5]).mul(3).sum(), X),
    "squared": (lambda m, x: x[x > 0.5].pow(2).sum().sqrt(), X),
}


@pytest.mark.parametrize("name", CASES)
def test_selections(name):
    function, *inputs = CASES[name]
    module = Module(function)
    library = fact.compile(module, inputs, target="host", candidates=1)
    # As many rows as in the example, fewer, all, and one.
    for seed in range(4):
        scale = (0.5, 0.9, 9, 1)[seed]
        given = [x * scale if x.is_floating_point() else x.flip(0).roll(seed) for x in inputs]
        with torch.no_grad():
            results, expected = library(*given), module(*given)
        results, expected = ([x] if isinstance(x, torch.Tensor) else x for x in (results, expected))
        for result, truth in zip(results, expected, strict=True):
            torch.testing.assert_close(result, truth, rtol=2e-5, atol=1e-5, equal_nan=True)


def refused(function, *inputs):
    with pytest.raises(fact.FactError) as caught:
        fact.export(Module(function), inputs)
    return str(caught.value)


def test_what_needs_the_size():
    words = "depends on values, and a library has fixed sizes"
    for function, op in ((lambda m, x, y: x[x > 0.5], "index"),
                         (lambda m, x, y: x[x > 0.5].flip(0).cumsum(0).sum(), "flip"),
                         (lambda m, x, y: x[x > 0.5].view(-1, 2).sum(), "view"),
                         (lambda m, x, y: x[x > 0.5].sort().values.sum(), "sort"),
                         (lambda m, x, y: y[:, x[0] > 0.5].sum(-1), "index"),
                         (lambda m, x, y: y[None, None, torch.where(x[:, 0] > 0.5)[0]].squeeze(0).sum(1),
                          "squeeze"),
                         (lambda m, x, y: torch.bincount(x.long().flatten(), minlength=3), "bincount"),
                         (lambda m, x, y: x.unique().sum(), "unique")):
        message = refused(function, X, Y)
        assert words in message and op in message and "test_selections.py" in message, message


def test_selections_by_other_masks_do_not_mix():
    def other_mask(m, x, y):
        y = y.clone()
        y[x > 0.5] = 2 * x[y > 0.5]
        return y

    def mask_of_the_target(m, x, y):
        """The tensor that is written selects too, but not where it is written."""
        first, second = x > 0.5, y > 0.5
        values = second[second]
        second = second.clone()
        second[first] = values
        return second

    for function in (other_mask, mask_of_the_target):
        assert "depends on values" in refused(function, X, Y)


def test_numbers_as_results():
    assert "is a number that depends on values: return a tensor" in refused(lambda m, x: x.max().item(), X)
