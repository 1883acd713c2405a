# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernel of cuBLASLt runs the algorithm that was verified, and no other: CublasGemm.cuh,
compiled for the host, with a library in cuBLASLt's place that says what it was asked."""

import ctypes
import os
import shutil
import struct
import subprocess

import pytest

from fact import toolchain

REQUIRED = bool(os.environ.get("FACT_REQUIRE_COMPILER"))
pytestmark = pytest.mark.skipif(
    not REQUIRED and None in (toolchain.find_nvcc(), toolchain.find_cublas()),
    reason="nvcc or the headers of cuBLAS are missing: run `make setup`")

# Two symbols of one type. The bias has an address only when it is bound.
SOURCE = """
#include "fact/cutlass/CublasGemm.cuh"

namespace fact::product {
using Kernel = CublasGemm<Problem<64, 32, 128>, RowMajor<0, bf16, 128>, ColumnMajor<1, bf16, 128>,
                          Operands<RowVector<2, bf16>>, RowMajor<3, bf16, 32>>;
FACT_KERNEL(product, Kernel)
FACT_KERNEL(product_again, Kernel)
} // namespace fact::product
"""

NOT_PERMITTED = 800  # cudaErrorNotPermitted
INVALID_VALUE = 7  # CUBLAS_STATUS_INVALID_VALUE


class FactKernel(ctypes.Structure):
    BIND = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p,
                            ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p)
    LAUNCH = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    CHOICE = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_char_p)
    _fields_ = [("abi", ctypes.c_uint32), ("buffer_count", ctypes.c_uint32),
                ("state_bytes", ctypes.c_uint64), ("workspace_bytes", ctypes.c_uint64),
                ("bind", BIND), ("launch", LAUNCH),
                ("tiles", ctypes.c_uint64), ("tile", ctypes.c_void_p),
                ("packed_operand", ctypes.c_int32), ("packed_with", ctypes.c_uint32),
                ("packed_bytes", ctypes.c_uint64), ("pack_tiles", ctypes.c_uint64),
                ("pack", ctypes.c_void_p), ("pack_on_device", ctypes.c_void_p),
                ("choice_bytes", ctypes.c_uint64), ("choose", CHOICE), ("adopt", CHOICE)]


@pytest.fixture(scope="module")
def built(root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cublas")
    (folder / "fact").mkdir()
    (folder / "fact" / "cutlass").symlink_to(root / "lib" / "Target" / "Cuda" / "Common" / "Kernels")
    (folder / "fact" / "Runtime").symlink_to(root / "include" / "fact" / "Runtime")
    (folder / "product.cpp").write_text(SOURCE)
    nvcc = [str(toolchain.find_nvcc()), f"-I{folder}", f"-I{toolchain.find_cublas()}",
            "-Xcompiler", "-fPIC", "-c"]
    subprocess.run([*nvcc, "-x", "c++", "-std=c++17", folder / "product.cpp", "-o",
                    folder / "product.o"], check=True)
    subprocess.run([*nvcc, "-x", "c", root / "test" / "python" / "fake_cublas.c", "-o",
                    folder / "fake.o"], check=True)
    subprocess.run(["c++", "-shared", folder / "product.o", folder / "fake.o", "-o",
                    folder / "product.so"], check=True)
    return folder / "product.so"


class Product:
    """The library, just loaded: each test has a copy that shares nothing with the others."""

    def __init__(self, path):
        self.library = ctypes.CDLL(str(path))

    def kernel(self, symbol="product"):
        return FactKernel.in_dll(self.library, symbol)

    def number(self, name, type=ctypes.c_int):
        return type.in_dll(self.library, name)

    def set(self, version=None, algorithm=None, workspace=None):
        for name, type, value in [("version", ctypes.c_size_t, version),
                                  ("algorithm", ctypes.c_uint64, algorithm),
                                  ("workspace", ctypes.c_size_t, workspace)]:
            if value is not None:
                self.number(f"fake_{name}", type).value = value

    def choose(self, symbol="product"):
        kernel = self.kernel(symbol)
        choice = ctypes.create_string_buffer(kernel.choice_bytes)
        problem = kernel.choose(choice)
        return choice.raw if problem is None else problem.decode()

    def adopt(self, choice, symbol="product"):
        problem = self.kernel(symbol).adopt(choice)
        return problem.decode() if problem is not None else ""

    def run(self, symbol="product"):
        """The code of `bind`, or the bytes of the algorithm that ran."""
        kernel = self.kernel(symbol)
        state = ctypes.create_string_buffer(kernel.state_bytes + 64)
        address = (ctypes.addressof(state) + 63) // 64 * 64
        buffers = (ctypes.c_void_p * 4)(0x1000, 0x2000, 0x3000, 0x4000)
        if code := kernel.bind(address, None, buffers, None):
            return code
        assert self.number("fake_bias", ctypes.c_void_p).value == 0x3000
        assert kernel.launch(address, None) == 0
        return bytes((ctypes.c_char * 64).in_dll(self.library, "fake_ran"))


@pytest.fixture
def product(built, tmp_path):
    return Product(shutil.copy(built, tmp_path / "product.so"))


def words(choice):
    return struct.unpack("<9Q", choice)


def test_a_choice_is_a_version_and_an_algorithm(product):
    choice = product.choose()
    assert words(choice)[:3] == (130100, 66, 2**64 - 1 - 66)
    # What the ABI promises of addresses; the default is 256.
    assert list((ctypes.c_uint32 * 4).in_dll(product.library, "fake_alignments")) == [16] * 4


def test_nothing_runs_that_was_not_verified(product):
    assert product.run() == NOT_PERMITTED
    product.choose()
    assert product.run() == NOT_PERMITTED
    assert product.number("fake_launches").value == 0


def test_what_was_verified_runs(product):
    choice = product.choose()
    # As in a later process: the heuristic would answer otherwise, and is not asked.
    product.set(algorithm=67)
    assert product.adopt(choice) == ""
    assert product.run() == choice[8:]
    assert product.number("fake_asked").value == 1


def test_another_version_of_the_library(product):
    choice = product.choose()
    product.set(version=130200)
    assert product.adopt(choice) == ("cuBLASLt 130200 is loaded, and the algorithm was verified "
                                     "with 130100; load that, or tune again")
    assert product.run() == NOT_PERMITTED


def test_a_corrupted_algorithm(product):
    choice = product.choose()
    for broken in (choice[:8] + bytes([255] * 64), choice[:8] + bytes([67]) + choice[9:]):
        assert product.adopt(broken) == ("cublasLtMatmulAlgoCheck refuses the algorithm on this "
                                         f"device with status {INVALID_VALUE}; tune again")
    assert product.run() == NOT_PERMITTED


def test_an_algorithm_that_wants_more_workspace(product):
    choice = product.choose()
    product.set(workspace=product.kernel().workspace_bytes + 1)
    assert "more workspace than there is" in product.adopt(choice)


def test_one_choice_for_each_symbol(product):
    first = product.choose()
    product.set(algorithm=70)
    second = product.choose("product_again")
    assert product.adopt(first) == "" and product.adopt(second, "product_again") == ""
    assert product.run() == first[8:] and product.run("product_again") == second[8:]
    # The same again is nothing new; another one is.
    assert product.adopt(first) == ""
    assert product.adopt(second) == "this process uses another one already"
    assert product.run() == first[8:]


def test_no_algorithm(product):
    product.set(algorithm=0)
    assert product.choose() == "cuBLASLt has no algorithm for the product"
