# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`fact.compile`: export in Python, compile and tune by the C++ driver, load."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shlex
import subprocess
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from . import progress, toolchain
from .end_to_end import Refused, compare_with_module
from .errors import CompilerError, FactError, FactWarning
from .export import ExportedGraph, export, model_name
from .library import Library, Model, load
from .machine import environment, require_gpu, require_host_compiler, resolve_target
from .work import Stamp, hash_file, identity as compiler_identity, locked, work_folder

log = logging.getLogger("fact")


def compile(
    module: torch.nn.Module | torch.export.ExportedProgram,
    inputs: Sequence[Any] | None = None,
    kwargs: dict[str, Any] | None = None,
    *,
    target: str = "auto",
    output: str | os.PathLike[str] | None = None,
    name: str | None = None,
    candidates: int | None = None,
    options: Sequence[str] = (),
    cache: bool = False,
    verify: bool = True,
    verbose: bool = False,
    dynamic_shapes: Any = None,
) -> Model:
    """Compiles `module` for inputs like these and returns it as a callable.

    module: a module, or the result of `torch.export.export` for one.
    inputs, kwargs: the arguments of `module`: tensors, nested containers of tensors, and
        values that are compiled in. An exported program has its own, if none are given.
    target: a machine (`h200`, `rtx4090`, `host`), an architecture (`sm_80`), a file that
        describes a machine, or `auto`: PyTorch's current GPU if there are a GPU and nvcc,
        otherwise the host.
    output: the path of the library; by default in the work folder.
    name: of the library and its functions, a C identifier; by default from the module's class.
    candidates: the maximum number of schedules to try per kernel. With 1, the best
        predicted one is verified and taken.
    options: more arguments for `fact-compile`.
    cache: reuse the library of an earlier call with the same program, compiler and options
        on the same machine, if it still exists.
    verify: run the library and the module once on these inputs and refuse a library that
        is further from fp64 than 1.5 times the module itself, plus one rounding. A cached
        library that was compared before is not compared again.
    verbose: print what the tools print, in place of a bar while they run.
    dynamic_shapes: sizes are fixed, so nothing but None is accepted.
    """
    module, inputs, kwargs = open_program(module, inputs, kwargs, dynamic_shapes)
    graph = _export(module, inputs, kwargs, name)
    if any(tensor.is_meta for tensor in graph.weights.values()):
        raise FactError(f"{graph.name} is on the meta device and has no weights: use fact.build, "
                        "and give them to the library with load_weights")
    library = build_graph(graph, target, output, _options(candidates, options), cache, verbose)
    model = _create(library, graph)
    verify_library(library, model, module, inputs, kwargs, verify)
    return model


def build(
    module: torch.nn.Module | torch.export.ExportedProgram,
    inputs: Sequence[Any] | None = None,
    kwargs: dict[str, Any] | None = None,
    *,
    target: str = "auto",
    output: str | os.PathLike[str] | None = None,
    name: str | None = None,
    candidates: int | None = None,
    options: Sequence[str] = (),
    cache: bool = False,
    verify: bool = True,
    verbose: bool = False,
) -> Library:
    """Compiles `module` as `compile` does, with the same arguments, and returns the library without
    weights: `load_weights` gives it some.

    The module may be on the meta device, and then the library cannot be compared with it.
    """
    module, inputs, kwargs = open_program(module, inputs, kwargs)
    graph = _export(module, inputs, kwargs, name)
    library = build_graph(graph, target, output, _options(candidates, options), cache, verbose)
    if any(tensor.is_meta for tensor in graph.weights.values()):
        log.warning("%s was not compared with its module, which is on the meta device and has "
                    "no data", library.name)
    else:
        model = _create(library, graph) if verify and not library.verified else None
        verify_library(library, model, module, inputs, kwargs, verify)
    return library


def bundle(
    module: torch.nn.Module | torch.export.ExportedProgram,
    inputs: Sequence[Any] | None = None,
    kwargs: dict[str, Any] | None = None,
    *,
    target: str,
    output: str | os.PathLike[str],
    name: str | None = None,
    candidates: int | None = None,
    options: Sequence[str] = (),
    verbose: bool = False,
) -> Path:
    """Writes the bundle and stops: `fact-tune` finishes it on the machine that runs it.

    target: as of `compile`, but not `auto`; neither a GPU nor nvcc is needed here.
    output: the folder of the bundle, which is returned. One that is there is replaced.
    Other arguments are those of `compile`.
    """
    module, inputs, kwargs = open_program(module, inputs, kwargs)
    graph = _export(module, inputs, kwargs, name)
    return bundle_graph(graph, target, output, _options(candidates, options), verbose)


