# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs: made from a seed, compared with fp64, and reduced when they fail."""
