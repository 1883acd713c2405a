"""`fact.compile`: export in Python, compile and tune by the C++ driver, load."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Sequence

import torch

from . import toolchain
from .errors import FactError
from .export import ExportedGraph, export
from .library import Library, Model, load

# The architectures with kernels, by compute capability.
_ARCHITECTURES = {(9, 0): "sm_90a", (8, 0): "sm_80"}


def compile(
    module: torch.nn.Module,
    inputs: Sequence[Any],
    kwargs: dict[str, Any] | None = None,
    *,
    target: str = "auto",
    output: str | os.PathLike | None = None,
    name: str | None = None,
    candidates: int | None = None,
    options: Sequence[str] = (),
    cache: bool = False,
    verbose: bool = False,
) -> Model:
    """Compiles `module` for inputs like these and returns it as a callable.

    inputs, kwargs: what `module` is called with: tensors, nests of containers with
        tensors, and values that are compiled in.
    target: `host`, an architecture such as `sm_90a`, or `auto`: the GPU where there is
        one and nvcc to compile for it, otherwise the host.
    output: where the library goes; by default into the work folder.
    candidates: how many schedules of each kernel are tried at most. With 1, the best
        predicted one is verified and taken.
    options: more arguments for `fact-compile`.
    cache: take the library that an earlier call made of the same program with the same
        compiler and options, if it is still there.
    """
    graph = export(module, inputs, kwargs=kwargs, name=name)
    if any(tensor.is_meta for tensor in graph.weights.values()):
        raise FactError(f"{graph.name} is on the meta device and has no weights: use fact.build, "
                        "and give them to the library with load_weights")
    library = build_graph(graph, target, output, _options(candidates, options), cache, verbose)
    wanted = {entry["name"] for entry in library.weights}
    weights = {n: t for n, t in graph.weights.items() if n in wanted}
    model = library.create(weights)
    # What JSON cannot hold, as containers of the user's own, is known here.
    model.signature = graph.signature
    return model


def build(
    module: torch.nn.Module,
    inputs: Sequence[Any],
    kwargs: dict[str, Any] | None = None,
    *,
    target: str = "auto",
    output: str | os.PathLike | None = None,
    name: str | None = None,
    candidates: int | None = None,
    options: Sequence[str] = (),
    cache: bool = False,
    verbose: bool = False,
) -> Library:
    """Like `compile`, but without weights: the module may be on the meta device."""
    graph = export(module, inputs, kwargs=kwargs, name=name)
    return build_graph(graph, target, output, _options(candidates, options), cache, verbose)


def bundle(
    module: torch.nn.Module,
    inputs: Sequence[Any],
    kwargs: dict[str, Any] | None = None,
    *,
    target: str,
    output: str | os.PathLike,
    name: str | None = None,
    candidates: int | None = None,
    options: Sequence[str] = (),
    verbose: bool = False,
) -> Path:
    """Writes the bundle and stops: `fact-tune` finishes it on the machine that runs it."""
    graph = export(module, inputs, kwargs=kwargs, name=name)
    folder = Path(output).absolute()
    folder.parent.mkdir(parents=True, exist_ok=True)
    options = _options(candidates, options)
    work = work_folder(graph, target, options)
    arguments = [f"--target={resolve_target(target)}", f"--bundle={folder}",
                 "--until=bundle", *options]
    _drive(graph, work, arguments, verbose)
    return folder


def translate(
    module: torch.nn.Module,
    inputs: Sequence[Any],
    kwargs: dict[str, Any] | None = None,
    *,
    until: str,
    output: str | os.PathLike,
    target: str = "host",
    name: str | None = None,
    options: Sequence[str] = (),
    verbose: bool = False,
) -> dict[str, float]:
    """Writes the text of a stage, `import`, `raise` or `discover`; returns what took how long."""
    graph = export(module, inputs, kwargs=kwargs, name=name)
    path = Path(output).absolute()
    path.parent.mkdir(parents=True, exist_ok=True)
    arguments = ["-o", str(path), f"--until={until}", *options]
    if until == "discover":
        arguments.append(f"--target={resolve_target(target)}")
    begin = time.perf_counter()
    _drive(graph, work_folder(graph, until, options), arguments, verbose)
    return {**graph.seconds, "fact-compile": time.perf_counter() - begin}


def resolve_target(target: str) -> str:
    """`auto` becomes the GPU's architecture, or `host`."""
    if target != "auto":
        return target
    if not torch.cuda.is_available() or toolchain.find_nvcc() is None:
        return "host"
    capability = torch.cuda.get_device_capability()
    return _ARCHITECTURES.get(capability, "host")


