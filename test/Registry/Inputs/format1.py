# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A file of format 1: what was measured for a product of this size, and for one twice as tall."""

import json

# As many as a search leaves: one or two alone are adapted, not reused.
SCHEDULES = [{"key": f"host_gemm<micro = 4x8, rows = {rows}, columns = 16>", "status": "accepted", "us": 1.5,
              "sol_share": 0.5, "machine": "a host", "versions": {"fact": "0.1.0"}, "date": "2026-11-15"}
             for rows in (8, 16, 32)]

print(json.dumps({
    "format": 1, "rule": "gemm_epilogue", "dtype": "f32", "architecture": "host",
    "entries": [{"ops": "matmul,relu",
                 "extents": {"m": m, "n": 16, "k": 32, "batch": 1, "tensors": 1},
                 "example": "05_batched_gemm", "schedules": SCHEDULES} for m in (8, 16)]}))
