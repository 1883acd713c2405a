# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of test/emulation: the emulation itself, and parts of kernels that no module shows alone."""

import platform
import shutil
import subprocess

import pytest

from fact import toolchain

pytestmark = pytest.mark.skipif(toolchain.find_nvcc() is None, reason="there are no CUDA headers: no nvcc")


def emulated_program(root, folder, name, headers=()):
    """A program of test/emulation, compiled with a bundle's headers."""
    for header in headers:
        (folder / "fact" / "cutlass").mkdir(parents=True, exist_ok=True)
        shutil.copy(header, folder / "fact" / "cutlass")
    environment = toolchain.environment() | {"FACT_CACHE_DIR": str(root / "build" / "emulated")}
    nvcc = root / "test" / "emulation" / "nvcc"
    for words in (["-c", root / "test" / "emulation" / f"{name}.cu", "-o", folder / f"{name}.o",
                   f"-I{folder}", f"-I{root / 'include'}"],
                  [folder / f"{name}.o", "-o", folder / name]):
        subprocess.run([nvcc, *words], env=environment, check=True)
    return folder / name


@pytest.fixture(scope="module")
def selftest(root, tmp_path_factory):
    program = emulated_program(root, tmp_path_factory.mktemp("selftest"), "selftest")
    return lambda name: subprocess.run([program, name], text=True, capture_output=True,
                                       timeout=60)


@pytest.mark.parametrize("name, says", [
    ("reverse", "right"), ("reverse_async", "right"), ("product", "right"),
    ("no barrier", "wrong"), ("no wait", "wrong"),
    ("absent", "reads a lane that does not take part"),
    ("stuck", "wait for others that do not come"), pytest.param("misaligned", None, marks=pytest.mark.skipif(
        platform.machine() != "x86_64", reason="other processors load misaligned vectors"))])
def test_mistakes_show(selftest, name, says):
    process = selftest(name)
    assert (process.returncode == 0) == (says in ("right", "wrong")), process
    assert says is None or says in process.stdout + process.stderr, process


def test_operand_copies(root, tmp_path):
    """The kernels that bring operands of f32 into the order that wgmma reads."""
    kernels = root / "lib" / "Target" / "Cuda"
    headers = [*(kernels / "Common" / "Kernels").glob("*.cuh"),
               kernels / "Sm90" / "Kernels" / "OperandCopies.cuh"]
    program = emulated_program(root, tmp_path, "operand_copies", headers)
    process = subprocess.run([program], text=True, capture_output=True, timeout=300)
    assert process.stdout == "right\n", process


def test_extremes_do_not_depend_on_the_order(root, tmp_path):
    program = emulated_program(root, tmp_path, "extremes",
                               (root / "lib" / "Target" / "Cuda" / "Common").rglob("*.cuh"))
    process = subprocess.run([program], text=True, capture_output=True, timeout=60)
    assert process.stdout == "f32 right, f64 right\n", process


def test_variances_of_parts_of_rows(root, tmp_path):
    program = emulated_program(root, tmp_path, "moments",
                               (root / "lib" / "Target" / "Cuda" / "Common").rglob("*.cuh"))
    process = subprocess.run([program], text=True, capture_output=True, timeout=60)
    assert process.stdout == "right\n", process


def test_places_of_rows_with_ties(root, tmp_path):
    """Sorts and selections are stable, and order NaNs and zeros as PyTorch does."""
    program = emulated_program(root, tmp_path, "sorts",
                               (root / "lib" / "Target" / "Cuda" / "Common").rglob("*.cuh"))
    process = subprocess.run([program], text=True, capture_output=True, timeout=300)
    assert process.stdout == "right\n", process


def test_scalars_are_as_exact_as_they_say(root, tmp_path):
    program = emulated_program(root, tmp_path, "scalars",
                               (root / "lib" / "Target" / "Cuda" / "Common").rglob("*.cuh"))
    process = subprocess.run([program], text=True, capture_output=True, timeout=120)
    assert process.stdout == "".join(f"{name} right\n" for name in (
        "sine", "cosine", "sign of the inverse", "log1p", "root", "power", "quotient",
        "quotient of any numbers", "maximum", "minimum")), process


def test_indices_out_of_range_read_nothing(root, tmp_path):
    program = emulated_program(root, tmp_path, "gathers",
                               (root / "lib" / "Target" / "Cuda" / "Common").rglob("*.cuh"))
    process = subprocess.run([program], text=True, capture_output=True, timeout=60)
    assert process.stdout == "direct right, chained right\n", process
