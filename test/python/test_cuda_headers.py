# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every header of CUDA kernels is compiled by nvcc, the one of cuBLAS too.

The sources are candidates of real bundles: the fewest that include every header. Those over
CUTLASS's collectives take a minute each and are left to `make check-full`; test_cuda.py has
compiled two of them.
"""

import concurrent.futures
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from cuda_compiler import compile_source, link
from fact import toolchain

REQUIRED = bool(os.environ.get("FACT_REQUIRE_COMPILER"))
pytestmark = pytest.mark.skipif(
    not REQUIRED and None in (toolchain.find_tool("fact-compile"), toolchain.find_nvcc(),
                              toolchain.find_cutlass(), toolchain.find_cublas()),
    reason="fact-compile, nvcc, CUTLASS or the headers of cuBLAS are missing: run `make setup`")

# What families.mlir has not: a concatenation, and a product that cuBLAS takes.
OTHERS = """
func.func @main(%x: tensor<256x512xbf16>, %w: tensor<512x256xbf16>, %y: tensor<128x512xbf16>)
    -> (tensor<256x256xbf16>, tensor<384x512xbf16>) {
  %0 = fact.matmul %x, %w : (tensor<256x512xbf16>, tensor<512x256xbf16>) -> tensor<256x256xbf16>
  %1 = fact.concat %x, %y dim 0 : (tensor<256x512xbf16>, tensor<128x512xbf16>) -> tensor<384x512xbf16>
  return %0, %1 : tensor<256x256xbf16>, tensor<384x512xbf16>
}
"""

# A product on Blackwell, with every kind of operand of its epilogue and two results.
SM100 = """
func.func @main(%x: tensor<4096x768xbf16>, %w: tensor<3072x768xbf16>, %row: tensor<3072xbf16>,
                %column: tensor<4096x1xbf16>, %y: tensor<4096x3072xbf16>,
                %z: tensor<4096x3072xbf16>)
    -> (tensor<4096x3072xbf16>, tensor<4096x3072xbf16>) {
  %0 = fact.matmul %x, %w transpose_b
    : (tensor<4096x768xbf16>, tensor<3072x768xbf16>) -> tensor<4096x3072xbf16>
  %1 = fact.add %0, %row : (tensor<4096x3072xbf16>, tensor<3072xbf16>) -> tensor<4096x3072xbf16>
  %2 = fact.add %1, %y : (tensor<4096x3072xbf16>, tensor<4096x3072xbf16>) -> tensor<4096x3072xbf16>
  %3 = fact.mul %2, %column : (tensor<4096x3072xbf16>, tensor<4096x1xbf16>) -> tensor<4096x3072xbf16>
  %4 = fact.mul %3, %z : (tensor<4096x3072xbf16>, tensor<4096x3072xbf16>) -> tensor<4096x3072xbf16>
  return %2, %4 : tensor<4096x3072xbf16>, tensor<4096x3072xbf16>
}
"""

# Windows of images on a GPU without TMA.
SM80 = """
func.func @main(%x: tensor<4x31x29x16xbf16>, %w: tensor<40x144xbf16>) -> tensor<4x29x27x40xbf16> {
  %0 = fact.windows %x dim 1 kernel [3, 3] strides [1, 1] dilations [1, 1]
    : (tensor<4x31x29x16xbf16>) -> tensor<4x29x27x3x3x16xbf16>
  %1 = fact.reshape %0 : (tensor<4x29x27x3x3x16xbf16>) -> tensor<4x29x27x144xbf16>
  %2 = fact.matmul %1, %w transpose_b
    : (tensor<4x29x27x144xbf16>, tensor<40x144xbf16>) -> tensor<4x29x27x40xbf16>
  return %2 : tensor<4x29x27x40xbf16>
}
"""


def sources(folder: Path) -> list[dict]:
    """Candidates and references of all kernels, each source once."""
    description = json.loads((folder / "bundle.json").read_text())
    found = {}
    for kernel in description["kernels"]:
        for entry in [*kernel["candidates"], kernel["reference"]]:
            found.setdefault(entry["source"], entry)
    return list(found.values())


def included(folder: Path, path: Path, seen: set[str]) -> set[str]:
    """The bundle's headers that a file includes, directly or not, by name."""
    for name in re.findall(r'#include "([^"]+)"', path.read_text()):
        header = folder / "include" / name
        if not header.exists():
            header = path.parent / name
        if header.exists() and header.name not in seen:
            seen.add(header.name)
            included(folder, header, seen)
    return seen


