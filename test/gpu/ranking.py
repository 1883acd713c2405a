#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How well the cost model orders the tiles of a product.

    ranking.py pack FOLDER [--precision bf16|tf32|fp32]     with the compiler: no GPU
    ranking.py run FOLDER RESULTS                           with the GPU: no compiler
    ranking.py report RESULTS [RESULTS ...]                 with the compiler: no GPU

`pack` writes the sources of all tiles, which serve all sizes, and how each shape calls them. `run`
compiles them and measures each on each shape beside torch.matmul; RESULTS has a line for each
shape, and a second run continues after the last one. `report` asks the compiler of today for its
order and prints how far its first choices are from the best that was measured, so that a change of
the cost model is judged without a GPU; docs/benchmarks has RESULTS, compressed.
"""

import argparse
import concurrent.futures
import ctypes
import hashlib
import json
import lzma
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

TYPES = {"bf16": "bf16", "tf32": "f32", "fp32": "f32"}
# Of a product's three tensors.
BYTES_LIMIT = 6 << 30
CLUSTERS = "1x1, 2x1, 1x2"
SPACES = {
    "bf16": [("cooperative", "128x128x64, 128x160x64, 128x192x64, 128x224x64, 128x256x64, 256x64x64, "
              "256x128x64", CLUSTERS),
             ("pingpong", "64x64x64, 64x128x64, 64x192x64, 64x256x64, 128x64x64, 128x96x64, 128x128x64",
              CLUSTERS),
             ("cooperative", "128x256x64, 256x128x64", "4x1, 1x4, 2x2"),
             ("stream_k", "128x128x64, 128x256x64", "2x1")],
    "tf32": [("cooperative", "128x128x32, 128x192x32, 128x256x32, 256x128x32", CLUSTERS),
             ("pingpong", "64x64x32, 64x128x32, 128x64x32, 128x128x32", CLUSTERS),
             ("stream_k", "128x128x32", "2x1")],
    "fp32": [("cooperative", "128x64x32, 128x128x32, 256x64x32, 256x128x32", CLUSTERS),
             ("pingpong", "64x64x32, 64x128x32, 128x64x32", CLUSTERS),
             ("stream_k", "128x128x32", "2x1")],
}


def shapes() -> list[tuple[int, int, int, int]]:
    """(batch, M, N, K): what models have, what they rarely have, and what lies between."""
    found = [(1, n, n, n) for n in (256, 384, 512, 640, 768, 1024, 1280, 1536, 2048, 2560, 3072, 4096, 5120,
                                    6144, 8192)]
    layers = [(2304, 768), (3072, 768), (768, 3072), (4096, 4096), (14336, 4096), (4096, 14336), (1024, 4096),
              (8192, 2048), (5120, 5120), (1536, 512)]
    found += [(1, m, n, k) for m in (128, 512, 2048, 8192, 32768) for n, k in layers]
    found += [(1, m, n, k) for m in (65536, 262144) for n in (64, 128, 256, 512) for k in (64, 256, 1024)]
    found += [(1, m, n, k) for m in (64, 192, 256) for n in (32000, 50304) for k in (768, 4096)]
    found += [(1, m, n, k) for m, n in ((8192, 8192), (4096, 16384)) for k in (16, 32, 64, 128)]
    found += [(1, 256, 256, k) for k in (8192, 32768, 131072, 524288)]
    found += [(1, 512, 1024, 65536), (1, 1024, 512, 16384), (1, 128, 4096, 32768), (1, 2048, 128, 65536)]
    found += [(batch, *product) for batch in (8, 64, 384)
              for product in ((128, 128, 64), (512, 512, 64), (512, 64, 512), (256, 256, 256),
                              (1024, 1024, 128), (200, 72, 136), (2048, 2048, 128))]
    # Tiles that end within a product.
    found += [(1, m, n, k) for m, n, k in ((1000, 1000, 1000), (1160, 2040, 520), (3000, 3000, 3000),
                                           (5000, 1000, 2000), (136, 8200, 1032), (8200, 136, 1032),
                                           (2056, 2056, 2056), (4104, 1288, 776), (12344, 3080, 1544),
                                           (776, 776, 40), (520, 10248, 2568), (30008, 200, 392))]
    # As many tiles of 128 x 128 and of 128 x 256 as there are multiprocessors, and a few more or fewer.
    found += [(1, 128 * rows, 128 * columns, 2048)
              for rows, columns in ((11, 12), (12, 12), (11, 24), (12, 22), (6, 44), (13, 20), (16, 33),
                                    (17, 16), (33, 12), (33, 16), (33, 33), (22, 36))]
    draw = random.Random(1)
    while len(found) < 220:
        m, n, k = (8 * round(2 ** draw.uniform(3, 11.5)) for _ in range(3))
        found.append((1, m, n, k))
    return sorted({shape for shape in found if tensor_bytes(shape) <= BYTES_LIMIT})


def tensor_bytes(shape: tuple[int, int, int, int]) -> int:
    batch, m, n, k = shape
    return 4 * batch * (m * k + n * k + m * n)


def module(shape: tuple[int, int, int, int], precision: str, space: str) -> str:
    batch, m, n, k = shape
    outer = f"{batch}x" if batch > 1 else ""
    element = TYPES[precision]
    a, b, c = (f"tensor<{outer}{size}x{element}>" for size in (f"{m}x{k}", f"{n}x{k}", f"{m}x{n}"))
    tf32 = " tf32" if precision == "tf32" else ""
    # The second factor is a weight: what a strict product computes from it beforehand is not in the times.
    return f"""func.func @main(%a: {a}, %b: {b} {{fact.fixed}}) -> {c} {{
  %0 = fact.fused "gemm_epilogue" ins(%a, %b : {a}, {b}) {{
  ^bb0(%x: {a}, %y: {b}):
    %1 = fact.matmul %x, %y transpose_b{tf32} : ({a}, {b}) -> {c}
    fact.yield %1 : {c}
  }} space({space}) : {c}
  return %0 : {c}
}}
"""


def candidates(shape, precision: str, folder: Path, target: str) -> dict[str, dict]:
    """The legal candidates of all spaces by their keys, with their sources' texts."""
    from fact import toolchain
    found = {}
    folder.mkdir(exist_ok=True)
    for kernel, tiles, clusters in SPACES[precision]:
        space = (f"#fact.sm90_gemm_space<tile = [{tiles}], cluster = [{clusters}], kernel = [{kernel}], "
                 "swizzle = [1, 2, 4, 8]>")
        bundle = folder / "bundle"
        process = subprocess.run(
            [toolchain.require_tool("fact-compile"), "-", f"--target={target}", "--until=bundle",
             "--candidates=999", f"--bundle={bundle}"],
            input=module(shape, precision, space), text=True, capture_output=True)
        if process.returncode:
            # No tile of this kind serves the shape.
            continue
        for candidate in json.loads((bundle / "bundle.json").read_text())["kernels"][0]["candidates"]:
            if "sizes" in candidate:
                candidate["text"] = (bundle / candidate["source"]).read_text()
                found[candidate["key"]] = candidate
        if not (folder / "include").exists():
            (bundle / "include").rename(folder / "include")
    return found


