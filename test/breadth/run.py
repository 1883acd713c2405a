#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Many small modules, compiled and compared with PyTorch in fp64.

    run.py check                                    on the host, with small sizes
    run.py pack FOLDER --precision fp32|tf32|bf16   with the compiler: bundles, no GPU
    run.py run FOLDER                               with the GPU: no compiler, no torch-mlir
    run.py pack FOLDER --target host, run.py run FOLDER --baselines eager     on one thread of the host

`check` compiles batches of modules; a batch that fails is halved until each failing module is
known. `pack` writes a bundle per module and lists the modules that the target refuses. `run`
tunes and links the bundles, compares each library with its module, and times library, eager and
torch.compile in its modes (--baselines) side by side: on a GPU with launches, alone, and until a
call returns. Comparisons and timings are in processes of their own: a module that crashes or hangs
ends its process, and the next process continues after it. Results are in FOLDER/report.json and
FOLDER/report.md. With --resume, what was done before is not done again.

On the host, sizes are those of `scale.py` and times are the processor time of the one thread that
runs all of a call, so that other processes disturb them less.

--names selects modules by a regular expression, --sample N draws N of them by --seed.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import faulthandler
import fcntl
import json
import logging
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "python"), str(HERE.parent)]

import torch  # noqa: E402

import fact  # noqa: E402
from breadth import report  # noqa: E402
from breadth.registry import MATMUL_PRECISIONS, Case, cases, set_precision, together  # noqa: E402
from fact.bench import (  # noqa: E402
    VARIANTS,
    Measurement,
    Timer,
    measure,
    measure_gpu,
    measure_host,
    prepare,
    profile,
)
from fact.end_to_end import compare_with_module  # noqa: E402

BATCH = 12


def choose(arguments) -> list[Case]:
    found = [each for each in cases(arguments.precision) if re.search(arguments.names, each.name)]
    if arguments.sample and arguments.sample < len(found):
        found = random.Random(arguments.seed).sample(found, arguments.sample)
    return found


