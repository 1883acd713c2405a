# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Regions of every host family in one module, in any type of floating-point number."""

import re

#: rule, types of the operands, body, types of the results. `T` is the type of the numbers; `<...>`
#: stands for `tensor<...>`; shapes are small, and none is a multiple of a vector or a tile.
REGIONS = [
    ("gemm_epilogue", ["13x40xT", "37x40xT", "37xT"], """
        %0 = fact.matmul %a0, %a1 transpose_b : (<13x40xT>, <37x40xT>) -> <13x37xT>
        %1 = fact.add %0, %a2 : (<13x37xT>, <37xT>) -> <13x37xT>
        %2 = fact.gelu %1 approximate tanh : (<13x37xT>) -> <13x37xT>
        %3 = fact.reduce mean %1 dims [1] : (<13x37xT>) -> <13xT>
        fact.yield %2, %3""", ["13x37xT", "13xT"]),
    ("gemm_epilogue", ["2x3x10x12xT", "3x12x14xT"], """
        %0 = fact.matmul %a0, %a1 : (<2x3x10x12xT>, <3x12x14xT>) -> <2x3x10x14xT>
        fact.yield %0""", ["2x3x10x14xT"]),
    # Few rows, which read the other operand in place.
    ("gemm_epilogue", ["2x7x21xT", "2x21x67xT"], """
        %0 = fact.matmul %a0, %a1 : (<2x7x21xT>, <2x21x67xT>) -> <2x7x67xT>
        fact.yield %0""", ["2x7x67xT"]),
    # Windows of images whose channels are first, in several boxes, and last.
    ("gemm_epilogue", ["2x5x23x19xT", "11x45xT", "11xT"], """
        %0 = fact.permute %a0 [0, 2, 3, 1] : (<2x5x23x19xT>) -> <2x23x19x5xT>
        %1 = fact.windows %0 dim 1 kernel [3, 3] strides [1, 1] dilations [2, 1]
            : (<2x23x19x5xT>) -> <2x19x17x3x3x5xT>
        %2 = fact.reshape %1 : (<2x19x17x3x3x5xT>) -> <2x19x17x45xT>
        %3 = fact.matmul %2, %a1 transpose_b : (<2x19x17x45xT>, <11x45xT>) -> <2x19x17x11xT>
        %4 = fact.add %3, %a2 : (<2x19x17x11xT>, <11xT>) -> <2x19x17x11xT>
        %5 = fact.permute %4 [0, 3, 1, 2] : (<2x19x17x11xT>) -> <2x11x19x17xT>
        fact.yield %5""", ["2x11x19x17xT"]),
    ("gemm_epilogue", ["2x23x19x65xT", "35x260xT"], """
        %1 = fact.windows %a0 dim 1 kernel [2, 2] strides [2, 1] dilations [1, 1]
            : (<2x23x19x65xT>) -> <2x11x18x2x2x65xT>
        %2 = fact.reshape %1 : (<2x11x18x2x2x65xT>) -> <2x11x18x260xT>
        %3 = fact.matmul %2, %a1 transpose_b : (<2x11x18x260xT>, <35x260xT>) -> <2x11x18x35xT>
        %4 = fact.reduce max %3 dims [3] : (<2x11x18x35xT>) -> <2x11x18xT>
        fact.yield %3, %4""", ["2x11x18x35xT", "2x11x18xT"]),
    # Three rows above each other, and what takes turns of a transposed image.
    ("pointwise", ["3x13x21xT", "3xT"], """
        %0 = fact.reshape %a1 : (<3xT>) -> <3x1x1xT>
        %1 = fact.slice %a0 dim 2 start 1 : (<3x13x21xT>) -> <3x13x19xT>
        %2 = fact.slice %1 dim 1 start 0 : (<3x13x19xT>) -> <3x11x19xT>
        %3 = fact.slice %1 dim 1 start 1 : (<3x13x19xT>) -> <3x11x19xT>
        %4 = fact.slice %1 dim 1 start 2 : (<3x13x19xT>) -> <3x11x19xT>
        %5 = fact.slice %a0 dim 1 start 1 : (<3x13x21xT>) -> <3x11x21xT>
        %6 = fact.slice %5 dim 2 start 0 : (<3x11x21xT>) -> <3x11x19xT>
        %7 = fact.mul %2, %0 : (<3x11x19xT>, <3x1x1xT>) -> <3x11x19xT>
        %8 = fact.mul %3, %0 : (<3x11x19xT>, <3x1x1xT>) -> <3x11x19xT>
        %9 = fact.add %7, %8 : (<3x11x19xT>, <3x11x19xT>) -> <3x11x19xT>
        %10 = fact.mul %4, %0 : (<3x11x19xT>, <3x1x1xT>) -> <3x11x19xT>
        %11 = fact.add %9, %10 : (<3x11x19xT>, <3x11x19xT>) -> <3x11x19xT>
        %12 = fact.add %11, %6 : (<3x11x19xT>, <3x11x19xT>) -> <3x11x19xT>
        fact.yield %12""", ["3x11x19xT"]),
    ("pointwise", ["2x9x17x2x2x19xT"], """
        %0 = fact.permute %a0 [0, 1, 3, 2, 4, 5] : (<2x9x17x2x2x19xT>) -> <2x9x2x17x2x19xT>
        %1 = fact.reshape %0 : (<2x9x2x17x2x19xT>) -> <2x18x34x19xT>
        %2 = fact.permute %1 [0, 3, 1, 2] : (<2x18x34x19xT>) -> <2x19x18x34xT>
        fact.yield %2""", ["2x19x18x34xT"]),
    ("gated_gemm", ["1x17xT", "33x17xT", "33x17xT"], """
        %0 = fact.matmul %a0, %a1 transpose_b : (<1x17xT>, <33x17xT>) -> <1x33xT>
        %1 = fact.silu %0 : (<1x33xT>) -> <1x33xT>
        %2 = fact.matmul %a0, %a2 transpose_b : (<1x17xT>, <33x17xT>) -> <1x33xT>
        %3 = fact.mul %1, %2 : (<1x33xT>, <1x33xT>) -> <1x33xT>
        fact.yield %3""", ["1x33xT"]),
    ("grouped_gemm", ["2x5x24xT", "40x24xT", "17x24xT"], """
        %0 = fact.matmul %a0, %a1 transpose_b : (<2x5x24xT>, <40x24xT>) -> <2x5x40xT>
        %1 = fact.matmul %a0, %a2 transpose_b : (<2x5x24xT>, <17x24xT>) -> <2x5x17xT>
        %2 = fact.relu %1 : (<2x5x17xT>) -> <2x5x17xT>
        fact.yield %0, %2""", ["2x5x40xT", "2x5x17xT"]),
    ("attention", ["2x4x19x16xT", "2x2x23x16xT", "2x2x23x9xT"], """
        %0 = fact.attention %a0, %a1, %a2 causal scale 0.25
            : (<2x4x19x16xT>, <2x2x23x16xT>, <2x2x23x9xT>) -> <2x4x19x9xT>
        fact.yield %0""", ["2x4x19x9xT"]),
    ("attention", ["1x2x7x8xT", "1x2x21x8xT", "7x21xT"], """
        %0 = fact.attention %a0, %a1, %a1 mask %a2 scale 0.25
            : (<1x2x7x8xT>, <1x2x21x8xT>, <1x2x21x8xT>, <7x21xT>) -> <1x2x7x8xT>
        fact.yield %0""", ["1x2x7x8xT"]),
    ("attention", ["2x6x1x21xT", "2x2x43x21xT", "2x2x43x19xT", "2x1x1x43xT"], """
        %0 = fact.attention %a0, %a1, %a2 mask %a3 scale 0.25
            : (<2x6x1x21xT>, <2x2x43x21xT>, <2x2x43x19xT>, <2x1x1x43xT>) -> <2x6x1x19xT>
        fact.yield %0""", ["2x6x1x19xT"]),
    ("rowwise", ["3x5x37xT", "37xT"], """
        %0 = fact.norm layer %a0 weight %a1 eps 1.0e-05 : (<3x5x37xT>, <37xT>) -> <3x5x37xT>
        fact.yield %0""", ["3x5x37xT"]),
    ("rowwise", ["9x53xT"], """
        %0 = fact.softmax %a0 dim 1 : <9x53xT>
        fact.yield %0""", ["9x53xT"]),
    ("rowwise", ["9x53xT"], """
        %0 = fact.reduce argmax %a0 dims [1] : (<9x53xT>) -> <9xi64>
        fact.yield %0""", ["9xi64"]),
    ("rowwise", ["9x53xT"], """
        %0 = fact.mul %a0, %a0 : (<9x53xT>, <9x53xT>) -> <9x53xT>
        %1 = fact.reduce sum %0 dims [1] : (<9x53xT>) -> <9xT>
        fact.yield %1""", ["9xT"]),
    ("pointwise", ["13x37xT", "37xT", "13x1xT"], """
        %0 = fact.add %a0, %a1 : (<13x37xT>, <37xT>) -> <13x37xT>
        %1 = fact.mul %0, %a2 : (<13x37xT>, <13x1xT>) -> <13x37xT>
        %2 = fact.tanh %1 : (<13x37xT>) -> <13x37xT>
        %3 = fact.gelu %1 : (<13x37xT>) -> <13x37xT>
        %4 = fact.softplus %1 : (<13x37xT>) -> <13x37xT>
        %5 = fact.compare lt %0, %a0 : (<13x37xT>, <13x37xT>) -> <13x37xi1>
        fact.yield %2, %3, %4, %5""", ["13x37xT", "13x37xT", "13x37xT", "13x37xi1"]),
    ("pointwise", ["9x21xT", "2x7xi64", "7x21xT"], """
        %i = fact.abs %a1 : (<2x7xi64>) -> <2x7xi64>
        %0 = fact.gather %a0, %i dim 0 : (<9x21xT>, <2x7xi64>) -> <2x7x21xT>
        %1 = fact.add %0, %a2 : (<2x7x21xT>, <7x21xT>) -> <2x7x21xT>
        fact.yield %1""", ["2x7x21xT"]),
    ("pointwise", ["5x19xT", "40xi32"], """
        %i = fact.abs %a1 : (<40xi32>) -> <40xi32>
        %0 = fact.gather %a0, %i dim 1 : (<5x19xT>, <40xi32>) -> <5x40xT>
        fact.yield %0""", ["5x40xT"]),
    ("scan", ["5x45xT", "1x45xi64"], """
        %0 = fact.scan max %a0 dim 1 : <5x45xT>
        %1 = fact.compare eq %a0, %0 : (<5x45xT>, <5x45xT>) -> <5x45xi1>
        %2 = fact.constant dense<-1> : <i64>
        %3 = fact.select %1, %a1, %2 : (<5x45xi1>, <1x45xi64>, <i64>) -> <5x45xi64>
        %4 = fact.scan max %3 dim 1 : <5x45xi64>
        %5 = fact.scan sum %a0 dim 1 : <5x45xT>
        fact.yield %0, %4, %5""", ["5x45xT", "5x45xi64", "5x45xT"]),
    ("scatter", ["9x37xT", "20xi64", "20x37xT"], """
        %i = fact.abs %a1 : (<20xi64>) -> <20xi64>
        %0 = fact.scatter sum %a0, %i, %a2 dim 0 : (<9x37xT>, <20xi64>, <20x37xT>) -> <9x37xT>
        fact.yield %0""", ["9x37xT"]),
    ("pointwise", ["2x3x5x16xT", "5x16xT", "5x16xT"], """
        %0 = fact.rotary %a0, %a1, %a2 : (<2x3x5x16xT>, <5x16xT>, <5x16xT>) -> <2x3x5x16xT>
        fact.yield %0""", ["2x3x5x16xT"]),
    ("pointwise", ["4x3xT", "4x5xT"], """
        %0 = fact.exp %a1 : (<4x5xT>) -> <4x5xT>
        %1 = fact.concat %a0, %0, %a0 dim 1 : (<4x3xT>, <4x5xT>, <4x3xT>) -> <4x11xT>
        fact.yield %1""", ["4x11xT"]),
    ("pointwise", ["9x1xT", "9x36xT", "37xT"], """
        %0 = fact.concat %a0, %a1 dim 1 : (<9x1xT>, <9x36xT>) -> <9x37xT>
        %1 = fact.slice %0 dim 0 start 0 : (<9x37xT>) -> <2x37xT>
        %2 = fact.slice %0 dim 0 start 2 : (<9x37xT>) -> <7x37xT>
        %3 = fact.neg %2 : (<7x37xT>) -> <7x37xT>
        %4 = fact.concat %1, %3 dim 0 : (<2x37xT>, <7x37xT>) -> <9x37xT>
        %5 = fact.add %4, %a2 : (<9x37xT>, <37xT>) -> <9x37xT>
        fact.yield %5""", ["9x37xT"]),
    # Conversions from and to everything.
    ("pointwise", ["41xi1", "41xi8", "41xi32", "41xi64", "41xf64"], """
        %0 = fact.cast %a0 : (<41xi1>) -> <41xT>
        %1 = fact.cast %a1 : (<41xi8>) -> <41xT>
        %2 = fact.cast %a2 : (<41xi32>) -> <41xT>
        %3 = fact.cast %a3 : (<41xi64>) -> <41xT>
        %4 = fact.cast %a4 : (<41xf64>) -> <41xT>
        fact.yield %0, %1, %2, %3, %4""", ["41xT"] * 5),
    ("generic", ["41xi1", "41xi32", "41xT"], """
        %0 = fact.cast %a0 : (<41xi1>) -> <41xT>
        %1 = fact.cast %a1 : (<41xi32>) -> <41xT>
        %2 = fact.cast %a2 : (<41xT>) -> <41xi32>
        %3 = fact.cast %a2 : (<41xT>) -> <41xi1>
        fact.yield %0, %1, %2, %3""", ["41xT", "41xT", "41xi32", "41xi1"]),
    ("generic", ["7x33xT"], """
        %0 = fact.reduce mean %a0 dims [1] : (<7x33xT>) -> <7xT>
        %1 = fact.exp %0 : (<7xT>) -> <7xT>
        %2 = fact.reshape %1 : (<7xT>) -> <7x1xT>
        %3 = fact.expand %2 : (<7x1xT>) -> <7x33xT>
        fact.yield %3""", ["7x33xT"]),
    # Integers, of which some divisors are 0.
    ("pointwise", ["50xi32", "50xi32"], """
        %0 = fact.div %a0, %a1 : (<50xi32>, <50xi32>) -> <50xi32>
        %1 = fact.fmod %a0, %a1 : (<50xi32>, <50xi32>) -> <50xi32>
        %2 = fact.shift_left %a0, %a1 : (<50xi32>, <50xi32>) -> <50xi32>
        fact.yield %0, %1, %2""", ["50xi32"] * 3),
    ("generic", ["50xi64", "50xi64"], """
        %0 = fact.div %a0, %a1 : (<50xi64>, <50xi64>) -> <50xi64>
        %1 = fact.fmod %a0, %a1 : (<50xi64>, <50xi64>) -> <50xi64>
        fact.yield %0, %1""", ["50xi64"] * 2),
    ("rowwise", ["6x35xi1"], """
        %0 = fact.reduce max %a0 dims [1] : (<6x35xi1>) -> <6xi1>
        fact.yield %0""", ["6xi1"]),
]


