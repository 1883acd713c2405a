# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FACT beside eager and torch.compile in its modes: one process, equal precision.

Rounds are interleaved and their order alternates, so drift of clocks and temperature
falls on all alike. On a GPU the last-level cache is flushed before each run and times
are of events on the stream: with launches, and for the GPU alone, which has then all of
a run before it begins. The host's time until a call returns is measured apart. On the host
all variants use one number of threads.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from . import verify
from .errors import FactError

VARIANTS = ("eager", "channels-last", "compile", "reduce-overhead", "max-autotune", "fact")

_FLUSH_BYTES = 256 << 20

# Is told how many parts of how many are done, and what is done now.
Count = Callable[[int, int, str], None]


def choose_variants(names: str | None, device: str) -> list[str]:
    """What is measured beside FACT: `names` with commas between them. None are eager and the modes
    of torch.compile; on the host without reduce-overhead, which records CUDA graphs and does nothing
    there."""
    if names is None:
        return [name for name in VARIANTS if name not in ("fact", "channels-last")
                and (device == "cuda" or name != "reduce-overhead")]
    return [name for name in names.split(",") if name]


@dataclasses.dataclass
class Measurement:
    """One variant: times in milliseconds, one list per round, and its error against fp64."""

    name: str
    setup_s: float = 0.0
    rounds: list[list[float]] = dataclasses.field(default_factory=list)
    error: verify.Comparison | None = None
    failure: str | None = None
    # Microseconds until a call on a GPU returns, with its kernels enqueued.
    host_us: float | None = None
    # Milliseconds of the GPU alone, without waiting for launches.
    gpu_ms: float | None = None

    @property
    def times(self) -> list[float]:
        return [t for times in self.rounds for t in times]

    @property
    def median(self) -> float:
        return statistics.median(self.times)

    @property
    def interval(self) -> tuple[float, float]:
        return median_interval(self.times)

    def speedup(self, base: Measurement) -> tuple[float, float, float]:
        """The speedup over `base`: the median over rounds, and its interval."""
        each = [statistics.median(b) / statistics.median(a)
                for a, b in zip(self.rounds, base.rounds)]
        return statistics.median(each), *median_interval(each)


def median_interval(values: list[float], z: float = 1.96) -> tuple[float, float]:
    """A 95% confidence interval of the median, from order statistics."""
    ordered, count = sorted(values), len(values)
    half = z * math.sqrt(count) / 2
    low = max(int(math.floor(count / 2 - half)), 0)
    high = min(int(math.ceil(count / 2 + half)), count - 1)
    return ordered[low], ordered[high]