def pack(options) -> int:
    options.folder.mkdir(parents=True, exist_ok=True)
    (options.folder / "sources").mkdir(exist_ok=True)
    flags: list[str] = []
    with tempfile.TemporaryDirectory() as name, (options.folder / "plan.jsonl").open("w") as plan:
        for shape in shapes():
            calls = []
            for key, candidate in candidates(shape, options.precision, Path(name), options.target).items():
                source = hashlib.sha256(candidate["text"].encode()).hexdigest()[:16]
                (options.folder / "sources" / f"{source}.cu").write_text(candidate["text"])
                calls.append({"key": key, "source": source, "symbol": candidate["symbol"],
                              "sizes": candidate["sizes"]})
                flags = candidate.get("flags", flags)
            line = {"shape": shape, "precision": options.precision, "calls": calls}
            print(json.dumps(line), file=plan, flush=True)
        subprocess.run(["cp", "-r", str(Path(name) / "include"), str(options.folder)], check=True)
    (options.folder / "flags.json").write_text(json.dumps(flags))
    print(f"{len(shapes())} shapes, {len(list((options.folder / 'sources').iterdir()))} sources")
    return 0


class Kernel(ctypes.Structure):
    """FactKernel of fact/Runtime/Kernel.h."""
    _fields_ = [
        ("abi", ctypes.c_uint32), ("buffer_count", ctypes.c_uint32),
        ("state_bytes", ctypes.c_uint64), ("workspace_bytes", ctypes.c_uint64),
        ("bind", ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)),
        ("launch", ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 2)),
        ("tiles", ctypes.c_uint64), ("tile", ctypes.c_void_p),
        ("packed_operand", ctypes.c_int32), ("packed_with", ctypes.c_uint32),
        ("packed_bytes", ctypes.c_uint64), ("pack_tiles", ctypes.c_uint64), ("pack", ctypes.c_void_p),
        ("pack_on_device", ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)),
        ("choice_bytes", ctypes.c_uint64), ("choose", ctypes.c_void_p), ("adopt", ctypes.c_void_p),
        ("size_count", ctypes.c_uint64),
        ("measure", ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[ctypes.POINTER(ctypes.c_uint64)] * 2))]