def over_cutlass(folder: Path, source: str) -> bool:
    headers = included(folder, folder / source, set())
    return any(path.name in headers and "_tma_warpspecialized" in path.read_text()
               for path in (folder / "include").rglob("*.cuh"))


def fewest(choices: list[tuple[Path, dict, set[str]]], wanted: set[str]) -> list[tuple[Path, dict]]:
    """Sources that together include what is wanted, found greedily."""
    taken, missing = [], set(wanted)
    while missing:
        folder, entry, headers = max(choices, key=lambda choice: len(choice[2] & missing))
        assert headers & missing, f"no source includes {sorted(missing)}"
        taken.append((folder, entry))
        missing -= headers
    return taken


@pytest.fixture(scope="module")
def chosen(root, tmp_path_factory):
    """Sources that include every header: without CUTLASS's collectives, and over them the rest."""
    folder = tmp_path_factory.mktemp("headers")
    (folder / "others.mlir").write_text(OTHERS)
    (folder / "sm100.mlir").write_text(SM100)
    (folder / "sm80_windows.mlir").write_text(SM80)
    bundles = {"families": root / "test" / "gpu" / "families.mlir",
               "float32": root / "test" / "gpu" / "float32.mlir",
               "strict_attention": root / "test" / "gpu" / "strict_attention.mlir",
               "convolutions": root / "test" / "gpu" / "convolutions.mlir",
               "windows": root / "test" / "gpu" / "windows.mlir",
               "sm80_attention": root / "test" / "gpu" / "sm80_attention.mlir",
               "sm80": root / "test" / "gpu" / "sm80.mlir",
               "rows": root / "test" / "gpu" / "rows.mlir",
               "sorts": root / "test" / "gpu" / "sorts.mlir",
               "tiles": root / "test" / "gpu" / "tiles.mlir",
               "sm100": folder / "sm100.mlir",
               "sm80_windows": folder / "sm80_windows.mlir",
               "others": folder / "others.mlir"}
    for name, text in bundles.items():
        target = {"sm100": "sm_100a", "sm80_windows": "sm_80"}.get(name, "sm_90a")
        subprocess.run([toolchain.require_tool("fact-compile"), text, f"--target={target}",
                        "--until=bundle", f"--bundle={folder / name}"], check=True)
    wanted = {path.name for path in (root / "lib" / "Target" / "Cuda").glob("*/Kernels/*.cuh")}
    choices = [(where, entry, included(where, where / entry["source"], set()) & wanted)
               for where in (folder / name for name in bundles) for entry in sources(where)]
    plain = [choice for choice in choices if not over_cutlass(choice[0], choice[1]["source"])]
    reached = set().union(*(headers for _, _, headers in plain))
    assert "CublasGemm.cuh" in reached
    return {False: fewest(plain, reached), True: fewest(choices, wanted - reached)}


@pytest.mark.parametrize("collectives", [False, pytest.param(True, marks=pytest.mark.full)])
def test_every_header_compiles(chosen, tmp_path, collectives):
    taken = chosen[collectives]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(compile_source, where, entry, tmp_path / f"{number}.o")
                for number, (where, entry) in enumerate(taken)]
    for (_, entry), job in zip(taken, jobs):
        process = job.result()
        assert process.returncode == 0, f"{entry['source']}:\n{process.stdout[-4000:]}"


def test_two_sources_of_a_bundle_are_compiled_at_once(tmp_path):
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: link(tmp_path, "cutlass", tmp_path), range(64)))
    assert (tmp_path / "cutlass").samefile(tmp_path)
