#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plain kernels of a bundle as few sources, for tests that compile thousands of them.

    unite.py [--candidates N] BUNDLE ...

nvcc takes longer for the headers of a plain kernel than for the kernel. This puts the sources of kernels
that do not use CUTLASS together, some of one family per file. Of each kernel, it keeps the best predicted
candidate and the fallback, for fact-tune --untuned. With --candidates, it keeps those of the N best
predicted objects and cuBLAS, which fact-tune measures then. Sources that nothing uses are deleted.
"""

import argparse
import json
from pathlib import Path

PER_SOURCE = 9
# These take nvcc a minute each, and go alone.
HEAVY = ("/Gemm.cuh", "/Float32Gemm.cuh", "/GatedGemm.cuh", "/GroupedGemm.cuh", "/PackedGemm.cuh",
         "/CublasGemm.cuh", "/Attention.cuh", "/Sm100Gemm.cuh")


def headers(text: str) -> tuple[str, ...]:
    return tuple(line for line in text.splitlines() if line.startswith("#include"))


def is_heavy(text: str) -> bool:
    return any(f'{name}"' in line for line in headers(text) for name in HEAVY)


def best(candidates: list[dict]) -> list[dict]:
    """The candidate to take without a measurement; cuBLAS has to be measured to be used."""
    return [min(candidates, key=lambda each: (each["key"].startswith("cublas"), each.get("predicted_us", 0)))]


def measured(candidates: list[dict], most: int) -> list[dict]:
    """Those of the `most` best predicted objects, and cuBLAS: what fact-tune would measure."""
    objects: list[str] = []
    kept = []
    for each in sorted(candidates, key=lambda each: each.get("predicted_us", 0)):
        if not each["key"].startswith("cublas") and each["source"] not in objects:
            if len(objects) == most:
                continue
            objects.append(each["source"])
        kept.append(each)
    return kept


def unite(bundle: Path, most: int) -> None:
    content = json.loads((bundle / "bundle.json").read_text())
    # Texts and candidates of each symbol, by headers: names of two families may clash.
    plain: dict[tuple[str, ...], dict[str, tuple[str, list]]] = {}
    for kernel in content["kernels"]:
        fallback = [each for each in kernel["candidates"] if each.get("fallback")]
        candidates = [each for each in kernel["candidates"] if not each.get("fallback")] or fallback
        kept = measured(candidates, most) if most else best(candidates)
        kernel["candidates"] = [*kept, *(each for each in fallback if each not in kept)]
        # A plain product would rank candidates that are gone.
        kernel.pop("product", None)
        for each in kept:
            text = (bundle / each["source"]).read_text()
            if not is_heavy(text) and not each.get("flags") and not each.get("link"):
                plain.setdefault(headers(text), {}).setdefault(each["symbol"], (text, []))[1].append(each)
    parts = [entries[begin:begin + PER_SOURCE]
             for entries in (list(each.values()) for each in plain.values())
             for begin in range(0, len(entries), PER_SOURCE)]
    for number, part in enumerate(parts):
        source = f"kernels/united{number}.cu"
        (bundle / source).write_text("\n".join(text for text, _ in part))
        for _, candidates in part:
            for candidate in candidates:
                candidate["source"] = source
    written = json.dumps(content)
    (bundle / "bundle.json").write_text(written)
    for source in (bundle / "kernels").rglob("*.cu"):
        if f'"{source.relative_to(bundle)}"' not in written:
            source.unlink()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--candidates", type=int, default=0, metavar="N")
    parser.add_argument("bundles", nargs="+", type=Path)
    arguments = parser.parse_args()
    for folder in arguments.bundles:
        unite(folder, arguments.candidates)
