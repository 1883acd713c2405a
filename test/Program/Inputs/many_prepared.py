# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A function that prepares N weights, and adds each of them to its input.

    many_prepared.py N
"""

import sys

COUNT = int(sys.argv[1])
T = "tensor<8xf32>"

types = ", ".join([T] * COUNT)
print(f"fact.weight @w : {T}")
print(f"func.func @main(%x0: {T}) -> {T} {{")
print(f"  %p:{COUNT} = fact.prepare {{")
for i in range(COUNT):
    print(f"    %w{i} = fact.get_weight @w : {T}")
print(f"    fact.yield {', '.join(f'%w{i}' for i in range(COUNT))} : {types}")
print(f"  }} : {types}")
for i in range(COUNT):
    print(f"""  %x{i + 1} = fact.fused "pointwise" ins(%x{i}, %p#{i} : {T}, {T}) {{
  ^bb0(%a: {T}, %b: {T}):
    %s = fact.add %a, %b : ({T}, {T}) -> {T}
    fact.yield %s : {T}
  }} : {T}""")
print(f"  return %x{COUNT} : {T}\n}}")
