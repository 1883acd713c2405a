# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs each pass of fact-opt and each translation on each text. None may crash, hang or fail
without an error."""
import re
import subprocess


def exp(type):
    return (f"func.func @f(%x: {type}) -> {type} {{ %0 = fact.exp %x : ({type}) -> {type}\n"
            f"return %0 : {type} }}")


V = "!torch.vtensor<[4],f32>"
TEXTS = {
    "empty": "module {}",
    "no work": "func.func private @e(tensor<4xf32>)\n"
               "func.func @f(%x: tensor<?x4xf32>, %n: i64) -> tensor<?x4xf32>"
               " { return %x : tensor<?x4xf32> }",
    "other dialects": "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32>"
                      " { %0 = math.absf %x : tensor<4xf32> return %0 : tensor<4xf32> }",
    "torch": f"func.func @f(%x: {V}) -> {V}"
             f" {{ %0 = torch.aten.relu %x : {V} -> {V} return %0 : {V} }}",
    "dynamic": exp("tensor<?x4xf32>"),
    "huge": exp("tensor<4000000x4000000x1000000xf64>"),
    "large": exp(f"tensor<{2**48}xf64>"),
}


def options(tool, *patterns):
    text = subprocess.run([tool, "--help"], capture_output=True, text=True, check=True).stdout
    return [f"--{name}" for pattern in patterns
            for name in re.findall(rf"^ +--({pattern}) ", text, re.M)]


RUNS = [("fact-opt", option) for option in options("fact-opt", r"fact-[a-z-]+", r"convert-[a-z-]+")]
RUNS += [("fact-translate", option) for option in options("fact-translate", r"fact-to-[a-z-]+")]

for name, text in TEXTS.items():
    with open("text.mlir", "w") as file:
        file.write(text)
    messages = set()
    for tool, option in RUNS:
        run = subprocess.run([tool, option, "text.mlir", "-o", "out"], capture_output=True,
                             text=True, timeout=120)
        assert run.returncode in (0, 1), f"{tool} {option}, {name}: {run.returncode}\n{run.stderr}"
        errors = re.findall("error: (.*)", run.stderr)
        assert bool(errors) == (run.returncode == 1), f"{tool} {option}, {name}:\n{run.stderr}"
        messages.update(errors[:1] or [""])
    print(f"{name}: {len(RUNS)} runs" + (f", all: {messages.pop()}" if len(messages) == 1 and
                                         messages != {""} else ""))
