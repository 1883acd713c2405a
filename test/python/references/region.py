# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Regions as text, and their references as functions of PyTorch tensors."""

import ctypes
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from fact import toolchain

ROOT = Path(__file__).resolve().parents[3]
INCLUDES = ["-I" + str(ROOT / "include"), "-I" + str(ROOT / "lib/Target/Reference/include")]

TYPES = {"f64": torch.float64, "f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16,
         "i64": torch.int64, "i32": torch.int32, "i8": torch.int8, "i1": torch.bool}
NAMES = {type: name for name, type in TYPES.items()}


def tensor(shape, type):
    return "tensor<" + "".join(f"{size}x" for size in shape) + type + ">"


def type_of(x):
    return tensor(x.shape, NAMES[x.dtype])


@dataclass
class Region:
    """`body` has a line for each op, on %a0, %a1, ...; `yields` are values and their types.

    `truth` gets the operands and gives the results; floats in fp64.
    """
    name: str
    operands: list
    body: list
    yields: list
    truth: Callable
    undecided: Callable = None
    tolerance: float = None

    def text(self, index):
        types = [type_of(x) for x in self.operands]
        lines = [f"%x{index}_{i} = builtin.unrealized_conversion_cast to {type}"
                 for i, type in enumerate(types)]
        inputs = ", ".join(f"%x{index}_{i}" for i in range(len(types)))
        arguments = ", ".join(f"%a{i}: {type}" for i, type in enumerate(types))
        results = ", ".join(type for _, type in self.yields)
        count = f":{len(self.yields)}" if len(self.yields) > 1 else ""
        ins = f" ins({inputs} : {', '.join(types)})" if types else ""
        lines += [f'%r{index}{count} = fact.fused "region"{ins} {{', f"^bb0({arguments}):",
                  *self.body,
                  f"fact.yield {', '.join(name for name, _ in self.yields)} : {results}",
                  f"}} : {results}"]
        return "\n".join(lines) + "\n"


class FactKernel(ctypes.Structure):
    TILE = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p)
    _fields_ = [("abi", ctypes.c_uint32), ("buffer_count", ctypes.c_uint32),
                ("state_bytes", ctypes.c_uint64), ("workspace_bytes", ctypes.c_uint64),
                ("bind", ctypes.c_void_p), ("launch", ctypes.c_void_p),
                ("tiles", ctypes.c_uint64), ("tile", TILE)]


def host_compiler():
    """What host bundles name, where it can be found."""
    for name in (os.environ.get("CXX"), "clang++-22", "clang++", "c++", "g++"):
        if name and shutil.which(name):
            return name
    raise RuntimeError("no C++ compiler")


def emit(regions, folder):
    """One source with the reference of each region."""
    module = folder / "regions.mlir"
    module.write_text("".join(region.text(i) for i, region in enumerate(regions)))
    source = folder / "references.cpp"
    done = subprocess.run([str(toolchain.require_tool("fact-translate")),
                           "--fact-to-host-reference", str(module), "-o", str(source)],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return source


class References:
    """The references of several regions, compiled for the host."""

    def __init__(self, regions, folder, options=("-O1",)):
        self.regions = regions
        self.source = emit(regions, folder)
        library = folder / "references.so"
        subprocess.run([host_compiler(), "-std=c++17", *options, "-fPIC", "-shared", *INCLUDES,
                        str(self.source), "-o", str(library), "-lm"], check=True)
        self.library = ctypes.CDLL(str(library))

    def run(self, index, operands=None):
        """The results, and for each how far rounding may move its elements, or None."""
        region = self.regions[index]
        operands = [x.contiguous() for x in (operands or region.operands)]
        kernel = FactKernel.in_dll(self.library, f"region_{index}_reference")
        results = [self._result(type) for _, type in region.yields]
        doubts = self._doubts(index, results)
        buffers = operands + results + [x for x in doubts if x is not None]
        assert kernel.buffer_count == len(buffers) and kernel.tiles == 1
        pointers = (ctypes.c_void_p * len(buffers))(*[x.data_ptr() for x in buffers])
        workspace = torch.full((kernel.workspace_bytes + 256,), -1, dtype=torch.int8)
        kernel.tile(0, pointers, (workspace.data_ptr() + 255) // 256 * 256)
        return results, doubts

    @staticmethod
    def _result(type):
        *shape, name = type[len("tensor<"):-1].split("x")
        wide = {"f64": "f64", "f32": "f64", "bf16": "f32", "f16": "f32"}.get(name, name)
        result = torch.empty([int(size) for size in shape], dtype=TYPES[wide])
        result.view(torch.uint8 if shape else result.dtype).fill_(77)
        return result

    def _doubts(self, index, results):
        text = self.source.read_text()
        begin = text.index(f"namespace fact::region_{index}_reference {{")
        values = text[begin:text.index("};", begin)]
        return [torch.ones(x.shape, dtype=torch.float32) if f"*doubt{i};" in values else None
                for i, x in enumerate(results)]
