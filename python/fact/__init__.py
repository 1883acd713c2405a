# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FACT: a PyTorch module becomes a shared library of verified, tuned kernels.

    model = fact.compile(module, inputs)      # export, compile, tune, load
    y = model(*inputs)

    library = fact.load("model.so", "weights.safetensors")    # anywhere; needs only torch
    y = library(*inputs)

    fast = torch.compile(module, backend="fact")              # graph by graph

Only `export` and what calls it need torch-mlir; importing this package does not.
"""

# The first warns of an old PyTorch, before others fail for it.
from . import torch_version  # noqa: F401
from .compiler import build, bundle, compile
from .errors import FactError, FactWarning
from .export import ExportedGraph, export
from .library import Library, Model, load
from .registration import register_backend
from .toolchain import include_dir

register_backend()

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
    "include_dir",
    "load",
]


def __getattr__(name: str) -> str:
    """`__version__`, which Git is asked for in a checkout."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .version import version

    return version()
