# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions in terms of `aten.convolution` with several channels per group, which the
compiler takes as it is."""

from __future__ import annotations

import dataclasses
import itertools
import math

import torch
from torch.nn import functional as F

from .table import aten, form, of_channels, per_dimension, spread, windows_of


def _convolution(x, weight, bias, stride, padding, dilation, groups, dims):
    stride, padding, dilation = (per_dimension(of, dims) for of in (stride, padding, dilation))
    batched = x.dim() == dims + 2
    x = x if batched else x.unsqueeze(0)
    if groups > 1 and weight.shape[1] == 1:
        result = _of_single_channels(x, weight, stride, padding, dilation, groups, dims)
        result = result if bias is None else result + of_channels(bias, result.dim())
    else:
        result = aten.convolution(x, weight, bias, stride, padding, dilation, False, [0] * dims,
                                  groups)
    return result if batched else result.squeeze(0)


def _of_single_channels(x, weight, stride, padding, dilation, groups, dims):
    """One channel per group: a sum of each window times the filter."""
    kernel, filters = list(weight.shape[2:]), weight.shape[0] // groups
    if filters > 1:
        x = x.unsqueeze(2)  # [batch, groups, filters per group, ...]
    if any(padding):
        x = F.pad(x, [n for p in reversed(padding) for n in (p, p)])
    windows = windows_of(x, dims, kernel, stride, dilation)
    leading = [groups, filters] if filters > 1 else [groups]
    products = windows * weight.reshape(leading + [1] * dims + kernel)
    result = products.sum([-1 - i for i in range(dims)])
    return result.flatten(1, 2) if filters > 1 else result


def _transposed(x, weight, bias, stride, padding, output_padding, groups, dilation, dims):
    """The elements of a result at one distance from each other, of a stride, are a phase: a
    convolution with every so many places of the kernel. Phases with as many places are filters
    of one convolution, without zeros among the places: a zero times infinity is no zero. All
    phases are channels of one tensor before a pixel shuffle. Where these are all phases, and of
    the last dimension, they lie in the order of the result, and its padding is cut off last."""
    stride, padding, dilation, more = (
        per_dimension(of, dims) for of in (stride, padding, dilation, output_padding))
    batched = x.dim() == dims + 2
    x = x if batched else x.unsqueeze(0)
    kernel = list(weight.shape[2:])
    sizes = [(n - 1) * s - 2 * p + d * (k - 1) + m + 1 for n, s, p, d, k, m in zip(
        x.shape[2:], stride, padding, dilation, kernel, more)]
    for dim, (s, d) in enumerate(zip(stride, dilation)):
        if s > 1 and d > 1:
            x, stride[dim] = spread(x, dim + 2, s), 1
    # [groups, in, out, (steps, stride)...]; what is added last is never read.
    weight = F.pad(weight, [n for k, s in reversed(list(zip(kernel, stride)))
                            for n in (0, -k % s)])
    weight = weight.reshape([groups, -1, weight.shape[1]] + [
        n for k, s in zip(kernel, stride) for n in (-(-k // s), s)])
    # What is cut off before and after the result.
    shift = [0] * dims
    if math.prod(stride[:-1]) == 1 and kernel[-1] % stride[-1] == 0:
        shift[-1] = padding[-1] % stride[-1]
        padding[-1] -= shift[-1]
    counts = [-(-(first + size) // s) for first, size, s in zip(shift, sizes, stride)]
    phases = [_phases(*each) for each in zip(kernel, stride, padding)]
    parts = {}
    for chosen in itertools.product(*[dict.fromkeys(of for of, _, _ in dim) for dim in phases]):
        parts[chosen] = _of_phases(x, weight, bias, chosen, counts, dilation)
    result = _shuffle(_join(parts, phases, counts), stride, counts)
    for dim, (first, size) in enumerate(zip(shift, sizes), 2):
        result = _slice(result, dim, first, size)
    return result if batched else result.squeeze(0)


@dataclasses.dataclass(frozen=True)
class _Phases:
    """Phases with as many places of the kernel, in one dimension."""

    first: int
    number: int
    # Places of the kernel.
    steps: int
    # The first element, counted from the first of the input, and how many more there are, since
    # not all of these phases begin there.
    start: int
    more: int


def _phases(kernel, stride, padding):
    """The phases of one dimension in the order of the result: to which it belongs, its number
    among these, and its first element."""
    whole, rest = divmod(kernel, stride)
    found = []
    for first, number, steps in (0, rest, whole + 1), (rest, stride - rest, whole):
        # The result begins after the padding, within the phases.
        starts = [-(-(padding - phase) // stride) for phase in range(first, first + number)]
        if number:
            of = _Phases(first, number, steps, min(starts), max(starts) - min(starts))
            found += [(of, i, start - of.start) for i, start in enumerate(starts)]
    shift = padding % stride
    return found[shift:] + found[:shift]


def _of_phases(x, weight, bias, phases, counts, dilation):
    """[batch, groups, phases and channels, counts...]: the elements of a transposed convolution
    in some phases of its strides; without groups if there is one."""
    dims, (groups, channels, filters) = len(phases), weight.shape[:3]
    number = math.prod(each.number for each in phases)
    counts = [count + each.more for count, each in zip(counts, phases)]
    shape = [x.shape[0]] + [groups] * (groups > 1) + [number * filters, *counts]
    if bias is not None:
        bias = bias.reshape([groups, 1, filters]).expand(groups, number, filters).reshape(-1)
    if not all(each.steps for each in phases):
        zeros = x.new_zeros([x.shape[0], groups * number * filters, *counts])
        return (zeros if bias is None else zeros + of_channels(bias, dims + 2)).reshape(shape)
    for dim, each in enumerate(phases):
        weight = aten.slice(weight, 3 + 2 * dim, 0, each.steps)
        weight = aten.slice(weight, 4 + 2 * dim, each.first, each.first + each.number)
    # [groups, phases..., out, in, steps...], the last step first.
    weight = weight.flip([3 + 2 * i for i in range(dims)])
    order = [0] + [4 + 2 * i for i in range(dims)] + [2, 1] + [3 + 2 * i for i in range(dims)]
    weight = weight.permute(order).reshape([-1, channels] + [each.steps for each in phases])
    edges = [(d * (each.steps - 1) - each.start, each.start + count - n)
             for each, d, count, n in zip(phases, dilation, counts, x.shape[2:])]
    x = F.pad(x, [n for pair in reversed(edges) for n in pair])
    return _convolution(x, weight, bias, 1, 0, dilation, groups, dims).reshape(shape)


def _join(parts, phases, counts):
    """The parts of a transposed convolution as phases in the order of the result."""
    joined = []
    for place, chosen in enumerate(itertools.product(*phases)):
        of, numbers, starts = zip(*chosen)
        part, index = parts[of], 0
        for each, number in zip(of, numbers):
            index = index * each.number + number
        dim = part.dim() - len(counts)
        filters = part.shape[dim - 1] // math.prod(each.number for each in of)
        is_whole = len(parts) == 1 and index == place and \
            list(part.shape[dim:]) == list(counts)
        part = part if is_whole else _slice(part, dim - 1, index * filters, filters)
        for i, (start, count) in enumerate(zip(starts, counts)):
            part = _slice(part, dim + i, start, count)
        joined.append(part)
    return joined[0] if is_whole else torch.cat(joined, dim - 1)


def _slice(x, dim, start, size):
    return x if size == x.shape[dim] else aten.slice(x, dim, start, start + size)


def _shuffle(x, stride, counts):
    """[batch, groups, phases and channels, counts...] as [batch, channels, (counts, phases)...]."""
    dims, lead = len(stride), list(x.shape[:-len(stride) - 1])
    if math.prod(stride) > 1:
        # Dimensions of one phase are not split.
        split = [i for i in range(dims) if stride[i] > 1]
        x = x.reshape(lead + [stride[i] for i in split] + [-1, *counts])
        places = {i: len(lead) + place for place, i in enumerate(split)}
        channels = len(lead) + len(split)
        order = list(range(len(lead))) + [channels]
        for i in range(dims):
            order += [channels + 1 + i] + ([places[i]] if i in places else [])
        x = x.permute(order)
    return x.reshape([x.shape[0], -1] + [n * s for n, s in zip(counts, stride)])


def _add_convolutions(dims: int) -> None:
    def convolution(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        if padding == "same":
            totals = [d * (k - 1) for k, d in zip(weight.shape[2:], per_dimension(dilation, dims))]
            x = F.pad(x, [n for total in reversed(totals) for n in (total // 2, total - total // 2)])
        if padding in ("valid", "same"):
            padding = 0
        return _convolution(x, weight, bias, stride, padding, dilation, groups, dims)

    def transposed(x, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1,
                   dilation=1):
        return _transposed(x, weight, bias, stride, padding, output_padding, groups, dilation,
                           dims)

    form(getattr(aten, f"conv{dims}d").default, getattr(aten, f"conv{dims}d").padding)(convolution)
    name = getattr(aten, f"conv_transpose{dims}d")
    form(name.default if dims == 1 else name.input)(transposed)


for _dims in (1, 2, 3):
    _add_convolutions(_dims)


@form(aten.convolution.default)
def convolution(x, weight, bias, stride, padding, dilation, is_transposed, output_padding,
                groups):
    dims = weight.dim() - 2
    if is_transposed:
        return _transposed(x, weight, bias, stride, padding, output_padding, groups, dilation,
                           dims)
    return _convolution(x, weight, bias, stride, padding, dilation, groups, dims)
