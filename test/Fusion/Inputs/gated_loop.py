# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints h[t] = f(x[t] * a + b) with a, b = (h[t - 1] @ w).chunk(2, 1), unrolled. A step is
as long as a kernel's stretch of the loop: f is 64 times tanh."""

import sys

steps = int(sys.argv[1])
one, row, gates = "tensor<1x32x64xbf16>", "tensor<32x64xbf16>", "tensor<32x128xbf16>"
whole, weight = f"tensor<{steps}x32x64xbf16>", "tensor<64x128xbf16>"
unary, binary = f"({row}) -> {row}", f"({row}, {row}) -> {row}"

print(f"func.func @loop(%x: {whole}, %h: {row}, %w: {weight}) -> {row} {{")
state = "%h"
for t in range(steps):
    print(f"  %slice{t} = fact.slice %x dim 0 start {t} : ({whole}) -> {one}")
    print(f"  %x{t} = fact.reshape %slice{t} : ({one}) -> {row}")
    print(f"  %g{t} = fact.matmul {state}, %w : ({row}, {weight}) -> {gates}")
    print(f"  %a{t} = fact.slice %g{t} dim 1 start 0 : ({gates}) -> {row}")
    print(f"  %b{t} = fact.slice %g{t} dim 1 start 64 : ({gates}) -> {row}")
    print(f"  %m{t} = fact.mul %x{t}, %a{t} : {binary}")
    print(f"  %n{t} = fact.add %m{t}, %b{t} : {binary}")
    state = f"%n{t}"
    for i in range(64):
        print(f"  %h{t}_{i} = fact.tanh {state} : {unary}")
        state = f"%h{t}_{i}"
print(f"  return {state} : {row}\n}}")
