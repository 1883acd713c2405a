#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs fact-tune on a small CUDA bundle and checks every verdict.

    python3 test/gpu/tuning/run.py --fact-tune build/bin/fact-tune

Makes a bundle of one kernel, y = 2 x + w in bf16, whose candidates are right,
slow, hanging, out of bounds, wrong in several ways, and not compilable; tunes
it; loads the library and compares its results with PyTorch. Then the choice
of a cuBLASLt kernel (choice.py). Needs a CUDA device, nvcc and PyTorch.
"""

import argparse
import ctypes
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import choice

ROWS, COLUMNS = 4096, 1000
SOURCE = pathlib.Path(__file__).resolve().parents[3]

TEMPLATE = """\
#include "fact/Runtime/Kernel.h"
#include <cuda_bf16.h>
#include <cuda_runtime.h>

namespace {
constexpr int64_t count = %(count)dll;
struct State {
  const __nv_bfloat16 *x, *w;
  %(result)s *y;
  float *workspace;
};
__device__ float value(const State &s, int64_t i) {
  return 2 * __bfloat162float(s.x[i]) + __bfloat162float(s.w[i]);
}
__global__ void kernel(State s) {
  int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += step) {
    %(body)s
  }
}
int bind(void *state, const int64_t *, void *const *buffers, void *workspace) {
  State *s = static_cast<State *>(state);
  s->x = static_cast<const __nv_bfloat16 *>(buffers[0]);
  s->w = static_cast<const __nv_bfloat16 *>(buffers[1]);
  s->y = static_cast<%(result)s *>(buffers[2]);
  s->workspace = static_cast<float *>(workspace);
  return cudaMemset(workspace, 0, 1024);
}
int launch(void *state, void *stream) {
  kernel<<<%(blocks)d, 256, 0, static_cast<cudaStream_t>(stream)>>>(
      *static_cast<State *>(state));
  return cudaGetLastError();
}
} // namespace

extern "C" const FactKernel %(symbol)s = {
    FACT_KERNEL_ABI, 3, sizeof(State), 1024, bind, launch,
    0, nullptr, -1, 0, 0, 0, nullptr};
