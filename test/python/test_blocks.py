# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model of many equal blocks compiles the kernels of one."""

import json
import os
import runpy

import pytest
import torch

from fact import toolchain
from fact.compiler import bundle


def bundle_of(root, tmp_path, blocks: int, target: str):
    """The bundle of a Llama with `blocks` blocks, and its kernels' files by name."""
    workload = runpy.run_path(str(root / "examples" / "workloads" / "llama3_block.py"))
    sizes = {name: size for name, size in workload["SMALL"].items()
             if name not in ("batch", "tokens")}
    model = torch.nn.Sequential(*(workload["Model"](**sizes) for _ in range(blocks)))
    folder = tmp_path / f"{blocks}-{target}"
    bundle(model.bfloat16(), workload["get_inputs"](2, 16, sizes["width"])[0].bfloat16(),
           target=target, output=folder, name="llama", candidates=2)
    files = {str(path.relative_to(folder)): path.read_bytes()
             for path in (folder / "kernels").rglob("*") if path.is_file()}
    return json.loads((folder / "bundle.json").read_text()), files


@pytest.mark.parametrize("target", ["host", "sm_90a"])
def test_kernels_do_not_grow_with_blocks(root, tmp_path, target):
    if not toolchain.find_tool("fact-compile"):
        if os.environ.get("FACT_REQUIRE_COMPILER"):
            raise FileNotFoundError("fact-compile is not built")
        pytest.skip("needs fact-compile")
    few, files = bundle_of(root, tmp_path, 2, target)
    many, more = bundle_of(root, tmp_path, 8, target)
    assert more == files
    # A kernel that more steps launch is tuned earlier.
    without_priority = [[{key: value for key, value in kernel.items() if key != "priority"}
                         for kernel in each["kernels"]] for each in (few, many)]
    assert without_priority[0] == without_priority[1]
    for steps in ("prepare", "program"):
        assert len(many[steps]) == 4 * len(few[steps]) > 0
    # Buffers between blocks are used again.
    assert many["workspace_bytes"] == few["workspace_bytes"]
    if target == "sm_90a":
        assert sorted(kernel["rule"] for kernel in few["kernels"]) == [
            "attention", "concat", "gated_gemm", "gemm_epilogue", "gemm_epilogue", "gemm_epilogue",
            "rowwise"]