class Timer:
    """Times one call, on the device of the inputs; on the host by `clock`, in seconds."""

    def __init__(self, device: torch.device, clock: Callable[[], float] = time.perf_counter):
        self.clock = clock
        self.cuda = device.type == "cuda"
        if self.cuda:
            self.other = torch.zeros(_FLUSH_BYTES // 4, dtype=torch.float32, device=device)
            self.total = torch.empty((), dtype=torch.float32, device=device)

    def flush(self) -> None:
        """Fills the last-level cache of a GPU by reading, as fact-tune does: what is written would
        be stored while the next run is timed."""
        torch.sum(self.other, 0, out=self.total)

    def __call__(self, function: Callable[[], Any], repeats: int) -> list[float]:
        if not self.cuda:
            times = []
            for _ in range(repeats):
                begin = self.clock()
                function()
                times.append(1e3 * (self.clock() - begin))
            return times
        events = []
        for _ in range(repeats):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            self.flush()
            start.record()
            function()
            end.record()
            events.append((start, end))
        torch.cuda.synchronize()
        return [start.elapsed_time(end) for start, end in events]


def measure(
    callables: dict[str, Callable[[], Any]], device: torch.device,
    *, rounds: int = 10, repeats: int = 5, warmup: int = 3,
    clock: Callable[[], float] = time.perf_counter,
    count: Count = lambda done, whole, what: None,
) -> dict[str, list[list[float]]]:
    """Times of each callable, one list per round, in alternating order. `count` is called between
    runs."""
    timer = Timer(device, clock)
    whole = rounds * len(callables)
    for name, function in callables.items():
        count(0, whole, f"warming up {name}")
        timer(function, warmup)
    times: dict[str, list[list[float]]] = {name: [] for name in callables}
    for round_ in range(rounds):
        order = list(callables) if round_ % 2 == 0 else list(reversed(callables))
        for index, name in enumerate(order):
            count(round_ * len(order) + index, whole, f"measuring {name}, round {round_ + 1} of {rounds}")
            times[name].append(timer(callables[name], repeats))
    return times


def measure_host(callables: dict[str, Callable[[], Any]], rounds: int = 50,
                 count: Count = lambda done, whole, what: None) -> dict[str, float]:
    """The median of the microseconds until a call on the GPU returns. The GPU is idle before
    each, so that none waits for it."""
    times: dict[str, list[float]] = {name: [] for name in callables}
    for round_ in range(rounds):
        count(round_, rounds, "measuring the host's time of calls")
        for name, function in callables.items():
            torch.cuda.synchronize()
            start = time.perf_counter()
            function()
            times[name].append(1e6 * (time.perf_counter() - start))
    return {name: statistics.median(each) for name, each in times.items()}


def measure_gpu(
    callables: dict[str, Callable[[], Any]], flush: Callable[[], Any], host_us: dict[str, float],
    rounds: int = 30, count: Count = lambda done, whole, what: None,
) -> dict[str, list[list[float]]]:
    """The GPU's milliseconds of each callable, one run per round. It sleeps before each run until
    all of the run is enqueued, so that it waits for no launch within."""
    # A GPU with a faster clock sleeps for less, which the factor below makes up for.
    cycles_per_us = 2000
    events: dict[str, list] = {name: [] for name in callables}
    for round_ in range(rounds):
        count(round_, rounds, "measuring the GPU's time of calls")
        order = list(callables) if round_ % 2 == 0 else list(reversed(callables))
        for name in order:
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda.synchronize()
            flush()
            torch.cuda._sleep(int(cycles_per_us * (100 + 4 * host_us[name])))
            start.record()
            callables[name]()
            end.record()
            events[name].append((start, end))
    torch.cuda.synchronize()
    return {name: [[start.elapsed_time(end)] for start, end in pairs]
            for name, pairs in events.items()}


def exact_result(module, inputs) -> Any:
    """The module in fp64 on the same device, in pieces where memory is short."""
    rows = min((x.shape[0] for x in inputs if x.dim()), default=1)
    chunks = 1
    while True:
        try:
            return verify.reference(module, inputs, chunks)
        except torch.OutOfMemoryError:
            chunks *= 4
            if chunks > rows:
                raise FactError("the module in fp64 does not fit in memory: use --no-error") from None
            torch.cuda.empty_cache()


def prepare(variant: str, module, inputs, fact_model: Callable[[], Any]) -> Callable[[], Any]:
    """A variant as a function without arguments."""
    if variant == "eager":
        return lambda: module(*inputs)
    if variant == "channels-last":
        return channels_last(module, inputs)
    if variant == "fact":
        model = fact_model()
        return lambda: model(*inputs)
    mode = None if variant == "compile" else variant
    compiled = torch.compile(module, mode=mode)
    mark = torch.compiler.cudagraph_mark_step_begin

    def run():
        # Both other modes replay CUDA graphs, which reuse the memory of the last result.
        mark()
        return compiled(*inputs)

    return run


# By number of dimensions.
MEMORY_FORMATS = {4: torch.channels_last, 5: torch.channels_last_3d}


def channels_last(module, inputs) -> Callable[[], Any]:
    """Eager, with the channels of images, volumes and weights in memory last, and the algorithms of
    cuDNN by their times."""

    def convert(tensor: torch.Tensor) -> torch.Tensor:
        form = MEMORY_FORMATS.get(tensor.dim())
        return tensor.contiguous(memory_format=form) if form else tensor

    module = copy.deepcopy(module)
    for tensor in (*module.parameters(), *module.buffers()):
        tensor.data = convert(tensor.data)
    inputs = torch.utils._pytree.tree_map_only(torch.Tensor, convert, inputs)
    cudnn = torch.backends.cudnn

    def run():
        before, cudnn.benchmark = cudnn.benchmark, True
        try:
            return module(*inputs)
        finally:
            cudnn.benchmark = before

    return run


def bench(
    module: torch.nn.Module,
    inputs: list[torch.Tensor],
    variants: list[str],
    fact_model: Callable[[], Any],
    *,
    rounds: int = 10,
    repeats: int = 5,
    errors: bool = True,
    progress: Callable[[str], None] = lambda text: None,
    count: Count = lambda done, whole, what: None,
) -> dict[str, Measurement]:
    """Measures the variants; one that fails is reported and not measured. `progress` is told what
    begins, and `count` how many of its parts are done."""
    device = inputs[0].device
    found = {name: Measurement(name) for name in variants}
    callables: dict[str, Callable[[], Any]] = {}
    with torch.no_grad():
        exact = None
        if errors:
            progress("computing the module in fp64")
            exact = exact_result(module, inputs)
        for name in variants:
            progress(f"preparing {name}")
            start = time.perf_counter()
            try:
                run = prepare(name, module, inputs, fact_model)
                result = run()
                if device.type == "cuda":
                    torch.cuda.synchronize()
            except Exception as error:
                # A baseline that cannot run here does not affect the others.
                found[name].failure = f"{type(error).__name__}: {error}"
                continue
            found[name].setup_s = time.perf_counter() - start
            if exact is not None:
                found[name].error = verify.worst(result, exact)
            del result
            callables[name] = run
        del exact
        progress(f"measuring {rounds} rounds of {', '.join(callables)}")
        for name, times in measure(callables, device, rounds=rounds, repeats=repeats, count=count).items():
            found[name].rounds = times
        if device.type == "cuda":
            host_us = measure_host(callables, count=count)
            alone = measure_gpu(callables, Timer(device).flush, host_us, count=count)
            for name, rounds_alone in alone.items():
                found[name].host_us = host_us[name]
                found[name].gpu_ms = Measurement(name, rounds=rounds_alone).median
    return found


def use_threads(count: int) -> None:
    """Sets the threads of PyTorch and of FACT, whose pool is created at its first call."""
    os.environ["FACT_NUM_THREADS"] = str(count)
    os.environ["OMP_NUM_THREADS"] = str(count)
    torch.set_num_threads(count)


def profile(model, inputs: list[torch.Tensor], runs: int = 50,
            count: Count = lambda done, whole, what: None) -> list[dict[str, Any]]:
    """Times of each kernel launch, in order, on a separate instance that waits after each."""
    library = model.library
    before = os.environ.get("FACT_PROFILE")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "profile.json"
        os.environ["FACT_PROFILE"] = str(path)
        try:
            other = library.create(model.state())
        finally:
            if before is None:
                del os.environ["FACT_PROFILE"]
            else:
                os.environ["FACT_PROFILE"] = before
        other.signature = model.signature
        with torch.no_grad():
            for run in range(runs):
                count(run, runs, "measuring kernels")
                other(*inputs)
        other.close()
        steps = json.loads(path.read_text())["steps"]
    known = {kernel["name"]: kernel for kernel in library.kernels}
    return [{**known[step["kernel"]], "us": step["us"]} for step in steps]


KERNEL_COLUMNS = ["kernel", "us", "share", "GFLOP/s", "GB/s", "schedule"]


def kernel_rows(steps: list[dict[str, Any]]) -> list[list[str]]:
    """Cells for a table of `profile`'s result."""
    total = sum(step["us"] for step in steps) or 1.0

    def rate(amount: float, us: float) -> str:
        return f"{amount / us / 1e3:.1f}" if us else ""

    result = [[step["name"], f"{step['us']:.1f}", f"{100 * step['us'] / total:.1f}%",
               rate(step.get("flops", 0), step["us"]), rate(step.get("bytes", 0), step["us"]),
               step["schedule"]] for step in steps]
    return [*result, ["all", f"{total:.1f}", "100.0%", "", "", ""]]


def as_json(found: dict[str, Measurement]) -> dict[str, Any]:
    eager = found.get("eager")
    result = {}
    for name, m in found.items():
        if m.failure:
            result[name] = {"failure": m.failure}
            continue
        entry: dict[str, Any] = {
            "median_ms": m.median,
            "interval_ms": list(m.interval),
            "setup_s": m.setup_s,
            "rounds_ms": m.rounds,
        }
        if m.host_us is not None:
            entry["host_us"] = m.host_us
        if m.gpu_ms is not None:
            entry["gpu_ms"] = m.gpu_ms
        if eager and eager.rounds:
            ratio, low, high = m.speedup(eager)
            entry["speedup"] = ratio
            entry["speedup_interval"] = [low, high]
        if m.error:
            entry["error"] = dataclasses.asdict(m.error)
            if eager and eager.error:
                entry["error_ratio"] = error_ratio(m.error, eager.error)
        result[name] = entry
    return result


def error_ratio(error: verify.Comparison, base: verify.Comparison) -> float:
    """The error as a multiple of eager's; 1 if both are exact."""
    if base.norm == 0:
        return 1.0 if error.norm == 0 else math.inf
    return error.norm / base.norm


def rows(found: dict[str, Measurement]) -> list[list[str]]:
    """Cells for a table, one row per variant."""
    result = []
    figures = as_json(found)
    for name, m in found.items():
        if m.failure:
            result.append([name, "failed", *[""] * (len(COLUMNS) - 2)])
            continue
        entry = figures[name]
        low, high = m.interval
        speedup = ""
        if "speedup" in entry:
            speedup = "{:.2f}x [{:.2f}, {:.2f}]".format(entry["speedup"], *entry["speedup_interval"])
        result.append([
            name,
            f"{m.median:.4g}",
            f"[{low:.4g}, {high:.4g}]",
            speedup,
            f"{m.gpu_ms:.4g}" if m.gpu_ms is not None else "",
            f"{m.host_us:.1f}" if m.host_us is not None else "",
            f"{m.error.norm:.2e}" if m.error else "",
            f"{entry['error_ratio']:.2f}x" if "error_ratio" in entry else "",
        ])
    return result


def failures(found: dict[str, Measurement]) -> list[str]:
    """A sentence about each variant that was not measured."""
    return [f"{name} failed: {m.failure.splitlines()[0]}" for name, m in found.items() if m.failure]


# How far apart the ends of the interval of a median may be, and those of a speedup's.
UNSTEADY, UNSTEADY_SPEEDUP = 1.5, 2.0


def doubts(found: dict[str, Measurement]) -> str:
    """A sentence about times that vary too much to be compared, or nothing."""
    unsteady = [name for name, m in found.items()
                if not m.failure and m.interval[1] > UNSTEADY * m.interval[0]]
    eager = found.get("eager")
    if not unsteady and eager and eager.rounds:
        for name, m in found.items():
            if m.rounds and name != "eager":
                _, low, high = m.speedup(eager)
                unsteady += [name] if high > UNSTEADY_SPEEDUP * low else []
    if not unsteady:
        return ""
    return (f"the times of {', '.join(unsteady)} vary too much to be compared: is this machine busy? "
            "Measure again when it is idle, or with more --rounds.")


COLUMNS = ["variant", "median ms", "95% interval", "speedup over eager", "GPU ms", "host us",
           "error", "error / eager's"]