def reason(error: BaseException) -> str:
    """The first line of an error that says what was wrong."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    line = next((line for line in lines if "error: " in line or line.startswith("output '")),
                lines[0] if lines else "")
    if not line.startswith("output '"):
        line = line.split("error: ", 1)[-1]
    return line if isinstance(error, fact.FactError) else f"{type(error).__name__}: {line}"


@contextlib.contextmanager
def deadline(seconds: int):
    """Raises TimeoutError in what takes longer; a subprocess that it waits for is killed."""

    def expire(*_):
        raise TimeoutError(f"took longer than {seconds} s")

    previous = signal.signal(signal.SIGALRM, expire)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)


# On the host.


def failures(batch: Sequence[Case], attempt: Callable[[Sequence[Case]], Any]) -> dict[str, str]:
    """Reasons by module. Halves of a batch that fails are tried alone."""
    try:
        attempt(batch)
        return {}
    except Exception as error:
        if len(batch) == 1:
            return {batch[0].name: reason(error)}
        half = len(batch) // 2
        found = {**failures(batch[:half], attempt), **failures(batch[half:], attempt)}
        return found or {" + ".join(each.name for each in batch): f"only together: {reason(error)}"}


def batches(chosen: Sequence[Case], size: int = BATCH) -> list[Sequence[Case]]:
    return [chosen[begin:begin + size] for begin in range(0, len(chosen), size)]


def compile_for_host(batch: Sequence[Case], precision: str) -> None:
    """Raises FactError if a module is refused, or its results are wrong or cannot be compared.
    Whole results are compared with PyTorch, so no kernel is compared with its reference."""
    module, inputs = together(batch, "small", precision)
    model = fact.compile(module, inputs, target="host", candidates=1, name="breadth",
                         options=["--tuner-argument=--untuned", "--tuner-argument=--no-check"])
    if model.library.verdict.skipped:
        raise fact.FactError(str(model.library.verdict))


def check(arguments) -> int:
    def attempt(batch):
        with deadline(arguments.timeout):
            compile_for_host(batch, arguments.precision)

    begin, chosen, wrong = time.monotonic(), choose(arguments), {}
    for batch in batches(chosen, arguments.batch):
        found = failures(batch, attempt)
        wrong.update(found)
        for name, text in found.items():
            print(f"{name}: {text}", flush=True)
    print(f"breadth: {len(chosen)} modules in {arguments.precision} on the host, {len(wrong)} "
          f"failures; {time.monotonic() - begin:.0f} s")
    return 1 if wrong or not chosen else 0


# With the compiler.


def pack_one(each: Case, arguments) -> dict[str, Any]:
    """Writes a bundle; returns the rules of its kernels."""
    folder = Path(arguments.folder) / each.identifier
    sizes = each.sizes(arguments.size)
    module, inputs = each.make_to_compile(arguments.size, arguments.precision)
    with deadline(arguments.timeout):
        fact.bundle(module, inputs, target=arguments.target, output=folder, name=folder.name,
                    candidates=arguments.candidates)
    record = {"name": each.name, "precision": arguments.precision, "sizes": sizes}
    (folder / "case.json").write_text(json.dumps(record))
    return rules_of(folder)


def rules_of(bundle: Path) -> dict[str, Any]:
    kernels = json.loads((bundle / "bundle.json").read_text())["kernels"]
    return {"rules": [kernel["rule"] for kernel in kernels]}


def pack(arguments) -> int:
    folder = Path(arguments.folder)
    if not arguments.resume:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    chosen, packed, refused = choose(arguments), {}, {}
    for each in chosen:
        if (folder / each.identifier / "case.json").exists():
            packed[each.name] = rules_of(folder / each.identifier)
            continue
        try:
            packed[each.name] = pack_one(each, arguments)
        except Exception as error:
            shutil.rmtree(folder / each.identifier, ignore_errors=True)
            refused[each.name] = reason(error)
            print(f"{each.name}: {refused[each.name]}", flush=True)
    (folder / "packed.json").write_text(json.dumps({"packed": packed, "refused": refused}, indent=1))
    generic = sorted(name for name, entry in packed.items() if "generic" in entry["rules"])
    print(f"breadth: {len(packed)} of {len(chosen)} modules in {arguments.precision} for "
          f"{arguments.target} in {folder}; {len(generic)} have generic kernels; "
          f"{len(refused)} are refused")
    print(report.table(["refused", "reason"], refused.items()))
    return 0 if packed else 1


# With the GPU, or on the host.


def made(bundle: Path) -> tuple[torch.nn.Module, Any]:
    """The module of a bundle and its inputs, on the CPU."""
    record = json.loads((bundle / "case.json").read_text())
    precision = record["precision"]
    set_precision(precision)
    each = next(each for each in cases(precision) if each.name == record["name"])
    return each.make_of(record["sizes"], precision)


@contextlib.contextmanager
def alone_with_device(folder: Path):
    """One process at a time."""
    with open(folder / "device.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


class Loaded:
    """The library of a bundle and its module, on the library's device."""

    def __init__(self, bundle: Path, module: torch.nn.Module, inputs: Any):
        library = fact.load(bundle / f"{bundle.name}.so")
        self.device = torch.device(library.device_type)
        self.module = module.to(self.device)
        self.inputs = torch.utils._pytree.tree_map_only(
            torch.Tensor, lambda value: value.to(self.device), inputs)
        self.model = library.create(self.module)

    def prepare(self, variant: str) -> Callable[[], Any]:
        """FACT or a baseline as a function without arguments."""
        return prepare(variant, self.module, self.inputs, lambda: self.model)


