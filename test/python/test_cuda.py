# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bundles for a GPU, and their kernels compiled by the real nvcc.

Nothing runs here. A kernel that compiles can still be wrong (`make check-gpu` looks at
numbers), but one that does not compile, spills registers or serializes its tensor-core
instructions is found without a GPU. nvcc takes about a minute for a CUTLASS kernel, so of
each kernel only the candidate with the best predicted time is compiled, two at a time.
"""

import concurrent.futures
import json
import os
import re
import subprocess
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from cuda_compiler import compile_source
from fact import toolchain
from fact.compiler import bundle
from fact.workload import load_workload

# `make check` has built everything, so there nothing may be skipped.
REQUIRED = bool(os.environ.get("FACT_REQUIRE_COMPILER"))
if not REQUIRED:
    pytest.importorskip("torch_mlir")
    if toolchain.find_tool("fact-compile") is None:
        pytest.skip("fact-compile is not built", allow_module_level=True)

TARGET = "sm_90a"

def read(folder: Path) -> dict:
    return json.loads((folder / "bundle.json").read_text())


def rules(description: dict) -> list[str]:
    """The rule of each step, in order."""
    by_name = {kernel["name"]: kernel["rule"] for kernel in description["kernels"]}
    return [by_name[step["kernel"]] for step in description["program"]]


def workload(root, name, device="cpu"):
    """A workload at full size in bf16; on the meta device it takes no memory."""
    with torch.device(device):
        return load_workload(str(root / "examples" / "workloads" / f"{name}.py"), dtype="bf16",
                             device=device)


class Gate(nn.Module):
    def forward(self, x, y):
        return F.silu(x) * torch.sigmoid(y) + F.softplus(x).clamp(max=4.0)


@pytest.fixture(scope="module")
def bundles(root, tmp_path_factory):
    """MiniGPT at full size, whose mask has to have values, and one pointwise kernel."""
    folder = tmp_path_factory.mktemp("bundles")
    block = workload(root, "mini_gpt_block")
    bundle(block.module, block.inputs, target=TARGET, output=folder / "mini_gpt")
    inputs = [torch.empty(4096, 1024, dtype=torch.bfloat16, device="meta") for _ in range(2)]
    bundle(Gate(), inputs, target=TARGET, output=folder / "gate")
    return folder


# What becomes one kernel.


def test_mini_gpt_is_seven_kernels(bundles):
    description = read(bundles / "mini_gpt")
    assert rules(description) == [
        "rowwise", "gemm_epilogue", "attention", "gemm_epilogue",
        "rowwise", "gemm_epilogue", "gemm_epilogue",
    ]
    kernels = {kernel["name"]: kernel for kernel in description["kernels"]}
    ops = [kernels[step["kernel"]]["ops"] for step in description["program"]]
    assert ops[0] == ops[4] == ["norm"]
    views = {"slice", "reshape", "permute", "expand", "cast"}
    computing = [[op for op in step if op not in views] for step in ops]
    assert computing[1] == ["matmul", "add"]
    assert computing[2] == ["attention"]
    assert computing[3] == computing[6] == ["matmul", "add", "add"]
    assert computing[5] == ["matmul", "add", "gelu"]
    # Attention reads q, k and v where the product wrote them.
    assert len(description["program"][2]["operands"]) == 1


def test_mask_that_was_proven_causal_is_baked(bundles):
    weights = {entry["name"]: entry for entry in read(bundles / "mini_gpt")["weights"]}
    baked = [name for name, entry in weights.items() if entry.get("baked")]
    assert baked == ["attention.causal"]


def test_llama_becomes_a_bundle_without_data(root, tmp_path):
    block = workload(root, "llama3_block", device="meta")
    description = read(bundle(block.module, block.inputs, target=TARGET, output=tmp_path / "llama"))
    assert rules(description) == [
        "rowwise", "gemm_epilogue", "attention", "gemm_epilogue",
        "rowwise", "gated_gemm", "gemm_epilogue",
    ]
    # One product for queries, keys and values, whose weights are joined at load.
    kernels = {kernel["name"]: kernel for kernel in description["kernels"]}
    assert [kernels[step["kernel"]]["rule"] for step in description["prepare"]] == ["concat"]
    assert len(description["program"][2]["operands"]) == 1
    for kernel in description["kernels"]:
        assert kernel["candidates"], kernel["name"]


# What nvcc says.


def chosen(bundles) -> dict[str, tuple[Path, dict]]:
    """One kernel of each family, by rule."""
    found = {}
    for folder in (bundles / "mini_gpt", bundles / "gate"):
        for kernel in read(folder)["kernels"]:
            if kernel["rule"] != "gemm_epilogue" or "gelu" in kernel["ops"]:
                found.setdefault(kernel["rule"], (folder, kernel))
    return found


@pytest.fixture(scope="module")
def compiled(bundles, tmp_path_factory):
    """Symbol, object and the compiler's result, by rule and kind of source."""
    if not REQUIRED and (toolchain.find_nvcc() is None or toolchain.find_cutlass() is None):
        pytest.skip("nvcc or CUTLASS is not installed")
    assert toolchain.find_nvcc() and toolchain.find_cutlass(), "run `make setup`"
    folder = tmp_path_factory.mktemp("objects")
    jobs = {}
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        # The slow ones first, so that the quick ones fill the gaps.
        order = ["attention", "gemm_epilogue", "rowwise", "pointwise"]
        for kind in ("candidate", "reference"):
            for rule in order:
                where, kernel = chosen(bundles)[rule]
                source = kernel["candidates"][0] if kind == "candidate" else kernel["reference"]
                output = folder / f"{rule}-{kind}.o"
                job = pool.submit(compile_source, where, source, output)
                jobs[rule, kind] = source["symbol"], output, job
    return {key: (symbol, output, job.result()) for key, (symbol, output, job) in jobs.items()}


@pytest.mark.parametrize("kind", ["candidate", "reference"])
@pytest.mark.parametrize("rule", ["gemm_epilogue", "attention", "rowwise", "pointwise"])
def test_kernels_compile(compiled, rule, kind):
    symbol, output, process = compiled[rule, kind]
    assert process.returncode == 0, process.stdout[-4000:]
    listing = subprocess.run(["nm", "--defined-only", "--extern-only", output], check=True,
                             text=True, stdout=subprocess.PIPE).stdout
    # Data, not a function: a FactKernel.
    assert re.search(rf"^[0-9a-f]+ [BDRV] {symbol}$", listing, re.MULTILINE), listing
    if kind == "candidate":
        check_assembler(process.stdout)


def check_assembler(log: str):
    """ptxas reports each kernel, none spills, and wgmma is not serialized."""
    spills = re.findall(r"(\d+) bytes spill stores, (\d+) bytes spill loads", log)
    assert spills, f"no report of ptxas:\n{log[-4000:]}"
    assert all(spill == ("0", "0") for spill in spills), log[-4000:]
    assert "C7510" not in log and "C7511" not in log, log[-4000:]
