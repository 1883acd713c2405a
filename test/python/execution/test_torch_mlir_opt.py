# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`torch-mlir-opt ... | fact-opt ...` on what the other tests execute."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import operators
import supported_ops
from fact import toolchain
from fact.export import export

WEIGHT = re.compile(r'"torch\.fact\.weight"\(\).*? value = (dense.*? : tensor<[^>]*>).*?'
                    r"\(\) -> (!torch\.vtensor<[^>]*>)")


def literal(match: re.Match) -> str:
    """torch-mlir-opt knows literals, and not FACT's own op. Booleans are written as `i8`, which
    it does not take for them; which they are does not matter here."""
    value, result = match.groups()
    if result.endswith(",i1>"):
        value = "dense<true> : " + re.search(r"tensor<[^>]*>", value)[0].replace("i8>", "i1>")
    return f"torch.vtensor.literal({value}) : {result}"


for file in supported_ops.FILES:
    importlib.import_module(file)


@pytest.mark.parametrize("name", sorted(operators.GROUPS))
def test_pipe(name):
    group = operators.GROUPS[name]
    text = operators.TESTED.get((name, "fp32"))
    text = text or export(group, group.inputs_in("fp32"), name=name).text
    text = WEIGHT.sub(literal, text)
    tool = Path(sys.executable).parent / "torch-mlir-opt"
    convert = [str(toolchain.require_tool("fact-opt")), "--convert-torch-to-fact"]
    for options in ([], ["--canonicalize"], ["--mlir-print-op-generic"]):
        printed = subprocess.run([str(tool), "--allow-unregistered-dialect", *options],
                                 input=text, text=True, capture_output=True)
        assert printed.returncode == 0, printed.stderr
        converted = subprocess.run(convert, input=printed.stdout, text=True, capture_output=True)
        assert converted.returncode == 0, f"{options}: {converted.stderr}"
        assert "torch.aten" not in converted.stdout
