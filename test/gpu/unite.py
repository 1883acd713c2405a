#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plain kernels of a bundle as few sources, for tests that compile thousands of them.

    unite.py BUNDLE ...

nvcc takes longer for the headers of a plain kernel than for the kernel. This keeps the best predicted
candidate of each kernel, and the fallback, and puts the sources of those that do not use CUTLASS together,
some of one family per file. Such bundles are for fact-tune --untuned.
"""

import json
import sys
from pathlib import Path

PER_SOURCE = 9
# These take nvcc a minute each, and go alone.
HEAVY = ("/Gemm.cuh", "/Float32Gemm.cuh", "/GatedGemm.cuh", "/GroupedGemm.cuh", "/PackedGemm.cuh",
         "/CublasGemm.cuh", "/Attention.cuh", "/Sm100Gemm.cuh")


def headers(text: str) -> tuple[str, ...]:
    return tuple(line for line in text.splitlines() if line.startswith("#include"))


def is_heavy(text: str) -> bool:
    return any(f'{name}"' in line for line in headers(text) for name in HEAVY)


def unite(bundle: Path) -> None:
    content = json.loads((bundle / "bundle.json").read_text())
    # Texts and candidates of each symbol, by headers: names of two families may clash.
    plain: dict[tuple[str, ...], dict[str, tuple[str, list]]] = {}
    for kernel in content["kernels"]:
        candidates = [each for each in kernel["candidates"] if not each.get("fallback")]
        # cuBLAS has to be measured to be used.
        best = min(candidates or kernel["candidates"],
                   key=lambda each: (each["key"].startswith("cublas"), each.get("predicted_us", 0)))
        kernel["candidates"] = [best, *(each for each in kernel["candidates"]
                                        if each.get("fallback") and each is not best)]
        # A plain product would rank candidates that are gone.
        kernel.pop("product", None)
        text = (bundle / best["source"]).read_text()
        if not is_heavy(text) and not best.get("flags") and not best.get("link"):
            plain.setdefault(headers(text), {}).setdefault(best["symbol"], (text, []))[1].append(best)
    parts = [entries[begin:begin + PER_SOURCE]
             for entries in (list(each.values()) for each in plain.values())
             for begin in range(0, len(entries), PER_SOURCE)]
    for number, part in enumerate(parts):
        source = f"kernels/united{number}.cu"
        (bundle / source).write_text("\n".join(text for text, _ in part))
        for _, candidates in part:
            for candidate in candidates:
                candidate["source"] = source
    (bundle / "bundle.json").write_text(json.dumps(content))


if __name__ == "__main__":
    for folder in sys.argv[1:]:
        unite(Path(folder))
