# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report of a compilation: `data` is what it says, `collect` finds it in a compilation's
files, `page` and `text` show it."""
