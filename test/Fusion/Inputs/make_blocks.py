# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a raised Llama of N blocks with the sizes of an 8B model: make_blocks.py N."""
import sys

B, T, D, H, KV, E, F = 1, 2048, 4096, 32, 8, 128, 14336
QKV = (H + 2 * KV) * E


def tensor(*shape):
    return f"tensor<{'x'.join(map(str, shape))}xbf16>"


X, PACKED, HIDDEN = tensor(B, T, D), tensor(B, T, QKV), tensor(B, T, F)
WEIGHTS = {"norm1": tensor(D), "qkv": tensor(QKV, D), "out": tensor(D, D), "norm2": tensor(D),
           "gate": tensor(F, D), "up": tensor(F, D), "down": tensor(D, F)}


def matmul(name, x, weight, source, result):
    return (f"  %{name} = fact.matmul %{x}, %{weight} transpose_b : "
            f"({source}, {WEIGHTS[weight.split('_')[0]]}) -> {result}")


def norm(name, x, weight):
    return f"  %{name} = fact.norm rms %{x} weight %{weight} eps 1.0e-05 : ({X}, {tensor(D)}) -> {X}"


def heads(name, start, count, i):
    part, split, turned = tensor(B, T, count * E), tensor(B, T, count, E), tensor(B, count, T, E)
    return [f"  %{name}s_{i} = fact.slice %packed_{i} dim 2 start {start} : ({PACKED}) -> {part}",
            f"  %{name}r_{i} = fact.reshape %{name}s_{i} : ({part}) -> {split}",
            f"  %{name}_{i} = fact.permute %{name}r_{i} [0, 2, 1, 3] : ({split}) -> {turned}"]


def block(i, x):
    query, key = tensor(B, H, T, E), tensor(B, KV, T, E)
    lines = [f"  %{name}_{i} = fact.get_weight @{name}_{i} : {kind}"
             for name, kind in WEIGHTS.items()]
    lines += [norm(f"a_{i}", x, f"norm1_{i}"),
              matmul(f"packed_{i}", f"a_{i}", f"qkv_{i}", X, PACKED),
              *heads("q", 0, H, i), *heads("k", H * E, KV, i), *heads("v", (H + KV) * E, KV, i),
              f"  %mixed_{i} = fact.attention %q_{i}, %k_{i}, %v_{i} causal scale 8.838835e-02 : "
              f"({query}, {key}, {key}) -> {query}",
              f"  %turned_{i} = fact.permute %mixed_{i} [0, 2, 1, 3] : ({query}) -> "
              f"{tensor(B, T, H, E)}",
              f"  %merged_{i} = fact.reshape %turned_{i} : ({tensor(B, T, H, E)}) -> {X}",
              matmul(f"b_{i}", f"merged_{i}", f"out_{i}", X, X),
              f"  %c_{i} = fact.add %{x}, %b_{i} : ({X}, {X}) -> {X}",
              norm(f"d_{i}", f"c_{i}", f"norm2_{i}"),
              matmul(f"g_{i}", f"d_{i}", f"gate_{i}", X, HIDDEN),
              f"  %s_{i} = fact.silu %g_{i} : ({HIDDEN}) -> {HIDDEN}",
              matmul(f"u_{i}", f"d_{i}", f"up_{i}", X, HIDDEN),
              f"  %m_{i} = fact.mul %s_{i}, %u_{i} : ({HIDDEN}, {HIDDEN}) -> {HIDDEN}",
              matmul(f"e_{i}", f"m_{i}", f"down_{i}", HIDDEN, X),
              f"  %x_{i} = fact.add %c_{i}, %e_{i} : ({X}, {X}) -> {X}"]
    return lines


count = int(sys.argv[1])
for number in range(count):
    for name, kind in WEIGHTS.items():
        print(f"fact.weight @{name}_{number} : {kind}")
print(f"func.func @main(%x: {X}) -> {X} {{")
for number in range(count):
    print("\n".join(block(number, f"x_{number - 1}" if number else "x")))
print(f"  return %x_{count - 1} : {X}\n}}")
