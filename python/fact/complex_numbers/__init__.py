# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Complex numbers as pairs of real tensors, which is all that the compiler has.

`split` rewrites an exported program: what computes with complex tensors computes with their
parts, and a Fourier transform is products with cosines and sines. Complex inputs, results,
weights and constants have their parts in a last dimension of two in the library, as
`torch.view_as_real` has them; the caller's tensors stay complex.
"""

from .program import split, types_of

__all__ = ["split", "types_of"]