def compare_library(bundle: Path, baselines: Sequence[str], _: float) -> dict[str, Any]:
    """Errors of the library and of eager by result. torch.compile's kernels are compiled, so that
    they are in its cache when they are timed; max-autotune's are not, which are chosen by times."""
    loaded = Loaded(bundle, *made(bundle))
    with torch.no_grad():
        verdict = compare_with_module(loaded.model, loaded.module, loaded.inputs)
        for name in {"compile", "reduce-overhead"} & set(baselines):
            with contextlib.suppress(Exception):
                loaded.prepare(name)()
            torch._dynamo.reset()
    return {"skipped": verdict.skipped,
            "errors": {name: [ours.norm, eager.norm] for name, (ours, eager) in verdict.errors.items()}}


def time_library(bundle: Path, baselines: Sequence[str], seconds: float) -> dict[str, Any]:
    """Times of the library and of each baseline that runs; of a GPU with launches and alone, of
    each kernel, and of the host until the call returns."""
    module, inputs = made(bundle)
    with alone_with_device(bundle.parent), torch.no_grad():
        loaded = Loaded(bundle, module, inputs)
        callables, broken = {"fact": loaded.prepare("fact")}, {}
        for name in baselines:
            try:
                callables[name] = loaded.prepare(name)
                callables[name]()
            except Exception as error:
                broken[name] = reason(error)
                callables.pop(name, None)
        result = {"broken": broken, **medians(measure(
            callables, loaded.device, **rounds_on(loaded.device, callables, seconds)))}
        if loaded.device.type == "cuda":
            host_us = measure_host(callables, rounds=20)
            alone = measure_gpu(callables, Timer(loaded.device).flush, host_us)
            result.update(host_us=host_us, gpu=medians(alone),
                          steps=[{"name": step["name"], "us": step["us"]}
                                 for step in profile(loaded.model, loaded.inputs, runs=10)])
    return result


def medians(times: dict[str, list[list[float]]]) -> dict[str, Any]:
    """Median microseconds by variant, and ranges of the library's speedup over the others."""
    found = {name: Measurement(name, rounds=rounds) for name, rounds in times.items()}
    return {"us": {name: 1e3 * each.median for name, each in found.items()},
            "intervals": {name: found["fact"].speedup(each)[1:]
                          for name, each in found.items() if name != "fact"}}


def rounds_on(device: torch.device, callables: dict[str, Callable[[], Any]],
              seconds: float) -> dict[str, Any]:
    """How often to measure. On the host for about `seconds`, as processor time of the thread."""
    if device.type == "cuda":
        return {}
    measure(callables, device, rounds=1, repeats=1, warmup=1)
    once = sum(times[0][0] for times in
               measure(callables, device, rounds=1, repeats=1, warmup=0).values())
    repeats = 3
    return {"repeats": repeats, "rounds": max(7, min(101, int(1e3 * seconds / (repeats * once)))),
            "clock": time.thread_time}


STAGES = {"compare": compare_library, "time": time_library}
# The status of a process that recorded a failure and ended because of it. A crash, a hang (the
# fault handler's status is 1) and an exception outside of a module have others.
RECORDED = 3


def each_bundle(mode: str, bundles: Sequence[str], timeout: int,
                function: Callable[[Path], dict[str, Any]]) -> int:
    """In a process of its own: a stage on bundles, one after the other, up to the first failure."""
    for bundle in map(Path, bundles):
        faulthandler.dump_traceback_later(timeout, exit=True)
        try:
            result = function(bundle)
        except Exception as error:
            # After an error on the device, the process is of no more use.
            result = {"failure": reason(error)}
        (bundle / f"{mode}.json").write_text(json.dumps(result))
        torch._dynamo.reset()
        if "failure" in result:
            return RECORDED
    return 0


