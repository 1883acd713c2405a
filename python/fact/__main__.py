# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The `fact` command: compile, report, export, run, info, bench, registry, demo, doctor."""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from .errors import FactError, printable
from .files import writing
from .reporting.collect import page_of
from .reporting.command import CompilationReport, add_parser as add_report_parser


def main(arguments: list[str] | None = None) -> int:
    is_program = arguments is None
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        # fact-registry parses its own options.
        if arguments[:1] == ["registry"]:
            return _registry(arguments[1:])
        agent_options = _agent_options() if arguments[:1] == ["compile"] else []
        options = _parser(agent_options).parse_args(arguments)
        if is_program:
            _limit_threads(getattr(options, "threads", None))
        return options.function(options)
    except FactError as error:
        print(f"fact: error: {printable(str(error))}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _limit_threads(count: int | None) -> None:
    """Restarts with the number of threads in the environment: PyTorch's BLAS reads it once,
    before this code runs, and torch.set_num_threads does not change it."""
    if count is None or count < 1 or os.environ.get("OMP_NUM_THREADS") == str(count):
        return
    environment = {**os.environ, "OMP_NUM_THREADS": str(count)}
    os.execve(sys.executable, [sys.executable, "-m", "fact", *sys.argv[1:]], environment)


@functools.cache
def _agent_options() -> list[tuple[str, str, str]]:
    """The options of agents, which fact-compile declares and gets: name, value, help."""
    from .toolchain import find_tool

    tool = find_tool("fact-compile")
    if tool is None:
        return []
    listed = subprocess.run([tool, "--print-agent-options"], capture_output=True, text=True)
    return [tuple(option) for option in json.loads(listed.stdout)] if listed.stdout else []


class _PrintVersion(argparse.Action):
    """Asks for the version only if it is wanted: in a checkout, Git knows it."""

    def __call__(self, parser, *_) -> None:
        from .version import version

        print(f"fact {version()}")
        parser.exit()


def _parser(agent_options: list[tuple[str, str, str]]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="fact", description=__doc__)
    parser.add_argument("--version", action=_PrintVersion, nargs=0, help="print the version")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    compile_ = commands.add_parser("compile", help="compile a module to a shared library")
    _add_workload(compile_)
    compile_.add_argument("-o", "--output", metavar="LIB",
                          help="the library (default: NAME.so, or libNAME.so beside NAME.py)")
    compile_.add_argument("--target", default="auto",
                          help="a machine (h200, rtx4090, host), an architecture (sm_80), a .json "
                               "file, or auto: what this machine has (default: auto)")
    compile_.add_argument("--bundle-only", metavar="DIR",
                          help="write the bundle there and stop, to tune on another machine")
    compile_.add_argument("--until", choices=["import", "raise", "discover"],
                          help="write the text of this stage to -o (default: NAME.mlir) and stop")
    compile_.add_argument("--candidates", type=int, metavar="N",
                          help="maximum number of schedules to try per kernel (default: 16)")
    compile_.add_argument("--no-verify", action="store_true", help="do not compare the library "
                          "with the module on its inputs")
    compile_.add_argument("--device", choices=["cpu", "meta"], default="cpu",
                          help="meta: the module has shapes and no data; its weights are given "
                          "when the library is loaded")
    compile_.add_argument("--save-weights", metavar="FILE", help="also write the module's weights, "
                          "random with a fixed seed, as safetensors")
    agent = compile_.add_argument_group("who groups ops into kernels (docs/agents.md)")
    for name, metavar, what in agent_options:
        agent.add_argument(f"--{name}", metavar=metavar.upper(), help=what)
    compile_.add_argument("--summary", metavar="FILE",
                          help="write stages, their times and results as JSON")
    compile_.add_argument("--no-report", action="store_true", help="do not write the report, "
                          "a page of HTML beside the library")
    compile_.add_argument("--option", action="append", default=[], metavar="ARG",
                          help="one more argument for fact-compile, as in --option=--verbose")
    compile_.set_defaults(function=_compile)

    add_report_parser(commands)

    export = commands.add_parser("export", help="print the module as text of the torch dialect")
    _add_workload(export)
    export.add_argument("-o", "--output", metavar="FILE", help="write there instead")
    export.set_defaults(function=_export)

    run = commands.add_parser("run", help="run a compiled library")
    run.add_argument("library", metavar="LIB")
    run.add_argument("--weights", metavar="FILE", help="weights by name, safetensors")
    run.add_argument("--inputs", metavar="FILE", help="inputs by name, safetensors "
                     "(default: random)")
    run.add_argument("--output", metavar="FILE", help="write results by name, safetensors")
    run.set_defaults(function=_run)

    info = commands.add_parser("info", help="show a library's inputs, outputs and kernels")
    info.add_argument("library", metavar="LIB")
    info.add_argument("--json", action="store_true", help="all of it, as JSON")
    info.set_defaults(function=_info)

    bench = commands.add_parser("bench", help="measure FACT beside PyTorch")
    _add_workload(bench)
    bench.add_argument("--library", metavar="LIB", help="a compiled library of this module "
                       "(default: compile it now)")
    bench.add_argument("--compare", metavar="LIST",
                       help="what to measure beside FACT, from eager, compile, reduce-overhead, "
                       "max-autotune and channels-last, which is eager with images in that "
                       "format; may be empty (default: all others; on the host without "
                       "reduce-overhead, which is compile there)")
    bench.add_argument("--graphs", choices=["off", "on", "automatic"], default="automatic",
                       help="whether FACT replays a CUDA graph (default: automatic)")
    bench.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto")
    bench.add_argument("--rounds", type=int, default=10)
    bench.add_argument("--repeats", type=int, default=5, help="runs a round")
    bench.add_argument("--threads", type=int, metavar="N", help="threads of all variants on the "
                       "host (default: each its own)")
    bench.add_argument("--kernels", action="store_true", help="also show the time of each kernel")
    bench.add_argument("--no-error", action="store_true", help="do not compare with fp64")
    bench.add_argument("--json", metavar="FILE", help="also write all figures there")
    bench.set_defaults(function=_bench)

    commands.add_parser("registry", add_help=False,
                        help="the registry of measurements: list, show, add, verify, diff, prune, "
                             "migrate")

    demo = commands.add_parser("demo", help="compile a small GPT block and show what happened")
    demo.add_argument("--target", default="auto")
    demo.set_defaults(function=_demo)

    doctor = commands.add_parser("doctor", help="check what is installed and what is missing")
    doctor.set_defaults(function=_doctor)
    return parser


def _add_workload(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("workload", metavar="FILE.py|FILE.pt2|MODULE:CLASS",
                        help="a file with Model, get_inputs and get_init_inputs, a file of "
                             "torch.export.save, or a class")
    parser.add_argument("--dtype", choices=["fp32", "fp16", "bf16"], help="(default: fp32, or as "
                        "exported)")
    parser.add_argument("--float32-precision", choices=["highest", "high", "medium"],
                        help="torch.set_float32_matmul_precision: what products of f32 may use")
    parser.add_argument("--size", metavar="NAME", help="a size the file defines, as in small")
    parser.add_argument("--set", nargs="+", action="extend", default=[], metavar="NAME=VALUE",
                        help="settings of the module and its inputs, as in width=64")
    parser.add_argument("--inputs", dest="shapes", nargs="+", metavar="SHAPE",
                        help="shapes of the inputs in place of get_inputs, as in 2x16x64")


def _workload(options, device: str = "cpu"):
    from .workload import load_workload, parse_settings, parse_shapes

    if options.float32_precision:
        import torch

        torch.set_float32_matmul_precision(options.float32_precision)
    return load_workload(
        options.workload,
        dtype=options.dtype,
        device=device,
        size=options.size,
        settings=parse_settings(options.set),
        shapes=parse_shapes(options.shapes) if options.shapes else None,
    )


def _compile(options) -> int:
    from .safetensors_file import write_safetensors
    from .weights import module_tensors

    if options.device == "meta" and options.save_weights:
        raise FactError("--save-weights needs data: leave out --device=meta")
    given = [(name, getattr(options, name.replace("-", "_"))) for name, *_ in _agent_options()]
    options.option += [f"--{name}={value}" for name, value in given if value is not None]
    workload = _workload(options, options.device)
    with tempfile.TemporaryDirectory() as folder:
        summaries = [option for option in options.option if option.startswith("--summary=")]
        if not summaries:
            summaries = [f"--summary={options.summary or Path(folder) / 'summary.json'}"]
            options.option += summaries
        summary = Path(summaries[-1].removeprefix("--summary="))
        with _reporting(workload, options, summary) as report:
            report.verdict = _compile_workload(workload, options)
        _show_discovery(summary)
    if options.save_weights:
        write_safetensors(options.save_weights, module_tensors(workload.module))
        print(f"weights: {options.save_weights}")
    return 0


def _library_name(workload) -> str:
    """The library in the current folder; not one that Python would import in place of a module."""
    hides = Path(f"{workload.name}.py").exists() or Path(workload.name, "__init__.py").exists()
    return f"lib{workload.name}.so" if hides else f"{workload.name}.so"


def _reporting(workload, options, summary: Path):
    """Writes the report of what happens inside, if there is a library or a bundle to be."""
    if options.until or options.no_report:
        return contextlib.nullcontext(argparse.Namespace())
    from .work import make_work_root

    named = options.bundle_only or options.output
    page = page_of(named or _library_name(workload))
    # A command that fails leaves nothing where it was told nothing.
    failed = page if named else make_work_root() / page.name
    return CompilationReport(workload.name, page, failed, summary,
                             getattr(options, "transcript", None) or "")


def _compile_workload(workload, options) -> str:
    """Compiles; returns the verdict of the comparison with the module, if there was one."""
    from .compiler import build, bundle, translate
    from .machine import resolve_target

    if options.until:
        output = options.output or f"{workload.name}.mlir"
        seconds = translate(workload.module, workload.inputs, workload.kwargs,
                            until=options.until, output=output, target=options.target,
                            name=workload.name, options=options.option)
        print(f"{output}: " + ", ".join(f"{stage} {took:.2f} s" for stage, took in seconds.items()))
    elif options.bundle_only:
        folder = bundle(workload.module, workload.inputs, workload.kwargs,
                        target=resolve_target(options.target), output=options.bundle_only,
                        name=workload.name, candidates=options.candidates,
                        options=options.option, verbose=True)
        print(f"bundle: {folder}")
        print(f"tune and link it with: fact-tune {folder} -o {_library_name(workload)}")
    else:
        output = options.output or _library_name(workload)
        library = build(workload.module, workload.inputs, workload.kwargs, target=options.target,
                        output=output, name=workload.name, candidates=options.candidates,
                        options=options.option, verify=not options.no_verify, verbose=True)
        print(f"library: {library.path}")
        if library.verdict:
            print(library.verdict)
            return str(library.verdict)
    return ""


def _show_discovery(path) -> None:
    """Prints the agent, its accepted and rejected proposals, and their cost."""
    from . import report

    try:
        summary = json.loads(path.read_text())
    except (OSError, ValueError):
        return
    for line in report.discovery_lines(summary):
        print(line)


def _export(options) -> int:
    from . import progress
    from .export import export

    workload = _workload(options)
    with progress.showing(f"exporting {workload.name}"):
        graph = export(workload.module, workload.inputs, kwargs=workload.kwargs, name=workload.name)
    if options.output:
        graph.save(options.output)
    else:
        print(graph.text, end="")
    return 0


def _run(options) -> int:
    import torch

    from . import report
    from .library import load
    from .safetensors_file import read_safetensors, write_safetensors

    library = load(options.library)
    if library.weights and not options.weights:
        names, count = [entry["name"] for entry in library.weights], len(library.weights)
        raise FactError(f"{library.name} has {count} weight{'s' * (count != 1)} ({', '.join(names[:4])}"
                        f"{', ...' * (count > 4)}): give them with --weights FILE, which "
                        "`fact compile --save-weights FILE` writes")
    model = library.create(options.weights or {})
    given = read_safetensors(options.inputs) if options.inputs else None
    inputs = [_input(entry, given, library.device_type) for entry in library.inputs]
    if given is not None and library.signature:
        inputs = library.signature.as_stored(inputs)
    results = model.call_flat(inputs)
    if library.signature:
        results = library.signature.as_returned(results)
    named = {entry["name"]: r.cpu() for entry, r in zip(library.outputs, results)}
    report.table(["output", "type", "shape", "mean", "deviation", "not finite"], [
        [name, str(r.dtype).removeprefix("torch."), "x".join(map(str, r.shape)),
         f"{r.double().mean():.4g}", f"{r.double().std(correction=0):.4g}",
         str(int((~torch.isfinite(r)).sum()))]
        for name, r in named.items()])
    if options.output:
        write_safetensors(options.output, named)
        print(f"results: {options.output}")
    return 0


def _info(options) -> int:
    from . import report
    from .library import load

    library = load(options.library)
    if options.json:
        print(json.dumps(library.description, indent=2))
        return 0
    signature, orders = library.signature, {}
    if signature:
        orders = {"input": signature.input_orders, "output": signature.output_orders}
    rows = [[kind, entry["name"], entry["type"], "x".join(map(str, entry["shape"])) or "scalar",
             _note(entry, orders.get(kind, {}).get(index))]
            for kind, entries in (("input", library.inputs), ("output", library.outputs),
                                  ("weight", library.weights))
            for index, entry in enumerate(entries)]
    report.table(["", "name", "type", "shape", "note"], rows, library.name)
    report.table(["kernel", "rule", "schedule", "us"],
                 [[k["name"], k["rule"], k["schedule"], f"{k.get('us', 0):.4g}"]
                  for k in library.kernels])
    memory = f", {library.memory_bytes} with all else" if library.memory_bytes else ""
    report.note(f"workspace: {library.workspace_bytes} bytes{memory}; FACT {library.version}")
    for key, value in library.build.items():
        report.note(f"{key}: {value if isinstance(value, str) else json.dumps(value)}")
    return 0


def _note(entry, order) -> str:
    if order:
        return f"dimensions {', '.join(map(str, order))} of the module's"
    return "its value is compiled in" if entry.get("baked") else ""


def _input(entry, given, device):
    import torch

    from .element_types import torch_type

    dtype, shape = torch_type(entry["type"]), entry["shape"]
    if given is not None:
        if entry["name"] not in given:
            raise FactError(f"no input '{entry['name']}' in the file; it has {', '.join(given)}")
        return given[entry["name"]].to(device)
    generator = torch.Generator().manual_seed(1)
    if dtype.is_floating_point:
        return torch.randn(shape, generator=generator).to(device, dtype)
    return torch.randint(0, 2, shape, generator=generator).to(device, dtype)


def _bench(options) -> int:
    import torch

    from . import bench, precision, progress, report
    from .library import load
    from .torch_version import require_torch_with_cuda

    device = options.device
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    compared = bench.choose_variants(options.compare, device)
    unknown = sorted(set(compared) - set(bench.VARIANTS))
    if unknown:
        raise FactError(f"unknown variant {', '.join(unknown)}; known are "
                        f"{', '.join(bench.VARIANTS)}")
    if options.rounds < 1 or options.repeats < 1:
        raise FactError("--rounds and --repeats must be at least 1")
    if options.threads is not None:
        if options.threads < 1:
            raise FactError("--threads must be at least 1")
        bench.use_threads(options.threads)
    if device == "cuda":
        require_torch_with_cuda("--device=cuda needs a GPU")
    workload = _workload(options, device)
    if workload.kwargs or not all(isinstance(x, torch.Tensor) for x in workload.inputs):
        raise FactError(f"bench calls a module with tensors, and {options.workload} was exported "
                        "with other arguments")
    dtype = options.dtype or ("as exported" if options.workload.endswith(".pt2") else "fp32")
    variants = [*[name for name in compared if name != "fact"], "fact"]

    model = None

    def fact_model():
        nonlocal model
        if options.library:
            model = load(options.library).create(workload.module)
        else:
            from .compiler import compile

            target = "host" if device == "cpu" else "auto"
            model = compile(workload.module, workload.inputs, target=target, name=workload.name)
        if options.graphs != "automatic":
            model.use_graphs(options.graphs)
        return model

    with progress.showing(f"measuring {workload.name}") as bar:
        found = bench.bench(
            workload.module, workload.inputs, variants, fact_model,
            rounds=options.rounds, repeats=options.repeats, errors=not options.no_error,
            progress=bar.say if bar.is_shown else _print_step, count=bar.count,
        )
    shapes = ", ".join("x".join(map(str, x.shape)) for x in workload.inputs)
    where = torch.cuda.get_device_name() if device == "cuda" else \
        f"cpu, {torch.get_num_threads()} thread(s)"
    report.table(bench.COLUMNS, bench.rows(found),
                 f"{workload.name}, {dtype}, inputs {shapes}, on {where}")
    for text in [*bench.failures(found), bench.doubts(found)]:
        if text:
            report.note(f"note: {text}")
    steps = []
    if options.kernels and not found["fact"].failure:
        with progress.showing("measuring kernels") as bar:
            steps = bench.profile(model, workload.inputs, count=bar.count)
        report.table(bench.KERNEL_COLUMNS, bench.kernel_rows(steps), "kernels, one after the other")
    if options.json:
        figures = {
            "workload": workload.name, "dtype": dtype, "device": where,
            "inputs": [list(x.shape) for x in workload.inputs], "torch": torch.__version__,
            "float32_matmul_precision": precision.of_products(),
            "float32_convolution_precision": precision.of_convolutions(),
            "rounds": options.rounds, "repeats": options.repeats,
            "variants": bench.as_json(found), "kernels": steps,
            "graphs": model.graphs if model and model.has_graphs else None,
        }
        with writing(options.json) as file:
            file.write(json.dumps(figures, indent=2) + "\n")
    if found["fact"].failure:
        hint = ". Without --library, FACT compiles the module for the sizes of --set" \
            if options.library and options.set else ""
        raise FactError(f"FACT was not measured: {found['fact'].failure}{hint}")
    return 0


def _print_step(text: str) -> None:
    print(f"... {text}", file=sys.stderr, flush=True)


def _registry(arguments: list[str]) -> int:
    from .toolchain import require_tool

    return subprocess.run([require_tool("fact-registry"), *arguments]).returncode


def _demo(options) -> int:
    from . import demo

    return demo.main(options.target)


def _doctor(options) -> int:
    from . import doctor

    return doctor.main()


if __name__ == "__main__":
    sys.exit(main())
