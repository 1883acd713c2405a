# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a module's CUDA kernels on this machine's CPU by test/emulation.

fact-tune verifies each against its reference in the linked library.
"""

import json
import os
import subprocess

import pytest

from fact import abi, toolchain
from fact.export import export

# For `pytestmark` of the tests that emulate.
NEEDED = [
    pytest.mark.skipif(toolchain.find_tool("fact-compile") is None, reason="fact-compile is not built"),
    pytest.mark.skipif(toolchain.find_nvcc() is None, reason="there are no CUDA headers: no nvcc"),
    pytest.mark.skipif(toolchain.find_cutlass() is None, reason="CUTLASS is not installed"),
]


def bundle_of(folder, path, target, options=()):
    subprocess.run([toolchain.require_tool("fact-compile"), path, f"--target={target}",
                    "--until=bundle", f"--bundle={folder / 'bundle'}", *options], check=True)


def write_bundle(folder, module, inputs, target, options=()):
    (folder / "module.mlir").write_text(export(module, inputs, name="odd").text)
    bundle_of(folder, folder / "module.mlir", target, options)


def tune(root, folder, options=("--untuned", "--candidates", "1")):
    """fact-tune's run on an emulated GPU."""
    environment = toolchain.environment()
    environment["PATH"] = f"{root / 'test' / 'emulation'}{os.pathsep}{environment['PATH']}"
    # Apart from the objects of the real nvcc.
    environment["FACT_CACHE_DIR"] = str(root / "build" / "emulated")
    return subprocess.run([toolchain.require_tool("fact-tune"), folder / "bundle", *options],
                          env=environment, text=True, capture_output=True, timeout=1200)


def tuned(root, folder):
    """The summary of fact-tune's run."""
    process = tune(root, folder)
    assert process.returncode == 0, process.stdout[-3000:] + process.stderr[-3000:]
    return json.loads((folder / "bundle" / "tuning.json").read_text())


def emulate(root, folder, module, inputs, target, options=()):
    write_bundle(folder, module, inputs, target, options)
    return tuned(root, folder)


def emulate_text(root, folder, path):
    bundle_of(folder, path, "h200")
    return tuned(root, folder)


def kinds(report):
    return {kernel["schedule"].partition("<")[0] for kernel in report["kernels"]}


def on_emulated_gpu(*tensors):
    """DLTensors of memory that the emulated GPU sees as its own."""
    slots = abi.TensorSlots(len(tensors))
    slots.fill(tensors)
    for i in range(len(tensors)):
        slots.pointers[i].contents.device_type = 2
    return slots
