# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes docs/supported-ops.md: what is registered in the compiler and tested here.

    .venv/bin/python test/python/execution/supported_ops.py

writes the page again; test_supported_ops.py fails while it is stale.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT / "python"), str(Path(__file__).parent)]

import operators  # noqa: E402
from fact import toolchain  # noqa: E402
from fact.export import export  # noqa: E402

PAGE = ROOT / "docs" / "supported-ops.md"

ORDER = ["fp32", "bf16", "fp16", "fp64", "i64", "i32", "i8", "bool"]

# Where the groups are.
FILES = sorted(path.stem for path in Path(__file__).parent.glob("test_*.py")
               if path.stem != "test_supported_ops")

# What the name does not say.
NOTES = {
    "aten.Float.bool": "a constant",
    "aten.Int.bool": "a constant",
    "aten.dropout": "outside of training",
    "aten.einsum": "any number of operands, ellipsis, diagonals",
    "aten.embedding": "an index outside the table gives NaN",
    "aten.empty_like": "zeros",
    "aten.index.Tensor": "integer indices; [a mask](python.md#compile-and-call)",
    "aten.index_put": "integer indices, or one mask with one value",
    "aten.linalg_vector_norm": "orders 1, 2, inf, -inf",
    "aten.max.dim": "values and indices",
    "aten.min.dim": "values and indices",
    "aten.native_group_norm": "the first result",
    "aten.native_layer_norm": "the first result",
    "aten.pad": "mode `constant`",
    "aten.pow.Tensor_Scalar": "integers to whole powers",
    "aten.pow.Scalar": "of integers, exponents up to 63",
    "aten.pow.Tensor_Tensor": "of integers, exponents up to 63",
    "aten.rrelu": "outside of training",
    "aten.scaled_dot_product_attention":
        "mask, `is_causal`, `scale`, `enable_gqa`; a query that sees no key gives 0",
    "aten.slice_scatter": "step 1",
}


def registered() -> list[str]:
    """The names that the conversion knows, without `torch.`."""
    tool = str(toolchain.require_tool("fact-compile"))
    process = subprocess.run([tool, "--print-supported-ops"], capture_output=True, text=True,
                             check=True)
    names = [line.removeprefix("torch.") for line in process.stdout.splitlines()
             if line.startswith("torch.")]
    return [name for name in names if name.startswith(("aten.", "prims."))]


def tested(group_types: Callable[[operators.Group], Sequence[str]]) -> dict[str, set[str]]:
    """The types in which each op is executed; what has not run here is exported only."""
    types: dict[str, set[str]] = {}
    for file in FILES:
        importlib.import_module(file)
    for name, group in operators.GROUPS.items():
        for dtype in group_types(group):
            text = operators.TESTED.get((name, dtype))
            if text is None:
                text = export(group, group.inputs_in(dtype), name=name).text
            for op, found in operators.ops_in(text).items():
                types.setdefault(op, set()).update(found)
    return types


def page(group_types: Callable[[operators.Group], Sequence[str]] = lambda group: group.types) -> str:
    """The page, of the types in which `group_types` has a group executed: by default all of them."""
    types = tested(group_types)
    lines = [
        "# Supported ops",
        "",
        "The ops of torch-mlir that `convert-torch-to-fact` takes, with the element types in",
        "which tests execute them on the host and compare them with PyTorch in fp64. An op",
        "without types has a conversion test alone: it is another name of one that is executed.",
        "An op that is not here is written out in terms of these when a module is exported, if",
        "PyTorch or `python/fact/forms` can, as convolutions, pools, batch norms and resizes of",
        "`torch.nn` are; else it is an error that names it, its Python line, and another of almost",
        "the same name if there is one. Ops on constants alone are folded.",
        "",
        "| op | executed in | |",
        "|---|---|---|",
    ]
    for name in registered():
        found = ", ".join(t for t in ORDER if t in types.get(name, ()))
        # Lists of tensors show no types of their own.
        found = found or ("lists" if name in types else "")
        lines.append(f"| `{name}` | {found} | {NOTES.get(name, '')} |")
    lines += ["", f"`python {Path(__file__).relative_to(ROOT)}` writes this page."]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
