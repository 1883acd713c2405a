# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FACT: a PyTorch module becomes a shared library of verified, tuned kernels.

    model = fact.compile(module, inputs)      # export, compile, tune, load
    y = model(*inputs)

    library = fact.load("model.so", "weights.safetensors")    # anywhere; needs only torch
    y = library(*inputs)

    fast = torch.compile(module, backend="fact")              # graph by graph

Only `export` and what calls it need torch-mlir; importing this package does not.
"""

from .compiler import build, bundle, compile
from .errors import FactError, FactWarning
from .export import ExportedGraph, export
from .library import Library, Model, load
from .registration import register_backend

register_backend()

__version__ = "0.1.0"
__all__ = [
    "ExportedGraph",
    "FactError",
    "FactWarning",
    "Library",
    "Model",
    "build",
    "bundle",
    "compile",
    "export",
    "load",
]
