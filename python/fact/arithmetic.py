# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a module's ops in another arithmetic, without changing the module.

Each class is a mode: while one is active, PyTorch hands it every op. The module runs as it
is written, with its own weights, so nothing is copied or converted in advance.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from . import precision
from .element_types import as_real
from .memory import available_bytes

aten = torch.ops.aten

# Multiplications whose 16-bit form is hundreds of times slower than fp32 on a CPU without
# 16-bit units.
_PRODUCTS = {
    aten.mm.default, aten.addmm.default, aten.bmm.default, aten.baddbmm.default,
    aten.addmv.default, aten.mv.default, aten.dot.default, aten.convolution.default,
    aten._scaled_dot_product_flash_attention_for_cpu.default,
}

# Ops that read few elements of a table: widening the whole table could take gigabytes.
_GATHERS = {aten.embedding.default, aten.index_select.default, aten.index.Tensor,
            aten.gather.default}

# Memory that is left to the rest of the process.
_RESERVE_BYTES = 256 << 20


class NotWidened(Exception):
    """An op depends on the narrow type."""


class TooLarge(Exception):
    """The module in the wide type does not fit in memory."""


def _is_floating(value) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def converted(value: Any, dtype: torch.dtype) -> Any:
    """Floating-point numbers and types as `dtype`, and complex ones as that of complex numbers."""
    own = value.dtype if isinstance(value, torch.Tensor) else value
    if not isinstance(own, torch.dtype) or not (own.is_floating_point or own.is_complex):
        return value
    wanted = dtype.to_complex() if own.is_complex else dtype
    if isinstance(value, torch.Tensor):
        return value if own == wanted else value.to(wanted)
    return wanted


def _aliases(func, index: int):
    """How result `index` of an op aliases its operands; None for new memory."""
    returns = func._schema.returns
    return returns[min(index, len(returns) - 1)].alias_info if returns else None


def _written(func, args, kwargs):
    """The operands that an op changes in place."""
    for position, argument in enumerate(func._schema.arguments):
        if argument.alias_info is None or not argument.alias_info.is_write:
            continue
        value = args[position] if position < len(args) else kwargs.get(argument.name)
        yield from (leaf for leaf in pytree.tree_leaves(value))


def _map_results(func, results, function):
    """Replaces each tensor that an op returned by `function(tensor, alias)`."""
    if isinstance(results, torch.Tensor):
        return function(results, _aliases(func, 0))
    if isinstance(results, (tuple, list)):
        def replaced(index: int, part: Any) -> Any:
            return pytree.tree_map_only(
                torch.Tensor, lambda tensor: function(tensor, _aliases(func, index)), part)

        return type(results)(replaced(index, part) for index, part in enumerate(results))
    return results


def _grouped_products(x, weight, offs=None, bias=None, out_dtype=None):
    """`aten._grouped_mm` of rows, which PyTorch does not have in fp64."""
    if x.dim() != 2 or weight.dim() != 3 or bias is not None:
        raise NotWidened("a grouped product has no form in wider types for these operands")
    product, begin = x.new_zeros(x.shape[0], weight.shape[2]), 0
    for factor, end in zip(weight, offs.tolist()):
        product[begin:end] = x[begin:end] @ factor
        begin = end
    return product


class Wide(TorchDispatchMode):
    """Computes every op in `dtype`: operands are converted where an op reads them.

    Explicit conversions to narrower floating types do nothing. A weight is wide only while
    one op uses it, so memory holds wide activations and one wide weight.
    """

    def __init__(self, dtype: torch.dtype = torch.float64):
        super().__init__()
        self.dtype = dtype

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func is aten.view.dtype:
            raise NotWidened("the module reinterprets the bits of a tensor")
        for tensor in _written(func, args, kwargs):
            if isinstance(tensor, torch.Tensor) and tensor.dtype != converted(tensor.dtype, self.dtype):
                raise NotWidened("the module changes a tensor that is neither a buffer nor an input")
        if func in _GATHERS:
            return self._map(func, func(*args, **kwargs))
        if func in (aten._softmax.default, aten._log_softmax.default):
            # The last argument converts from 16 bits to fp32.
            args = (*args[:2], False)
        self._make_room(args, kwargs)
        args, kwargs = pytree.tree_map(self._widen, (args, kwargs))
        function = _grouped_products if func is aten._grouped_mm.default else func
        return self._map(func, function(*args, **kwargs))

    def _widen(self, value):
        return converted(value, self.dtype)

    def _map(self, func, results):
        return _map_results(func, results, lambda tensor, alias: self._widen(tensor))

    def _make_room(self, args, kwargs) -> None:
        """Results and temporaries of an op are rarely larger than its wide operands."""
        tensors = [leaf for leaf in pytree.tree_leaves((args, kwargs)) if _is_floating(leaf)]
        needed = sum(tensor.numel() for tensor in tensors) * self.dtype.itemsize * 2
        if needed < _RESERVE_BYTES // 8:
            return
        device = tensors[0].device
        if needed + _RESERVE_BYTES > available_bytes(device):
            raise TooLarge(f"an op of {needed >> 20} MiB in {self.dtype} does not fit on {device}")