def bundle_graph(graph: ExportedGraph, target: str, output: str | os.PathLike[str],
                 options: Sequence[str] = (), verbose: bool = False) -> Path:
    """Writes the bundle of an exported graph."""
    folder = Path(output).absolute()
    folder.parent.mkdir(parents=True, exist_ok=True)
    work = work_folder(graph, target, options)
    arguments = [f"--target={resolve_target(target)}", f"--bundle={folder}",
                 "--until=bundle", *options]
    with locked(work):
        _drive(graph, work, arguments, verbose)
    return folder


def translate(
    module: torch.nn.Module | torch.export.ExportedProgram,
    inputs: Sequence[Any] | None = None,
    kwargs: dict[str, Any] | None = None,
    *,
    until: str,
    output: str | os.PathLike[str],
    target: str = "host",
    name: str | None = None,
    options: Sequence[str] = (),
    verbose: bool = False,
) -> dict[str, float]:
    """Writes the text of a stage, `import`, `raise` or `discover`; returns times by stage."""
    module, inputs, kwargs = open_program(module, inputs, kwargs)
    graph = _export(module, inputs, kwargs, name)
    path = Path(output).absolute()
    path.parent.mkdir(parents=True, exist_ok=True)
    arguments = ["-o", str(path), f"--until={until}", *options]
    if until == "discover":
        arguments.append(f"--target={resolve_target(target)}")
    begin = time.perf_counter()
    work = work_folder(graph, until, options)
    with locked(work):
        _drive(graph, work, arguments, verbose)
    return {**graph.seconds, "fact-compile": time.perf_counter() - begin}


def open_program(module: Any, inputs: Sequence[Any] | None, kwargs: dict[str, Any] | None,
                 dynamic_shapes: Any = None) -> tuple[torch.nn.Module, Sequence[Any], Any]:
    """The module of an exported program, and the inputs that it was exported with unless there
    are others."""
    if dynamic_shapes is not None:
        raise FactError(f"dynamic_shapes: {_FIXED_SIZES}")
    if not isinstance(module, torch.export.ExportedProgram):
        if not isinstance(module, torch.nn.Module):
            raise FactError(f"{module!r} is not a torch.nn.Module or the result of torch.export.export, "
                            "which torch.export.load reads from a file")
        if inputs is None:
            raise FactError("inputs are missing: the arguments that the module is called with")
        return module, inputs, kwargs
    for node in module.graph.nodes:
        value = node.meta.get("val") if node.op == "placeholder" else None
        sizes = value.shape if isinstance(value, torch.Tensor) else (value,)
        symbolic = [str(size) for size in sizes if isinstance(size, torch.SymInt)]
        if symbolic:
            raise FactError(f"input '{node.name}' of the exported program has symbolic sizes "
                            f"({', '.join(symbolic)}): {_FIXED_SIZES}")
    if inputs is None:
        if module.example_inputs is None:
            raise FactError("inputs are missing, and the exported program has no example inputs")
        inputs, kwargs = module.example_inputs
    return module.module(), inputs, kwargs


_FIXED_SIZES = ("a library has fixed sizes: export without dynamic_shapes, and compile once per "
                "size; torch.compile(backend=\"fact\", dynamic=True) does so by itself")


def build_graph(graph: ExportedGraph, target: str = "auto",
                output: str | os.PathLike[str] | None = None,
                options: Sequence[str] = (), cache: bool = False,
                verbose: bool = False) -> Library:
    """Compiles an exported graph. `verified` of the library says whether an earlier call
    compared it with its module."""
    target = resolve_target(target)
    require_gpu(target, options)
    work = work_folder(graph, target, options)
    path = Path(output).absolute() if output else work / f"{graph.name}.so"
    path.parent.mkdir(parents=True, exist_ok=True)
    stamp, identity = Stamp(work), compiler_identity(target)
    with locked(work) as waited:
        # If another process compiled the library while this one waited, it is the same library.
        usable = not output and (cache or waited)
        if not (usable and stamp.matches(path, identity)):
            require_host_compiler(target, options)
            stamp.remove()
            arguments = ["-o", str(path), f"--target={target}", f"--bundle={work / 'bundle'}",
                         *options]
            _drive(graph, work, arguments, verbose)
            if not output:
                stamp.write(path, identity)
        library = load(path)
        library.verified = stamp.is_verified(path)
    library.work_folder = work
    _warn_of_fallbacks(work / "bundle")
    return library


def _warn_of_fallbacks(bundle: Path) -> None:
    """Names the kernels of the last resort that took the place of candidates that failed."""
    try:
        kernels = json.loads((bundle / "tuning.json").read_text())["kernels"]
    except (OSError, ValueError, KeyError):
        return
    for kernel in kernels:
        if kernel.get("fallback"):
            failed = [each for each in kernel["attempts"] if each["status"] != "ok"]
            reason = "".join(f", the first with {each['status']}: {each.get('detail', '')}\nIts log is "
                             f"{each['log']}" for each in failed[:1])
            warnings.warn(f"kernel '{kernel['name']}' runs in plain loops, which is slow: its "
                          f"{len(failed)} candidates failed{reason}", FactWarning, stacklevel=4)


