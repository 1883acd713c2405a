# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Removes from a program what depends on values of tensors: how many elements a mask selects,
and numbers that `item` reads.

A selection `x[mask]` is represented by all rows of `x` and the mask. What computes row by row is
computed for all of them, a reduction leaves out those that are not selected, and where rows are
written back by the same mask (`x[mask] = f(x[mask])`), they are chosen. A number is a tensor of no
dimensions. What needs the selected rows one behind the other is not supported.
"""

from .program import remove

__all__ = ["remove"]