def work_root() -> Path:
    """Where compilations keep their files: FACT_WORK_DIR, or the user's cache."""
    root = os.environ.get("FACT_WORK_DIR")
    if not root:
        cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        root = os.path.join(cache, "fact")
    return Path(root).absolute()


def work_folder(graph: ExportedGraph, target: str, options: Sequence[str] = ()) -> Path:
    """One folder a program, target and options, so that tuning resumes where it was."""
    # A machine of the user's own is a JSON file: what it says counts, not what it is called.
    own = target.endswith(".json") and Path(target).is_file()
    machine = Path(target).read_text(errors="replace") if own else target
    told = [option for option in options if not option.startswith("--summary=")]
    key = hashlib.sha256("\0".join([graph.text, machine, *told]).encode()).hexdigest()[:12]
    name = re.sub(r"[^\w.-]+", "_", f"{graph.name}-{Path(target).stem}")
    folder = work_root() / f"{name}-{key}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FactError(f"cannot make the work folder {folder}: {error.strerror}; "
                        "set FACT_WORK_DIR to a folder that can be written") from None
    return folder


def build_graph(graph: ExportedGraph, target: str = "auto", output=None,
                options: Sequence[str] = (), cache: bool = False,
                verbose: bool = False) -> Library:
    """Compiles what was exported."""
    target = resolve_target(target)
    work = work_folder(graph, target, options)
    path = Path(output).absolute() if output else work / f"{graph.name}.so"
    path.parent.mkdir(parents=True, exist_ok=True)
    stamp, compiler = work / "compiler", _compiler_identity()
    if not (cache and path.exists() and stamp.exists() and stamp.read_text() == compiler):
        stamp.unlink(missing_ok=True)
        arguments = ["-o", str(path), f"--target={target}", f"--bundle={work / 'bundle'}",
                     *options]
        _drive(graph, work, arguments, verbose)
        if not output:
            stamp.write_text(compiler)
    library = load(path)
    library.work_folder = work
    return library


def _options(candidates: int | None, options: Sequence[str]) -> list[str]:
    return [*([] if candidates is None else [f"--candidates={candidates}"]), *options]


def _compiler_identity() -> str:
    """Changes when the programs that make libraries do."""
    tools = [toolchain.require_tool(name) for name in ("fact-compile", "fact-tune")
             if name == "fact-compile" or toolchain.find_tool(name)]
    facts = [(str(tool), tool.stat().st_size, tool.stat().st_mtime_ns) for tool in tools]
    return json.dumps(facts)


def _drive(graph: ExportedGraph, work: Path, arguments: list[str], verbose: bool) -> None:
    """Runs fact-compile on the graph, which is saved first, so a failure can be repeated."""
    source = work / f"{graph.name}.mlir"
    graph.save(source)
    tool = toolchain.require_tool("fact-compile")
    command = [str(tool), str(source), *arguments]
    if not any(argument.startswith("--summary=") for argument in arguments):
        command.append(f"--summary={work / 'summary.json'}")
    # If this process is ended, so is what it started.
    environment = {**toolchain.environment(), "FACT_END_WITH_PARENT": "1"}
    if verbose:
        print("+ " + shlex.join(command), file=sys.stderr, flush=True)
    process = subprocess.run(
        command, env=environment, text=True, errors="replace",
        stdout=None if verbose else subprocess.PIPE,
        stderr=None if verbose else subprocess.STDOUT,
    )
    if process.returncode:
        output = (process.stdout or "").rstrip()
        tail = "\n".join(output.splitlines()[-40:])
        status = process.returncode
        ended = f"was killed by signal {-status}" if status < 0 else f"failed with status {status}"
        raise FactError(
            f"fact-compile {ended}" + (f":\n{tail}\n" if tail else "\n")
            + "reproduce it with\n  " + shlex.join(command)
        )