def verify_library(library: Library, model: Model | None, module: torch.nn.Module,
                   inputs: Sequence[Any], kwargs: dict[str, Any] | None,
                   verify: bool) -> None:
    """Compares a library with its module once, and renames it if it is wrong."""
    if library.verified:
        return
    if not verify:
        log.warning("%s was not compared with its module: verify=False", library.name)
        return
    assert model is not None and library.work_folder is not None
    path, work, stamp = Path(library.path), library.work_folder, Stamp(library.work_folder)
    inputs = (inputs,) if isinstance(inputs, torch.Tensor) else inputs
    try:
        with progress.showing(f"comparing {library.name} with the module in fp64"):
            verdict = library.verdict = compare_with_module(model, module, inputs, kwargs)
    except Refused as error:
        with locked(work):
            stamp.remove()
            refused = path.with_name(path.name + ".refused")
            # Another process may have refused the same library.
            with contextlib.suppress(FileNotFoundError):
                path.replace(refused)
        raise Refused(f"{error}.\nThe library was moved to {refused}; its program is "
                      f"{work / (library.name + '.mlir')}. verify=False "
                      "(--no-verify) accepts it without this comparison") from None
    if verdict.skipped:
        log.warning("%s was %s", library.name, verdict)
        return
    library.verified = True
    with locked(work):
        known = stamp.read()
        if known.get("library") == hash_file(path):
            stamp.write(path, known["identity"], verified=True)


def _create(library: Library, graph: ExportedGraph) -> Model:
    """A model with the weights of the module that was exported."""
    wanted = {entry["name"] for entry in library.weights}
    model = library.create({n: t for n, t in graph.weights.items() if n in wanted})
    # The library's JSON cannot hold everything, such as container classes of the user.
    model.signature = graph.signature
    return model


def _export(module: torch.nn.Module, inputs: Sequence[Any], kwargs: dict[str, Any] | None,
            name: str | None) -> ExportedGraph:
    with progress.showing(f"exporting {name or model_name(module)}"):
        return export(module, inputs, kwargs=kwargs, name=name)


def _options(candidates: int | None, options: Sequence[str]) -> list[str]:
    return [*([] if candidates is None else [f"--candidates={candidates}"]), *options]


def _drive(graph: ExportedGraph, work: Path, arguments: list[str], verbose: bool) -> None:
    """Runs fact-compile on the graph, which is saved first, so that a failure can be reproduced."""
    source = work / f"{graph.name}.mlir"
    graph.save(source)
    tool = toolchain.require_tool("fact-compile")
    command = [str(tool), str(source), *arguments]
    if not any(argument.startswith("--summary=") for argument in arguments):
        command.append(f"--summary={work / 'summary.json'}")
    # fact-compile ends with this process.
    variables = {**environment(), "FACT_END_WITH_PARENT": "1"}
    if verbose:
        print("+ " + shlex.join(command), file=sys.stderr, flush=True)
        process = subprocess.run(command, env=variables, text=True)
    else:
        with progress.following(f"compiling {graph.name}") as (more, descriptors):
            process = subprocess.run(command, env={**variables, **more}, text=True, errors="replace",
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                     pass_fds=descriptors)
    if process.returncode:
        output = (process.stdout or "").rstrip()
        status = process.returncode
        ended = f"was killed by signal {-status}" if status < 0 else f"failed with status {status}"
        shown = _first_errors(output)
        # The summary may lie in a folder of this process.
        repeated = [word for word in command if not word.startswith("--summary=")]
        # What was wrong is at the end, where Python's traceback leaves the reader.
        raise CompilerError("\n".join([f"fact-compile {ended}; reproduce it with",
                                       f"  {shlex.join(repeated)}", *([shown] if shown else [])]),
                            output)


# The maximum number of lines of a failed tool's output that an exception has.
_SHOWN_LINES = 40


def _first_errors(output: str) -> str:
    """The output from the first error on, since later errors often follow from it; the end of
    it if there is none."""
    # The command above repeats all stages.
    lines = [line for line in output.splitlines() if "remark: to repeat stage" not in line]
    first = next((i for i, line in enumerate(lines) if "error:" in line), None)
    if first is None:
        return "\n".join(lines[-_SHOWN_LINES:])
    rest = len(lines) - first - _SHOWN_LINES
    more = [f"({rest} more lines)"] if rest > 0 else []
    return "\n".join(lines[first:first + _SHOWN_LINES] + more)
