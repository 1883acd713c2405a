#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a call costs the host, and whether CUDA graphs follow what moves.

    calls.py pack FOLDER [--target sm_90a|host]     with the compiler: no GPU
    calls.py run FOLDER [--json FILE]               with the GPU, or for libraries of the host

`pack` writes bundles of programs of one, ten, two hundred and a thousand small launches. `run` links them
and compares results with PyTorch: without graphs, with them, and automatic; with arguments that
stay, take turns or are always new; on two streams, from two threads, after other weights, in a
graph of the caller. Then it measures the microseconds of the host per call: of calls one after
another, which the GPU does not hold up (it sleeps meanwhile), and of a single call when the GPU
is idle. On the host, where the kernels are part of a call, times are of the thread's processor
time, which other processes hardly change.
"""

import argparse
import json
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python")]

import torch  # noqa: E402
from torch import nn  # noqa: E402

import fact  # noqa: E402
from fact import report, toolchain  # noqa: E402

# Microseconds that one call from Python may cost the host. The GPU takes at least two for each of a
# thousand kernels, so that a host that takes one is not what it waits for.
LIMITS = {"one": 15, "ten": 25, "thousand": 1000}


class Chain(nn.Module):
    """Softmaxes over columns and rows in turn, which no kernel does at once. Differences of
    elements remain, so that results tell inputs apart."""

    def __init__(self, launches: int, columns: int):
        super().__init__()
        self.launches = launches
        self.scale = nn.Parameter(torch.linspace(1, 2, columns))

    def forward(self, x):
        x = x * self.scale
        for index in range(self.launches):
            x = x - torch.softmax(x, index % 2)
        return x


MODULES = {"one": 1, "ten": 10, "many": 200, "thousand": 1000}
# Of more launches than these, torch.compile takes minutes to compile.
COMPILED_LAUNCHES = 200
# A stream holds some 1,000 launches; the host waits for the GPU before it enqueues more.
QUEUED_LAUNCHES = 400


def pack(arguments) -> int:
    for name, launches in MODULES.items():
        folder = arguments.folder / f"calls_{name}"
        fact.bundle(Chain(launches, arguments.columns),
                    [torch.randn(arguments.rows, arguments.columns)], target=arguments.target,
                    output=folder, name=folder.name, candidates=1)
    print(f"calls: bundles in {arguments.folder}")
    return 0


def link(bundle: Path) -> fact.Library:
    """Each kernel, and the program once as a graph, is compared with its reference."""
    path = bundle / f"{bundle.name}.so"
    process = subprocess.run(
        [toolchain.require_tool("fact-tune"), bundle, "--untuned", "--candidates", "1", "-o", path],
        text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=900)
    if process.returncode:
        raise SystemExit(f"calls: {bundle.name} does not link:\n{process.stdout[-3000:]}")
    return fact.load(path)


class Case:
    def __init__(self, name: str, library: fact.Library):
        self.name, self.library = name, library
        self.device = torch.device(library.device_type)
        self.cuda = self.device.type == "cuda"
        self.shape = library.inputs[0]["shape"]
        self.module = Chain(MODULES[name], self.shape[1]).to(self.device)
        self.settings = ["off", "on", "automatic"] if self.cuda else ["off"]

    def model(self, setting: str):
        model = self.library.create(self.module)
        if self.cuda:
            model.use_graphs(setting)
        return model

    def inputs(self, count: int) -> list[torch.Tensor]:
        return [torch.randn(self.shape, device=self.device) for _ in range(count)]

    def synchronize(self) -> None:
        if self.cuda:
            torch.cuda.synchronize()


# Results.


def expect(case: Case, what: str, pairs) -> list[str]:
    """Results against the module's."""
    case.synchronize()
    with torch.no_grad():
        wrong = sum(not torch.allclose(y, case.module(x), rtol=1e-4, atol=1e-4) for x, y in pairs)
    return [f"{case.name}, {what}: {wrong} of {len(pairs)} results are wrong"] if wrong else []