def compile_all(folder: Path) -> dict[str, Path]:
    """A shared library for each source that compiles; the others are printed."""
    cutlass = os.environ["FACT_CUTLASS_DIR"]
    flags = [flag.replace("{bundle}", str(folder)).replace("{cutlass}", cutlass)
             for flag in json.loads((folder / "flags.json").read_text())]
    (folder / "objects").mkdir(exist_ok=True)

    def one(source: Path):
        output = folder / "objects" / f"{source.stem}.so"
        if not output.exists():
            process = subprocess.run(
                ["nvcc", "-std=c++17", "-O3", "-DNDEBUG", "-gencode=arch=compute_90a,code=sm_90a",
                 "--expt-relaxed-constexpr", f"-I{folder}/include", f"-I{cutlass}/include",
                 f"-I{cutlass}/tools/util/include", *flags, "-shared", "-Xcompiler", "-fPIC", str(source),
                 "-o", f"{output}.new"], text=True, capture_output=True)
            if process.returncode:
                print(f"{source.name}: {process.stderr[-400:]}", flush=True)
                return source.stem, None
            Path(f"{output}.new").rename(output)
        return source.stem, output

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(one, sorted((folder / "sources").glob("*.cu")))
        return {name: path for name, path in found if path}


class Bench:
    def __init__(self):
        import torch

        from fact.bench import Timer
        self.torch = torch
        self.timer = Timer(torch.device("cuda"))
        self.stream = torch.cuda.current_stream().cuda_stream
        self.libraries: dict[Path, ctypes.CDLL] = {}

    def microseconds(self, launch) -> float:
        """The median of nine runs, of five if they are long, after one that is not counted."""
        begin = time.perf_counter()
        launch()
        self.torch.cuda.synchronize()
        runs = 9 if time.perf_counter() - begin < 1e-3 else 5
        events = [[self.torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(runs)]
        for begin, end in events:
            self.timer.flush()
            begin.record()
            launch()
            end.record()
        self.torch.cuda.synchronize()
        return 1000 * statistics.median(begin.elapsed_time(end) for begin, end in events)

    def kernel(self, path: Path, call: dict, buffers: list):
        """A function that launches what the call names, and what it must keep alive."""
        library = self.libraries.setdefault(path, ctypes.CDLL(str(path)))
        kernel = Kernel.in_dll(library, call["symbol"])
        sizes = (ctypes.c_int64 * len(call["sizes"]))(*call["sizes"])
        workspace_bytes, packed_bytes = ctypes.c_uint64(), ctypes.c_uint64()
        kernel.measure(sizes, workspace_bytes, packed_bytes)
        memory = [self.torch.empty(max(1, size.value), dtype=self.torch.int8, device="cuda")
                  for size in (workspace_bytes, packed_bytes)]
        pointers = (ctypes.c_void_p * len(buffers))(*(buffer.data_ptr() for buffer in buffers))
        state = self.torch.empty(kernel.state_bytes + 64, dtype=self.torch.int8)
        place = (state.data_ptr() + 63) // 64 * 64
        packs = kernel.packed_operand >= 0
        original = (ctypes.c_void_p * len(buffers))(*pointers)
        if packs:
            pointers[kernel.packed_operand] = memory[1].data_ptr()
        if error := kernel.bind(place, sizes, pointers, memory[0].data_ptr()):
            raise RuntimeError(f"bind: CUDA error {error}")

        def launch():
            # A weight is packed once, when it is loaded.
            if error := kernel.launch(place, self.stream):
                raise RuntimeError(f"launch: CUDA error {error}")
        if packs and kernel.pack_on_device(sizes, original, memory[1].data_ptr(), self.stream):
            raise RuntimeError("pack: CUDA error")
        return launch, (memory, state, sizes, pointers, original)

    def shape(self, line: dict, objects: dict[str, Path]) -> dict:
        torch = self.torch
        batch, m, n, k = line["shape"]
        outer = [batch] if batch > 1 else []
        dtype = torch.bfloat16 if line["precision"] == "bf16" else torch.float32
        a = torch.randn(*outer, m, k, device="cuda").to(dtype)
        b = torch.randn(*outer, n, k, device="cuda").to(dtype) / math.sqrt(k)
        torch.backends.cuda.matmul.allow_tf32 = line["precision"] == "tf32"
        expected = a @ b.mT
        times = {"torch": self.microseconds(lambda: torch.matmul(a, b.mT))}
        for call in line["calls"]:
            if call["source"] not in objects:
                continue
            result = torch.full_like(expected, float("nan"))
            launch, kept = self.kernel(objects[call["source"]], call, [a, b, result])
            times[call["key"]] = round(self.microseconds(launch), 2)
            error = (result.float() - expected.float()).abs().max().item()
            if not error < 0.1:
                raise RuntimeError(f"{line['shape']}: {call['key']} is off by {error}")
            del kept
        return {"shape": line["shape"], "precision": line["precision"], "us": times}


def run(options) -> int:
    objects = compile_all(options.folder.resolve())
    done = len(options.results.read_text().splitlines()) if options.results.exists() else 0
    bench = Bench()
    with options.results.open("a") as results:
        for line in (options.folder / "plan.jsonl").read_text().splitlines()[done:]:
            print(json.dumps(bench.shape(json.loads(line), objects)), file=results, flush=True)
    return 0


def without_swizzle(key: str) -> str:
    """Candidates that are one compilation."""
    return key.split(", swizzle")[0]


def losses(times: dict[str, float], predicted: dict[str, float], counts: list[int]) -> list[float]:
    """How much longer than the best the best of the first N compilations takes."""
    best = min(times.values())
    order = sorted((key for key in times if key in predicted), key=predicted.get)
    compilations = list(dict.fromkeys(map(without_swizzle, order)))
    return [min(times[key] for key in order if without_swizzle(key) in compilations[:count]) / best
            for count in counts]


def read_results(path: Path) -> list[dict]:
    with lzma.open(path, "rt") if path.suffix == ".xz" else path.open() as file:
        return [json.loads(line) for line in file]


def report(options) -> int:
    counts = [1, 2, 3, 4, 6, 8]
    for path in options.results:
        lines = read_results(path)
        table, ratios, worst = [], [], []
        for line in lines:
            times = dict(line["us"])
            torch = times.pop("torch")
            with tempfile.TemporaryDirectory() as name:
                known = candidates(tuple(line["shape"]), line["precision"], Path(name), options.target)
            predicted = {key: candidate["predicted_us"] for key, candidate in known.items()}
            row = losses(times, predicted, counts)
            table.append(row)
            ratios.append(torch / min(times.values()))
            worst.append((row[2], line["shape"], without_swizzle(min(times, key=times.get))))
        print(f"{path.name}: {len(lines)} products of {lines[0]['precision']}; best tile over torch.matmul "
              f"{statistics.geometric_mean(ratios):.2f}x, at least {min(ratios):.2f}x")
        print("| first | mean loss | 95% of products within | worst | best tile within the first |")
        print("|---|---|---|---|---|")
        for count, column in zip(counts, zip(*table, strict=True), strict=True):
            ordered = sorted(column)
            print(f"| {count} | {100 * (statistics.geometric_mean(column) - 1):.1f}% "
                  f"| {100 * (ordered[int(0.95 * len(ordered))] - 1):.1f}% | {100 * (ordered[-1] - 1):.1f}% "
                  f"| {sum(value <= 1.01 for value in column)} of {len(column)} |")
        for loss, shape, key in sorted(worst, reverse=True)[:10]:
            print(f"- {shape}: {100 * (loss - 1):.1f}% after three; best {key}")
    return 0


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="ranking")
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("pack")
    command.add_argument("folder", type=Path)
    command.add_argument("--precision", choices=TYPES, default="bf16")
    command.set_defaults(function=pack)
    command = commands.add_parser("run")
    command.add_argument("folder", type=Path)
    command.add_argument("results", type=Path)
    command.set_defaults(function=run)
    command = commands.add_parser("report")
    command.add_argument("results", type=Path, nargs="+")
    command.set_defaults(function=report)
    for command in commands.choices.values():
        command.add_argument("--target", default="sm_90a")
    options = parser.parse_args(arguments)
    return options.function(options)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