def module(machine: str, types: list[str]) -> str:
    """The IR of all regions in each of the types, for a machine. Regions without `T` come once."""
    arguments, body, results, returned = [], [], [], []
    for number, element in enumerate(types):
        for rule, operands, text, outcomes in REGIONS:
            fits = "xT" in " ".join(operands + outcomes) + text
            if number > 0 and not fits:
                continue
            fill = lambda word, element=element: re.sub(r"xT\b", f"x{element}", word)
            types_in = [f"tensor<{fill(each)}>" for each in operands]
            types_out = [f"tensor<{fill(each)}>" for each in outcomes]
            names = []
            for each in types_in:
                names.append(f"%x{len(arguments)}")
                arguments.append(f"{names[-1]}: {each}")
            region = f"%r{len(body)}"
            inner = re.sub(r"(?<=[ (])<([^<>]*)>", r"tensor<\1>", fill(text))
            inner += " : " + ", ".join(types_out)
            head = ", ".join(f"%a{i}: {each}" for i, each in enumerate(types_in))
            count = f":{len(types_out)}" if len(types_out) > 1 else ""
            body.append(f'    {region}{count} = fact.fused "{rule}" ins({", ".join(names)} : '
                        f'{", ".join(types_in)}) {{\n    ^bb0({head}):{inner}\n    }} : '
                        f'{", ".join(types_out)}')
            results += types_out
            returned += [f"{region}#{i}" for i in range(len(types_out))] if count else [region]
    return (f'module @families attributes {{fact.target = #fact.machine<"{machine}">}} {{\n'
            f'  func.func @main({", ".join(arguments)}) -> ({", ".join(results)}) {{\n'
            + "\n".join(body) + f'\n    return {", ".join(returned)} : {", ".join(results)}\n'
            "  }\n}\n")
