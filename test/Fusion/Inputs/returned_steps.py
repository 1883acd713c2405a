# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints h[t] = tanh(x[t] + h[t - 1]), unrolled, which returns each h[t] transposed."""

import sys

steps = int(sys.argv[1])
whole, one = f"tensor<{steps}x6x8xf32>", "tensor<1x6x8xf32>"
row, column = "tensor<6x8xf32>", "tensor<8x6xf32>"
types = ", ".join([column] * steps)

print(f"func.func @loop(%x: {whole}, %h: {row}) -> ({types}) {{")
state = "%h"
for t in range(steps):
    print(f"  %s{t} = fact.slice %x dim 0 start {t} : ({whole}) -> {one}")
    print(f"  %r{t} = fact.reshape %s{t} : ({one}) -> {row}")
    print(f"  %a{t} = fact.add %r{t}, {state} : ({row}, {row}) -> {row}")
    print(f"  %h{t} = fact.tanh %a{t} : ({row}) -> {row}")
    print(f"  %p{t} = fact.permute %h{t} [1, 0] : ({row}) -> {column}")
    state = f"%h{t}"
print("  return " + ", ".join(f"%p{t}" for t in range(steps)) + f" : {types}\n}}")
