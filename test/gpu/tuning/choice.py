# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The algorithm of cuBLASLt that fact-tune verified is the one that a library runs.

`check` makes a bundle of one bf16 product whose only candidate is cuBLASLt's, tunes it, and
expects the same choice in the report, the database and the library. Then it corrupts the
choice, in copies of the library and in the database: each is refused with a message.
"""

import json
import pathlib
import shutil
import sqlite3
import subprocess

M, N, K = 256, 256, 512
SOURCE = pathlib.Path(__file__).resolve().parents[3]

CANDIDATE = f"""\
#include "fact/cutlass/CublasGemm.cuh"

namespace fact::product {{
using Kernel = CublasGemm<Problem<{M}, {N}, {K}>, RowMajor<0, bf16, {K}>, RowMajor<1, bf16, {N}>,
                          Operands<>, RowMajor<2, bf16, {N}>>;
FACT_KERNEL(product, Kernel)
}} // namespace fact::product
"""

REFERENCE = f"""\
#include "fact/cutlass/Kernel.cuh"

namespace fact::product_reference {{
__global__ void product(bf16 const *a, bf16 const *b, float *d) {{
  int i = blockIdx.x, j = threadIdx.x;
  double sum = 0;
  for (int k = 0; k < {K}; ++k)
    sum += double(float(a[i * {K} + k])) * double(float(b[k * {N} + j]));
  d[i * {N} + j] = float(sum);
}}
struct Kernel {{
  static constexpr int buffer_count = 3;
  static constexpr uint64_t workspace_bytes = 0;
  struct State {{ void *buffers[3]; }};
  static int bind(State &state, void *const *buffers, void *) {{
    for (int i = 0; i < 3; ++i)
      state.buffers[i] = buffers[i];
    return cudaSuccess;
  }}
  static int launch(State &state, cudaStream_t stream) {{
    product<<<{M}, {N}, 0, stream>>>(static_cast<bf16 *>(state.buffers[0]),
                                     static_cast<bf16 *>(state.buffers[1]),
                                     static_cast<float *>(state.buffers[2]));
    return cudaGetLastError();
  }}
}};
FACT_KERNEL(product_reference, Kernel)
}} // namespace fact::product_reference
"""


def write_bundle(folder: pathlib.Path, arch: str, commands: dict) -> None:
    shutil.copytree(SOURCE / "lib/Runtime", folder / "runtime")
    shutil.copytree(SOURCE / "include/fact/Runtime", folder / "include/fact/Runtime")
    (folder / "include/fact/cutlass").mkdir()
    for header in (SOURCE / "lib/Target/Cuda").glob("*/Kernels/*.cuh"):
        shutil.copy(header, folder / "include/fact/cutlass")
    (folder / "kernels").mkdir()
    (folder / "kernels/product.cu").write_text(CANDIDATE)
    (folder / "kernels/reference.cu").write_text(REFERENCE)

    def tensor(rows, columns, **more):
        return {"type": "bf16", "shape": [rows, columns], **more}

    avoid = ["denormal", "largest"]
    kernel = {
        "name": "product", "rule": "gemm_epilogue", "ops": ["matmul"],
        "operands": [tensor(M, K, scale=1, large=1024, avoid=avoid),
                     tensor(K, N, scale=K**-0.5, large=1024, avoid=avoid)],
        "results": [tensor(M, N, tolerance={"norm": 2**-7, "element": 2**-6})],
        "flops": 2 * M * N * K, "bytes": 2 * (M * K + K * N + M * N), "sol_us": 0.1,
        "reference": {"source": "kernels/reference.cu", "symbol": "product_reference"},
        "candidates": [{"key": "cublas_gemm", "source": "kernels/product.cu", "symbol": "product",
                        "link": ["-lcublasLt"], "predicted_us": 1}],
    }
    bundle = {
        "format": 2, "name": "product", "versions": {"fact": "test"}, "commands": commands,
        "target": {"kind": "cuda", "arch": arch, "machine": "test"},
        "inputs": [tensor(M, K, name="a"), tensor(K, N, name="b")],
        "outputs": [tensor(M, N, name="d")],
        "weights": [], "constants": [], "workspace_bytes": 0, "prepared_bytes": 0,
        "values": [{"kind": "input", "index": 0}, {"kind": "input", "index": 1},
                   {"kind": "output", "index": 0}],
        "kernels": [kernel], "prepare": [],
        "program": [{"kernel": "product", "operands": [0, 1], "results": [2]}],
    }
    (folder / "bundle.json").write_text(json.dumps(bundle, indent=1))


def outcome(library: pathlib.Path) -> str:
    """What is wrong with a library's result, or why it does not run; "" when it is right."""
    import torch

    import fact

    a = torch.randn(M, K, device="cuda", dtype=torch.bfloat16)
    b = torch.randn(K, N, device="cuda", dtype=torch.bfloat16) / K**0.5
    try:
        found = fact.load(library)(a, b)
    except fact.FactError as error:
        return str(error)
    expected = a.double() @ b.double()
    error = ((found.double() - expected).norm() / expected.norm()).item()
    return "" if error < 2**-7 else f"wrong result: error {error}"


def check(fact_tune: str, folder: pathlib.Path, arch: str, commands: dict) -> list:
    import fact

    write_bundle(folder, arch, commands)
    failures = []

    def tune():
        return subprocess.run([fact_tune, str(folder)], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)

    def expect(what, condition, found):
        if not condition:
            failures.append(f"{what}: {found}")

    def database(statement, *values):
        with sqlite3.connect(folder / "tuning.sqlite") as connection:
            return connection.execute(statement, values).fetchall()

    process = tune()
    if process.returncode != 0:
        return ["cuBLASLt: " + process.stdout[-2000:]]
    report = json.loads((folder / "tuning.json").read_text())["kernels"][0]
    digits = report["attempts"][0].get("choice", "")
    choice = bytes.fromhex(digits)
    expect("a choice is a version and an algorithm", len(choice) == 72, digits)
    stored = database("SELECT choice FROM attempts WHERE status = 'ok'")
    expect("the database has the choice", stored == [(digits,)], stored)
    library = folder / "product.so"
    described = fact.load(library).kernels[0].get("choice")
    expect("the library has the choice", described == digits, described)
    expect("the library runs", outcome(library) == "", outcome(library))

    version = int.from_bytes(choice[:8], "little")
    edits = {
        "version": ((version + 1).to_bytes(8, "little") + choice[8:],
                    f"cuBLASLt {version} is loaded, and the algorithm was verified with {version + 1}"),
        "algorithm": (choice[:8] + bytes([255] * 64), "cublasLtMatmulAlgoCheck refuses the algorithm"),
    }
    content = library.read_bytes()
    expect("the library has its bytes once", content.count(choice) == 1, content.count(choice))
    for name, (bytes_, message) in edits.items():
        edited = folder / f"{name}.so"
        edited.write_bytes(content.replace(choice, bytes_))
        expect(f"another {name} is refused", message in outcome(edited), outcome(edited))

    database("UPDATE attempts SET choice = ?", edits["algorithm"][0].hex())
    process = tune()
    expect("a corrupted database is refused",
           process.returncode == 1 and "stale_choice" in process.stdout, process.stdout[-2000:])
    process = tune()
    expect("the next run chooses again", process.returncode == 0, process.stdout[-2000:])
    return failures