class ProductsInFloat32(TorchDispatchMode):
    """Computes products of 16-bit tensors in fp32 and rounds them once, and ops that a CPU has not
    in 16 bits, such as 3-d average pools.

    This is what kernels with 16-bit units do; PyTorch's own on a CPU without them take
    hundreds of times as long.
    """

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        floating = {leaf.dtype for leaf in pytree.tree_leaves((args, kwargs)) if _is_floating(leaf)}
        if len(floating) != 1 or next(iter(floating)).itemsize != 2:
            return func(*args, **kwargs)
        if func not in _PRODUCTS:
            try:
                return func(*args, **kwargs)
            except RuntimeError as error:
                changes = any(isinstance(leaf, torch.Tensor)
                              for leaf in _written(func, args, kwargs))
                if changes or "not implemented for" not in str(error):
                    raise
        narrow = floating.pop()
        widen = lambda leaf: leaf.float() if _is_floating(leaf) else leaf
        args, kwargs = pytree.tree_map(widen, (args, kwargs))
        return _map_results(func, func(*args, **kwargs), lambda tensor, alias:
                            tensor.to(narrow) if _is_floating(tensor) else tensor)


class Perturbed(TorchDispatchMode):
    """Moves each computed element by one rounding, up, down or not at all, and each long sum
    by what another order of its terms could make of it.

    What the results of such runs have in common is what the type's precision decides.
    Small whole numbers stay: they are masks, counts and flags, which are exact. The fp32 factors of
    the ops in `tf32` are rounded to TF32, whether or not PyTorch's kernel for their sizes is one
    that does so.
    """

    def __init__(self, seed: int, device: torch.device, tf32: frozenset = frozenset()):
        super().__init__()
        self.generator = torch.Generator(device).manual_seed(seed)
        self.tf32 = tf32

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        factors = args
        if func in self.tf32:
            first = _FIRST_OPERAND.get(func, 0)
            factors = [round_to_tf32(value) if first <= i < first + 2 else value
                       for i, value in enumerate(args)]
        results = func(*factors, **(kwargs or {}))
        if not any(isinstance(leaf, torch.Tensor) for leaf in pytree.tree_leaves((args, kwargs))):
            return results
        terms = _count_terms(func, args, results)
        return _map_results(func, results, lambda tensor, alias: self._perturb(tensor, alias, terms))

    def _perturb(self, tensor: torch.Tensor, alias, terms: int):
        is_view = alias is not None and not alias.is_write
        if is_view or tensor.device != self.generator.device:
            return tensor
        parts = as_real(tensor)
        if not _is_floating(parts):
            return tensor
        if terms > 1:
            parts.add_(self._reordering(parts, terms))
        parts.mul_(self.factors(parts))
        return tensor

    def factors(self, tensor: torch.Tensor) -> torch.Tensor:
        steps = torch.randint(-1, 2, tensor.shape, generator=self.generator, device=tensor.device)
        whole = (tensor == tensor.round()) & (tensor.abs() < 256)
        steps = steps.masked_fill_(whole, 0).to(tensor.dtype)
        return steps.mul_(torch.finfo(tensor.dtype).eps).add_(1)

    def _reordering(self, tensor: torch.Tensor, terms: int) -> torch.Tensor:
        """Rounding errors of adding `terms` numbers one after the other.

        Each addition is off by 0.2 eps of the partial sum in the mean. Partial sums grow to
        the result like the root of their number, so all errors together have a deviation of
        0.15 eps sqrt(terms) of the result.
        """
        wide = tensor.dtype if tensor.dtype.itemsize > 2 else torch.float32
        finite = tensor[tensor.isfinite()].to(wide)
        size = float(finite.square().mean().sqrt()) if finite.numel() else 0.0
        noise = torch.randn(tensor.shape, generator=self.generator, device=tensor.device, dtype=wide)
        noise = noise.mul_(0.15 * torch.finfo(wide).eps * math.sqrt(terms) * size)
        # Sums of zeros are exact.
        return noise.masked_fill_(tensor == 0, 0).to(tensor.dtype)


_FIRST_OPERAND = {aten.mm.default: 0, aten.bmm.default: 0, aten.mv.default: 0, aten.dot.default: 0,
                  aten.addmm.default: 1, aten.baddbmm.default: 1, aten.addmv.default: 1}
_TRANSFORMS = {aten._fft_c2c.default, aten._fft_r2c.default, aten._fft_c2r.default}
_SUMS = {aten.sum.default, aten.sum.dim_IntList, aten.mean.default, aten.mean.dim,
         aten.cumsum.default}


def tf32_ops() -> frozenset:
    """The ops that PyTorch's settings let round fp32 factors to TF32 on a GPU."""
    allowed: frozenset[torch._ops.OpOverload] = frozenset()
    if precision.of_products() != "highest":
        allowed |= frozenset(_FIRST_OPERAND)
    if precision.of_convolutions() != "highest":
        allowed |= {aten.convolution.default}
    return allowed


def round_to_tf32(tensor: torch.Tensor) -> torch.Tensor:
    """fp32 with 10 bits after the point, to nearest; other types as they are."""
    if tensor.dtype != torch.float32:
        return tensor
    rounded = (tensor.contiguous().view(torch.int32) + 0x1000 & ~0x1fff).view(torch.float32)
    return torch.where(tensor.isfinite(), rounded, tensor)


def _count_terms(func, args, result) -> int:
    """The number of terms in the sum that is each element of a result."""
    if func in _FIRST_OPERAND:
        return args[_FIRST_OPERAND[func]].shape[-1]
    if func is aten.convolution.default:
        return args[1].numel() // max(args[1].shape[0], 1)
    if func is aten._scaled_dot_product_flash_attention_for_cpu.default:
        return args[1].shape[-2]
    if func in _TRANSFORMS:
        return math.prod(max(args[0].shape[dim], result.shape[dim]) for dim in args[1])
    if func is aten.cumsum.default:
        return args[0].shape[args[1]] if args[0].dim() else 1
    if func in _SUMS:
        return args[0].numel() // max(result.numel(), 1)
    return 1