def check(case: Case, setting: str) -> list[str]:
    wrong, model = [], case.model(setting)
    x, *others = case.inputs(31)
    wrong += expect(case, f"{setting}, the same input", [(x, model(x)) for _ in range(20)])
    wrong += expect(case, f"{setting}, three in turn", [(x, model(x)) for x in others[:3] * 10])
    keep = [(x, model(x)) for x in others * 2]
    wrong += expect(case, f"{setting}, always others", keep)
    # Results in turn, as `y = model(x)` in a loop has them, read before the next call.
    for x in others:
        y = model(x)
        wrong += expect(case, f"{setting}, one by one", [(x, y)])
    if case.cuda:
        wrong += check_streams(case, setting, model, others)
        wrong += check_capture(case, setting, model)
    wrong += check_threads(case, setting, model)
    # Other weights, at another address.
    original = case.module.scale.data
    case.module.scale.data = torch.linspace(3, 4, case.shape[1], device=case.device)
    model.set_weights(case.module)
    wrong += expect(case, f"{setting}, other weights", [(x, model(x)) for x in others[:3] * 5])
    case.module.scale.data = original
    model.set_weights(case.module)
    last = [(x, model(x)) for x in others[:3]]
    if case.cuda:
        print(f"  {case.name}, {setting}: {model.graphs}")
        if model.graphs["detail"]:
            wrong.append(f"{case.name}, {setting}: {model.graphs['detail']}")
    # Destroyed while its kernels may run.
    model.close()
    return wrong + expect(case, f"{setting}, closed", last)


def check_streams(case: Case, setting: str, model, inputs) -> list[str]:
    streams, pairs = [torch.cuda.Stream() for _ in range(2)], []
    case.synchronize()
    for index, x in enumerate(inputs * 3):
        with torch.cuda.stream(streams[index % 2]):
            pairs.append((x, model(x)))
    return expect(case, f"{setting}, two streams", pairs)


def check_capture(case: Case, setting: str, model) -> list[str]:
    [x], y = case.inputs(1), torch.empty(case.shape, device=case.device)
    model.run([x], [y])
    case.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        model.run([x], [y])
    wrong = []
    for _ in range(3):
        x.copy_(torch.randn_like(x))
        y.zero_()
        graph.replay()
        wrong += expect(case, f"{setting}, the caller's graph", [(x, y)])
        wrong += expect(case, f"{setting}, beside the caller's graph", [(x, model(x))])
    return wrong


def check_threads(case: Case, setting: str, shared) -> list[str]:
    """Two threads with a model each, and one that they share."""
    wrong: list[str] = []

    def work():
        own, pairs = case.model(setting), []
        for x in case.inputs(10) * 3:
            pairs += [(x, own(x)), (x, shared(x))]
        wrong.extend(expect(case, f"{setting}, threads", pairs))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return wrong


# Times.


