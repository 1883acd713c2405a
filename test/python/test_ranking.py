# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""test/gpu/ranking.py, as far as it needs no GPU."""

import ctypes
import subprocess
import sys

import pytest

from fact import toolchain


@pytest.fixture
def ranking(root, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "test" / "gpu"))
    import ranking
    yield ranking
    sys.modules.pop("ranking")


def test_the_suite(ranking):
    shapes = ranking.shapes()
    assert len(shapes) >= 200 and len(set(shapes)) == len(shapes)
    assert all(n % 8 == 0 and k % 8 == 0 for _, _, n, k in shapes)


def test_losses_count_compilations(ranking):
    keys = ["a, swizzle = 1>", "a, swizzle = 2>", "b, swizzle = 1>", "c, swizzle = 1>"]
    times = dict(zip(keys, [3.0, 2.0, 1.0, 4.0], strict=True))
    predicted = dict(zip(keys, [1.0, 1.5, 3.0, 2.0], strict=True))
    assert ranking.losses(times, predicted, [1, 2, 3]) == [2.0, 2.0, 1.0]


@pytest.mark.skipif(toolchain.find_tool("fact-compile") is None, reason="fact-compile is not built")
def test_one_source_serves_all_shapes(ranking, tmp_path):
    first = ranking.candidates((1, 4096, 1024, 512), "tf32", tmp_path / "first", "sm_90a")
    second = ranking.candidates((8, 200, 72, 136), "tf32", tmp_path / "second", "sm_90a")
    assert {candidate["text"] for candidate in first.values()} == {
        candidate["text"] for candidate in second.values()}
    key = next(iter(first))
    assert first[key]["sizes"] != second[key]["sizes"] and first[key]["predicted_us"] > 0
    assert (tmp_path / "first" / "include" / "fact" / "cutlass" / "Gemm.cuh").exists()


def test_kernels_are_called_as_the_header_says(ranking, root, tmp_path):
    (tmp_path / "sizes.c").write_text("""
        #include "fact/Runtime/Kernel.h"
        #include <stddef.h>
        #include <stdio.h>
        int main(void) {
          printf("%zu %zu %zu %zu", sizeof(FactKernel), offsetof(FactKernel, packed_operand),
                 offsetof(FactKernel, pack_on_device), offsetof(FactKernel, measure));
        }""")
    subprocess.run(["cc", f"-I{root / 'include'}", "sizes.c", "-o", "sizes"], cwd=tmp_path, check=True)
    printed = subprocess.run([tmp_path / "sizes"], capture_output=True, text=True, check=True).stdout
    kernel = ranking.Kernel
    offsets = [kernel.packed_operand.offset, kernel.pack_on_device.offset, kernel.measure.offset]
    assert [int(word) for word in printed.split()] == [ctypes.sizeof(kernel), *offsets]