"""

RIGHT = "s.y[i] = __float2bfloat16(value(s, i));"

# key, body, blocks, the status fact-tune should give it
CANDIDATES = [
    ("right", RIGHT, 1024, "ok"),
    ("right but slow", RIGHT, 2, "ok"),
    ("hang", "while (*(volatile int *)s.workspace != 12345) {} " + RIGHT, 8, "hang"),
    ("illegal address", "*(float *)8 = 1; " + RIGHT, 1024, "crash"),
    ("one wrong element", RIGHT + " if (i == 4321) s.y[i] = 99;", 1024, "wrong"),
    ("zeros", "s.y[i] = 0;", 1024, "wrong"),
    ("unwritten tail", "if (i != count - 1) " + RIGHT, 1024, "wrong"),
    ("past the end", RIGHT + " if (i + 9 >= count) s.y[i + 10] = 0;", 1024, "wrong"),
    ("before the start", RIGHT + " if (i < 9) s.y[i - 10] = 0;", 1024, "wrong"),
    ("writes its operand", RIGHT + " if (i == 7) *(short *)&s.x[i] = 0;", 1024, "wrong"),
    (
        "trusts its workspace",
        "s.y[i] = __float2bfloat16(value(s, i) + s.workspace[0]);",
        1024,
        "wrong",
    ),
    ("not compilable", "s.y[i] = nonsense;", 1024, "compile_error"),
]


def commands(arch: str) -> dict:
    return {
        "compile": ["nvcc", "-std=c++17", "-O3", f"-gencode=arch={arch.replace('sm', 'compute')},code={arch}",
                    "{flags}", "-c", "{source}", "-o", "{output}"],
        "link": ["nvcc", "-shared", "-Xcompiler", "-fPIC", "{inputs}", "{link}", "-o", "{output}"],
        "link_program": ["nvcc", "{inputs}", "{link}", "-o", "{output}"],
    }


def write_bundle(folder: pathlib.Path, arch: str) -> None:
    shutil.copytree(SOURCE / "lib/Runtime", folder / "runtime")
    shutil.copytree(SOURCE / "include/fact/Runtime", folder / "include/fact/Runtime")
    kernels = folder / "kernels/axpy"
    kernels.mkdir(parents=True)

    def source(name, symbol, result, body, blocks):
        fields = dict(count=ROWS * COLUMNS, symbol=symbol, result=result, body=body, blocks=blocks)
        (kernels / name).write_text(TEMPLATE % fields)
        return f"kernels/axpy/{name}"

    reference = source("reference.cu", "axpy_reference", "float", "s.y[i] = value(s, i);", 1024)
    tensor = {"type": "bf16", "shape": [ROWS, COLUMNS]}
    candidates = []
    for index, (key, body, blocks, _) in enumerate(CANDIDATES):
        symbol = f"axpy_{index}"
        path = source(f"{index}.cu", symbol, "__nv_bfloat16", body, blocks)
        candidates.append({"key": key, "source": path, "symbol": symbol, "predicted_us": index + 1})
    bundle = {
        "format": 2,
        "name": "sample",
        "target": {"kind": "cuda", "arch": arch, "machine": "test"},
        "versions": {"fact": "test"},
        "inputs": [{"name": "x", **tensor}],
        "outputs": [{"name": "y", **tensor}],
        "weights": [{"name": "w", **tensor}],
        "constants": [],
        "workspace_bytes": 0,
        "prepared_bytes": 0,
        "values": [
            {"kind": "input", "index": 0},
            {"kind": "weight", "index": 0},
            {"kind": "output", "index": 0},
        ],
        "kernels": [
            {
                "name": "axpy",
                "rule": "pointwise",
                "ops": ["mul", "add"],
                "operands": [tensor, tensor],
                "results": [{**tensor, "tolerance": {"norm": 0.004, "element": 0.01}}],
                "flops": 2 * ROWS * COLUMNS,
                "bytes": 6 * ROWS * COLUMNS,
                "sol_us": 4.0,
                "reference": {"source": reference, "symbol": "axpy_reference"},
                "candidates": candidates,
            }
        ],
        "prepare": [],
        "program": [{"kernel": "axpy", "operands": [0, 1], "results": [2]}],
        "commands": commands(arch),
    }
    (folder / "bundle.json").write_text(json.dumps(bundle, indent=1))


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class NamedTensor(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("tensor", ctypes.POINTER(DLTensor))]


def as_dlpack(tensor) -> DLTensor:
    """A bf16 CUDA tensor as the library sees it."""
    array = ctypes.c_int64 * tensor.dim()
    device = 2 if tensor.is_cuda else 1
    return DLTensor(tensor.data_ptr(), device, tensor.device.index or 0, tensor.dim(), 4, 16, 1,
                    array(*tensor.shape), array(*tensor.stride()), 0)


def check_library(path: pathlib.Path) -> list:
    import torch

    library = ctypes.CDLL(str(path))
    library.sample_create.restype = ctypes.c_void_p
    library.sample_last_error.restype = ctypes.c_char_p
    failures = []
    x = torch.randn(ROWS, COLUMNS, device="cuda", dtype=torch.bfloat16)
    w = torch.randn_like(x)

    def run(model, x, y):
        inputs = (ctypes.POINTER(DLTensor) * 1)(ctypes.pointer(as_dlpack(x)))
        outputs = (ctypes.POINTER(DLTensor) * 1)(ctypes.pointer(as_dlpack(y)))
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        return library.sample_run(ctypes.c_void_p(model), inputs, ctypes.c_int64(1),
                                  outputs, ctypes.c_int64(1), stream)

    weights = (NamedTensor * 1)(NamedTensor(b"w", ctypes.pointer(as_dlpack(w))))
    model = library.sample_create(weights, ctypes.c_int64(1))
    if not model:
        return ["create: " + library.sample_last_error().decode()]
    expected = (2 * x.float() + w.float()).bfloat16()
    for name, view in [
        ("row-major", x),
        ("transposed", x.t().contiguous().t()),
        ("misaligned", torch.cat([x.flatten()[:1], x.flatten()])[1:].view(ROWS, COLUMNS)),
    ]:
        y = torch.full_like(x, float("nan"))
        code = run(model, view, y)
        torch.cuda.synchronize()
        if code != 0:
            failures.append(f"run, {name}: {library.sample_last_error().decode()}")
        elif not torch.equal(y, expected):
            failures.append(f"run, {name}: wrong result")
    if (run(model, x.cpu(), y) == 0
            or b"input 'x' is on cpu:0; expected cuda:0" not in library.sample_last_error()):
        failures.append(f"an input on the CPU: {library.sample_last_error()}")

    # A call can be captured into a CUDA graph once it has run.
    graph = torch.cuda.CUDAGraph()
    y = torch.full_like(x, float("nan"))
    run(model, x, y)
    torch.cuda.synchronize()
    y.fill_(float("nan"))
    with torch.cuda.graph(graph):
        code = run(model, x, y)
    graph.replay()
    torch.cuda.synchronize()
    if code != 0 or not torch.equal(y, expected):
        failures.append("replayed CUDA graph: wrong result")
    library.sample_destroy(ctypes.c_void_p(model))
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fact-tune", required=True)
    parser.add_argument("--arch", default="sm_90a")
    parser.add_argument("--keep", help="a folder for the bundles, kept afterwards")
    arguments = parser.parse_args()
    folder = pathlib.Path(arguments.keep or tempfile.mkdtemp(prefix="fact-"))
    folder.mkdir(parents=True, exist_ok=True)
    sample = folder / "sample"
    write_bundle(sample, arguments.arch)

    command = [arguments.fact_tune, str(sample), "--candidates", "50", "--run-timeout", "15"]
    if subprocess.run(command).returncode != 0:
        print(f"FAILED: {' '.join(command)}")
        return 1
    tuned = json.loads((sample / "tuning.json").read_text())["kernels"][0]
    statuses = {attempt["schedule"]: attempt["status"] for attempt in tuned["attempts"]}
    failures = []
    for key, _, _, expected in CANDIDATES:
        if statuses.get(key) != expected:
            failures.append(f"candidate '{key}': {statuses.get(key)}; expected {expected}")
    if tuned["schedule"] != "right":
        failures.append(f"the winner is '{tuned['schedule']}'; expected 'right'")
    failures += check_library(sample / "sample.so")
    needed = subprocess.run(["readelf", "-d", str(sample / "sample.so")],
                            capture_output=True, text=True).stdout
    if "libcudart" in needed or "libsqlite" in needed:
        failures.append("the library needs more than it should:\n" + needed)
    failures += choice.check(arguments.fact_tune, folder / "product", arguments.arch,
                             commands(arguments.arch))
    for failure in failures:
        print("FAILED:", failure)
    print("test/gpu/tuning:", f"{len(failures)} failures" if failures else "passed")
    if not arguments.keep:
        shutil.rmtree(folder)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