def microseconds(case: Case, call, rounds: int = 30) -> float:
    """The host's time per call, of up to 20 calls one after another."""
    launches = len(case.library.description["steps"])
    repeats = max(1, min(20, QUEUED_LAUNCHES // launches))
    clock = time.perf_counter if case.cuda else time.thread_time
    times = []
    for round_ in range(rounds + 3):
        case.synchronize()
        if case.cuda and repeats * launches <= QUEUED_LAUNCHES:
            # 20 ms: the GPU begins when all calls are enqueued.
            torch.cuda._sleep(40_000_000)
        start = clock()
        for index in range(repeats):
            call(round_ * repeats + index)
        times.append(1e6 * (clock() - start) / repeats)
    case.synchronize()
    return statistics.median(times[3:])


def single(case: Case, call, rounds: int = 100) -> float:
    """The host's time of a call that finds the GPU idle."""
    clock = time.perf_counter if case.cuda else time.thread_time
    times = []
    for round_ in range(rounds + 5):
        case.synchronize()
        start = clock()
        call(round_)
        times.append(1e6 * (clock() - start))
    return statistics.median(times[5:])


def variants(case: Case, compare: list[str]):
    """Functions of the number of a call, by what they are."""
    [x], pool, y = case.inputs(1), case.inputs(64), torch.empty(case.shape, device=case.device)
    if "eager" in compare:
        yield "eager", lambda i: case.module(x)
    for mode in [mode for mode in compare if mode != "eager"]:
        compiled = torch.compile(case.module, mode=None if mode == "compile" else mode)

        def run(i, compiled=compiled):
            torch.compiler.cudagraph_mark_step_begin()
            return compiled(x)

        yield mode, run
    for setting in case.settings:
        suffix = f", graphs {setting}" if case.cuda else ""
        model = case.model(setting)
        yield f"model(x){suffix}", lambda i, model=model: model(x)
        yield f"model.run{suffix}", lambda i, model=model: model.run([x], [y])
        moving = case.model(setting)
        yield (f"model(x), always another x{suffix}",
               lambda i, model=moving: model(pool[i % len(pool)]))
    shape, strides = tuple(x.shape), x.stride()
    yield "allocation: torch.empty_strided", lambda i: torch.empty_strided(
        shape, strides, dtype=x.dtype, device=x.device)
    if case.device.type == "cpu" or torch.cuda.device_count() == 1:
        from fact.again import _allocator
        allocate = _allocator(x.device)
        yield "allocation: that of a call", lambda i: allocate(shape, strides, x.dtype)


def measure(case: Case, compare: list[str]) -> list[dict]:
    found = []
    with torch.no_grad():
        for name, call in variants(case, compare):
            for index in range(10):
                call(index)
            found.append({"module": case.name, "launches": len(case.library.description["steps"]),
                          "variant": name, "us": microseconds(case, call),
                          "idle_us": single(case, call)})
    return found


def show(figures: list[dict]) -> None:
    """The table of one module, as soon as it is known, and what the host may cost."""
    report.table(["module", "launches", "variant", "host us per call", "GPU idle before"],
                 [[f["module"], str(f["launches"]), f["variant"], f"{f['us']:.1f}",
                   f"{f['idle_us']:.1f}"] for f in figures], "microseconds of the host")
    for figure in figures:
        limit = LIMITS.get(figure["module"])
        if limit and figure["variant"] == "model(x), graphs automatic":
            verdict = "within" if figure["us"] <= limit else "ABOVE"
            print(f"calls: {figure['module']}: {figure['us']:.1f} us, {verdict} the limit of {limit}")
    sys.stdout.flush()


def run(arguments) -> int:
    wrong, figures = [], []
    bundles = [path for name in MODULES
               if (path := arguments.folder / f"calls_{name}" / "bundle.json").exists()]
    if not bundles:
        raise SystemExit(f"calls: error: no bundles in {arguments.folder}: calls.py pack")
    torch.set_num_threads(1)
    for path in bundles:
        case = Case(path.parent.name.removeprefix("calls_"), link(path.parent))
        for setting in case.settings:
            wrong += check(case, setting)
        compare = [name for name in arguments.compare.split(",") if name == "eager" or
                   name and MODULES[case.name] <= COMPILED_LAUNCHES]
        measured = measure(case, compare)
        show(measured)
        figures += measured
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        where = torch.cuda.get_device_name() if torch.cuda.is_available() else "host"
        arguments.json.write_text(json.dumps({"device": where, "torch": torch.__version__,
                                              "figures": figures, "wrong": wrong}, indent=2) + "\n")
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"calls: {len(bundles)} libraries, {len(wrong)} failures", flush=True)
    return 1 if wrong else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=("pack", "run"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--rows", type=int, default=32)
    parser.add_argument("--columns", type=int, default=48)
    parser.add_argument("--compare", default="eager,compile,reduce-overhead",
                        help="what to measure beside FACT; may be empty")
    parser.add_argument("--json", type=Path, help="also write all figures there")
    arguments = parser.parse_args()
    return pack(arguments) if arguments.mode == "pack" else run(arguments)


if __name__ == "__main__":
    sys.exit(main())
