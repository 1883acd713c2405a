# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints h[t] = tanh(x[t] * h[t - 1] + h[t - 1]), unrolled, with x and h stacked along `dim`."""

import sys

steps, dim = int(sys.argv[1]), int(sys.argv[2])
row = "tensor<2x8xf32>"
one = "tensor<1x2x8xf32>" if dim == 0 else "tensor<2x1x8xf32>"
whole = f"tensor<{steps}x2x8xf32>" if dim == 0 else f"tensor<2x{steps}x8xf32>"
binary = f"({row}, {row}) -> {row}"

print(f"func.func @loop(%x: {whole}, %h: {row}) -> {whole} {{")
state = "%h"
for t in range(steps):
    print(f"  %slice{t} = fact.slice %x dim {dim} start {t} : ({whole}) -> {one}")
    print(f"  %x{t} = fact.reshape %slice{t} : ({one}) -> {row}")
    print(f"  %mul{t} = fact.mul %x{t}, {state} : {binary}")
    print(f"  %add{t} = fact.add %mul{t}, {state} : {binary}")
    print(f"  %h{t} = fact.tanh %add{t} : ({row}) -> {row}")
    print(f"  %part{t} = fact.reshape %h{t} : ({row}) -> {one}")
    state = f"%h{t}"
parts = ", ".join(f"%part{t}" for t in range(steps))
print(f"  %y = fact.concat {parts} dim {dim} : ({', '.join([one] * steps)}) -> {whole}")
print(f"  return %y : {whole}\n}}")
