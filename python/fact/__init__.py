"""FACT: a PyTorch module becomes a shared library of verified, tuned kernels.

    model = fact.compile(module, inputs)      # export, compile, tune, load
    y = model(*inputs)

    library = fact.load("model.so")           # anywhere; needs only torch
    model = library.create(module)            # or a dict, or "weights.safetensors"

Only `export` and what calls it need torch-mlir; importing this package does not.
"""

from .errors import FactError
from .library import Library, Model, load
from .compiler import build, bundle, compile
from .export import ExportedGraph, export

__version__ = "0.1.0"
__all__ = [
    "ExportedGraph",
    "FactError",
    "Library",
    "Model",
    "build",
    "bundle",
    "compile",
    "export",
    "load",
]
