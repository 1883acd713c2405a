# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""References against PyTorch in fp64, special values included.

CUDA and the host share the text of a reference, so what is executed here is also what
candidates are compared with on a GPU; that nvcc takes it is a test of its own.
"""

import os
import re
import shutil
import subprocess

import pytest
import torch

from fact import toolchain
from references.decisions import decisions
from references.growth import growing
from references.region import INCLUDES, ROOT, References, emit
from references.suite import suite

if not os.environ.get("FACT_REQUIRE_COMPILER") and toolchain.find_tool("fact-translate") is None:
    pytest.skip("fact-translate is not built", allow_module_level=True)

REGIONS = list(suite())
DECISIONS = list(decisions())
GROWING = list(growing())


@pytest.fixture(scope="module")
def references(tmp_path_factory):
    return References(REGIONS, tmp_path_factory.mktemp("references"))


@pytest.fixture(scope="module")
def deciding(tmp_path_factory):
    return References(DECISIONS, tmp_path_factory.mktemp("decisions"))


@pytest.fixture(scope="module")
def growth(tmp_path_factory):
    return References(GROWING, tmp_path_factory.mktemp("growth"))


def wide(x):
    return x.double() if x.is_floating_point() else x


def in_range(x):
    """Values that are computed in f32 have its range."""
    magnitude = x.abs()
    outside = (magnitude > torch.finfo(torch.float32).max) | (magnitude < 2.0**-126)
    return torch.where(outside, x.float().double(), x)


def compare(name, found, expected, kernel_type, tolerance):
    assert found.shape == expected.shape, name
    if not found.is_floating_point():
        assert torch.equal(found, expected.to(found.dtype)), f"{name}: {found} and not {expected}"
        return
    if kernel_type != "f64":
        expected = in_range(expected)
    found, expected = found.double(), expected.double()
    if kernel_type in ("bf16", "f16"):
        # The result itself is kept in f32.
        expected, tolerance = expected.float().double(), max(tolerance, 2e-7)
    same_class = (found.isnan() == expected.isnan()) & (found.isposinf() == expected.isposinf()) & (
        found.isneginf() == expected.isneginf())
    wrong = ~same_class
    finite = expected.isfinite() & same_class
    scale = expected[finite].abs().mean() if finite.any() else 0
    error = (found - expected).abs()
    wrong |= finite & (error > tolerance * (expected.abs() + 1e-2 * scale) + 1e-300)
    assert not wrong.any(), (f"{name}: {int(wrong.sum())} of {wrong.numel()} are wrong, such as "
                             f"{found[wrong][:4]} and not {expected[wrong][:4]} at {wrong.nonzero()[:4]}")


@pytest.mark.parametrize("index", range(len(REGIONS)), ids=[region.name for region in REGIONS])
def test_reference(references, index):
    region = REGIONS[index]
    results, doubts = references.run(index)
    expected = region.truth(*[wide(x) for x in region.operands])
    assert len(results) == len(expected)
    flags = region.undecided(*[wide(x) for x in region.operands]) if region.undecided else None
    for i, ((_, type), found, truth) in enumerate(zip(region.yields, results, expected)):
        kernel_type = type[:-1].split("x")[-1].removeprefix("tensor<")
        name = f"{region.name}, result {i} ({region.body[i] if i < len(region.body) else ''})"
        compare(name, found, truth, kernel_type, region.tolerance or 1e-12)
        # Where the operands are what they are, nothing is left open, but for what is said.
        if doubts[i] is not None:
            undecided = doubts[i].isinf()
            wanted = flags[i] if flags and flags[i] is not None else torch.zeros_like(undecided)
            assert torch.equal(undecided, wanted), name


@pytest.mark.parametrize("index", range(len(DECISIONS)), ids=[region.name for region in DECISIONS])
def test_undecided(deciding, index):
    """Elements that rounding may decide are marked, and few others."""
    region = DECISIONS[index]
    results, doubts = deciding.run(index)
    # A float may be off by a jump, of 1 or more; others are not compared.
    undecided = [doubt if doubt is None else doubt >= 1 for doubt in doubts]
    certain, impossible = region.undecided(*[wide(x) for x in region.operands])
    for flags, must, never in zip(undecided, certain, impossible):
        assert flags is not None, f"{region.name}: its result is not among those that can be"
        missing, surplus = must & ~flags, never & flags
        assert not missing.any(), f"{region.name}: decided at {missing.nonzero()[:5].tolist()}"
        assert not surplus.any(), f"{region.name}: undecided at {surplus.nonzero()[:5].tolist()}"
    truths = region.truth(*[wide(x) for x in region.operands])
    for found, doubt, truth in zip(results, doubts, truths):
        if found.is_floating_point():
            within = (found.double() - truth.double()).abs() <= doubt
            open_or_equal = within | torch.isclose(found.double(), truth.double(), rtol=1e-5,
                                                   atol=1e-6, equal_nan=True)
        else:
            open_or_equal = doubt.isinf() | (found == truth)
        assert open_or_equal.all(), region.name


@pytest.mark.parametrize("index", range(len(GROWING)), ids=[region.name for region in GROWING])
def test_errors_that_grow_are_bounded(growth, index):
    """What f32 arithmetic errs by is within the doubt, which is small away from poles."""
    region = GROWING[index]
    (found,), (doubt,) = growth.run(index)
    narrow, = region.truth(*region.operands)
    error = (narrow.double() - found).abs()
    decided = ~doubt.isinf() & found.isfinite()
    assert (error[decided] <= doubt[decided].double()).all()
    assert decided.float().mean() > 0.3
    scale = found[decided].abs().median()
    assert (error[decided] > 5e-6 * (found[decided].abs() + scale)).any(), "nothing grows here"
    assert doubt[decided].median() < 1e-4 * scale


def test_every_op_has_a_reference():
    folder = ROOT / "dialects/Fact/include/fact/Dialect/Fact"
    names = set()
    for file in ("FactPointwiseOps.td", "FactTensorOps.td"):
        names |= set(re.findall(r'^def Fact_\w+Op\s*:\s*Fact_\w+<"(\w+)"', (folder / file).read_text(),
                                re.M))
    assert len(names) > 40
    used = set(re.findall(r"fact\.(\w+)", " ".join(line for region in REGIONS for line in region.body)))
    assert names - used == set()


def test_nvcc_takes_references(tmp_path):
    """The same text as CUDA, a region of each kind. ccache keeps the object, by content."""
    nvcc = toolchain.find_nvcc()
    if nvcc is None:
        assert not os.environ.get("FACT_REQUIRE_COMPILER"), "nvcc is missing: run `make setup`"
        pytest.skip("nvcc is missing: run `make setup`")
    kinds = ("unary-f32", "unary-i64", "binary-bf16", "cast-f16-i32", "views-f16", "gather-bool-1",
             "rotary-bf16", "sum-f32-02", "prod-i64-2", "argmin-bf16-2", "softmax-bf16-1",
             "layer-f32-1-affine", "matmul-bf16-4-3 transpose_b", "attention-bf16-mask-causal")
    regions = [region for region in REGIONS if region.name in kinds]
    regions += [region for region in DECISIONS if region.name in ("select", "argmax", "matmul")]
    emit(regions, tmp_path).rename(tmp_path / "references.cu")
    words = [str(nvcc), "-std=c++17", "-O1", "-gencode=arch=compute_90a,code=sm_90a", *INCLUDES,
             "-c", "references.cu", "-o", "references.o"]
    if shutil.which("ccache"):
        words.insert(0, "ccache")
    done = subprocess.run(words, cwd=tmp_path, env={**toolchain.environment(), "CCACHE_NOHASHDIR": "1"},
                          capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