def stage(arguments) -> int:
    # Modules that are made meanwhile leave processors to the one that is timed.
    torch.set_num_threads(min(torch.get_num_threads(), max(1, (os.cpu_count() or 1) // 8)))
    return each_bundle(arguments.mode, arguments.bundles, arguments.timeout,
                       lambda bundle: STAGES[arguments.mode](bundle, arguments.baselines,
                                                             arguments.seconds))


def supervise(mode: str, bundles: Sequence[Path], command: Sequence[str]) -> None:
    """Runs a stage; where its process ends, a new one continues with the next bundle."""
    pending = [bundle for bundle in bundles if not (bundle / f"{mode}.json").exists()]
    while pending:
        done = subprocess.run([*command, "--bundles", *map(str, pending)], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace")
        pending = [bundle for bundle in pending if not (bundle / f"{mode}.json").exists()]
        if pending and done.returncode != RECORDED:
            bundle = pending.pop(0)
            (bundle / f"{mode}.log").write_text(done.stdout)
            last = (done.stdout.strip().splitlines() or [""])[-1]
            (bundle / f"{mode}.json").write_text(json.dumps(
                {"failure": f"the process ended with status {done.returncode}: {last}"}))


def in_parallel(mode: str, bundles: Sequence[Path], command: Sequence[str], parallel: int) -> None:
    """Runs a stage in several processes."""
    parts = [part for part in (bundles[i::parallel] for i in range(parallel)) if part]
    with concurrent.futures.ThreadPoolExecutor(len(parts) or 1) as pool:
        list(pool.map(lambda part: supervise(mode, part, command), parts))


def tune(bundles: Sequence[Path], arguments) -> None:
    """Links a library per bundle. One that fails does not stop the others."""
    tool = os.path.join(os.environ.get("FACT_BIN_DIR", ROOT / "build" / "bin"), "fact-tune")
    for number, batch in enumerate(batches(bundles, arguments.batch)):
        some = ["--candidates", str(arguments.candidates)] if arguments.candidates else []
        command = [tool, *map(str, batch), *some, *arguments.tune]
        with open(Path(arguments.folder) / f"tune{number:02}.log", "w") as log:
            process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
            try:
                process.wait(arguments.tune_timeout)
            except subprocess.TimeoutExpired:
                # fact-tune ends its own children on SIGTERM.
                process.terminate()
                process.wait()
        print(f"tuned {min((number + 1) * arguments.batch, len(bundles))} of "
              f"{len(bundles)}", flush=True)


def chooses(bundle: Path) -> bool:
    """Whether a kernel of the bundle would leave a decision to a vendor's library, which only the
    check of the linked library asks for."""
    kernels = json.loads((bundle / "bundle.json").read_text())["kernels"]
    return any(min(kernel["candidates"], key=lambda each: each.get("predicted_us", float("inf")))
               ["key"].startswith("cublas") for kernel in kernels)


def link(bundles: Sequence[Path], folder: Path, check: bool = False) -> None:
    """A library per bundle from the best predicted schedules. Without `check`, no kernel is
    compared with its reference: the library is compared with its module."""
    tool = os.path.join(os.environ.get("FACT_BIN_DIR", ROOT / "build" / "bin"), "fact-tune")
    unchecked = [] if check else [bundle for bundle in bundles if not chooses(bundle)]
    # All compilers are busy from the first object to the last.
    with open(folder / "compile.log", "w") as log:
        for flags, part in ((["--no-check"], unchecked),
                            ([], [bundle for bundle in bundles if bundle not in unchecked])):
            if part:
                subprocess.run([tool, *map(str, part), "--compile-only", *flags, "--candidates", "1"],
                               stdout=log, stderr=subprocess.STDOUT)

    def link_one(bundle: Path) -> None:
        flags = ["--no-check"] if bundle in unchecked else []
        with open(bundle / "link.log", "w") as log:
            subprocess.run([tool, str(bundle), "--untuned", *flags, "--candidates", "1"],
                           stdout=log, stderr=subprocess.STDOUT)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(link_one, bundles))


def target_of(bundle: Path) -> str:
    return json.loads((bundle / "bundle.json").read_text())["target"]["kind"]


def run(arguments) -> int:
    folder = Path(arguments.folder).resolve()
    bundles = sorted(path.parent for path in folder.glob("*/case.json"))
    bundles = [bundle for bundle in bundles
               if re.search(arguments.names, json.loads((bundle / "case.json").read_text())["name"])]
    if not bundles:
        raise SystemExit(f"breadth: error: no bundles in {folder}: run.py pack")
    on_host = all(target_of(bundle) == "host" for bundle in bundles)
    if on_host:
        os.environ.update(OMP_NUM_THREADS="1", FACT_NUM_THREADS="1")
    if not arguments.resume:
        for bundle in bundles:
            for mode in STAGES:
                (bundle / f"{mode}.json").unlink(missing_ok=True)
    if not arguments.no_tune:
        pending = [bundle for bundle in bundles
                   if not (arguments.resume and (bundle / f"{bundle.name}.so").exists())]
        if arguments.untuned:
            link(pending, folder)
        else:
            tune(pending, arguments)
    linked = [bundle for bundle in bundles if (bundle / f"{bundle.name}.so").exists()]
    commands = {mode: [sys.executable, __file__, mode, arguments.folder, "--timeout",
                       str(arguments.timeout), "--seconds", str(arguments.seconds),
                       "--baselines", *arguments.baselines]
                for mode in STAGES}
    in_parallel("compare", linked, commands["compare"], arguments.parallel)
    # One process at a time has the device; the next one's module is made meanwhile. On the host
    # that would disturb what is measured.
    if not arguments.no_time:
        in_parallel("time", linked, commands["time"], 1 if on_host else 3)
    return report.write(folder, bundles)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=("check", "pack", "run", *STAGES))
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--names", default="", help="a regular expression, searched in names")
    parser.add_argument("--sample", type=int, help="modules at most, drawn by --seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--precision", choices=MATMUL_PRECISIONS, default="fp32")
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--size", choices=("small", "large", "host"),
                        help="default: large, or host for the target of that name")
    parser.add_argument("--candidates", type=int, help="schedules per kernel (default: fact-tune's)")
    parser.add_argument("--batch", type=int, default=BATCH,
                        help="modules per compilation (check) and per fact-tune (run)")
    parser.add_argument("--timeout", type=int, default=180, help="seconds per module or batch")
    parser.add_argument("--tune-timeout", type=float, default=1800, help="seconds per fact-tune")
    parser.add_argument("--tune", nargs="*", default=[], help="more options for fact-tune")
    parser.add_argument("--no-tune", action="store_true", help="use the libraries of an earlier run")
    parser.add_argument("--untuned", action="store_true", help="libraries of the best predicted "
                        "schedules")
    parser.add_argument("--no-time", action="store_true", help="compare libraries, time nothing")
    parser.add_argument("--resume", action="store_true", help="keep what an earlier run finished")
    parser.add_argument("--seconds", type=float, default=1.0,
                        help="of measurements per module on the host, but seven rounds at least")
    parser.add_argument("--parallel", type=int, default=4, help="comparisons at a time")
    parser.add_argument("--baselines", nargs="*", choices=[name for name in VARIANTS if name != "fact"],
                        default=["eager", "compile"])
    parser.add_argument("--bundles", nargs="*", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.mode != "check" and not arguments.folder:
        parser.error(f"{arguments.mode} needs a folder")
    arguments.size = arguments.size or ("host" if arguments.target == "host" else "large")
    set_precision(arguments.precision)
    # PyTorch's own remarks on modules hide the lines of this report.
    warnings.simplefilter("ignore")
    torch._logging.set_logs(all=logging.ERROR)
    if arguments.mode in STAGES:
        return stage(arguments)
    return {"check": check, "pack": pack, "run": run}[arguments.mode](arguments)


if __name__ == "__main__":
    sys.exit(main())
