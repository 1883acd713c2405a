#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of the transformers library and convolutional ones, compared with PyTorch in fp64.

    run.py pack FOLDER --precision fp32 bf16 --target sm_90a    with the compiler: bundles, no GPU
    run.py run FOLDER                                           with the GPU: no compiler, no
                                                                transformers

`pack` writes a bundle per model and call, with the inputs, the results in fp64 and eager's own
errors, and lists what the target refuses. `run` compiles all bundles, links them, several at a time,
and compares each library with these results: an error may be 1.5 times eager's, plus one rounding.
Weights are drawn again from their names. Comparisons are in processes of their own: a library that
crashes or hangs ends its process, and the next process continues after it. Results are in
FOLDER/report.json. A kernel that fact-tune found wrong and replaced by a plain one is listed;
with --no-check, it does not look.

--names selects cases by a regular expression, as in '^(llama|gpt2)_decode_'. With --target host,
both steps run on one machine.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import json
import re
import shutil
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "python"), str(HERE.parent)]

import torch  # noqa: E402

import fact  # noqa: E402
from breadth.report import read, table  # noqa: E402
from breadth.run import deadline, each_bundle, in_parallel, link, reason  # noqa: E402
from fact.safetensors_file import read_safetensors, write_safetensors  # noqa: E402
from fact.verify import Comparison, allowed_beside, compare, within  # noqa: E402
from models import architectures, convolutional  # noqa: E402
from models.architectures import DTYPES, RandomWeight  # noqa: E402

CALLS = architectures.CALLS + convolutional.CALLS


@dataclasses.dataclass(frozen=True)
class Case:
    model: str
    call: str
    precision: str

    @property
    def identifier(self) -> str:
        return f"{self.model}_{self.call}_{self.precision}"


def cases(precisions: Sequence[str], names: str) -> list[Case]:
    found = [Case(model, call, precision) for precision in precisions for model, call in CALLS]
    return [each for each in found if re.search(names, each.identifier)]


# With the compiler.


def model_and_call(each: Case) -> tuple[torch.nn.Module, dict[str, RandomWeight], tuple, dict]:
    """A model, its weights by name, and the arguments of its call."""
    dtype = DTYPES[each.precision]
    if each.model in convolutional.MODELS:
        return *convolutional.build(each.model, dtype), \
            convolutional.arguments(each.model, dtype), {}
    model, weights = architectures.build(each.model, dtype)
    return model, weights, *architectures.arguments(model, each.model, each.call)


def pack_one(each: Case, folder: Path, target: str) -> None:
    """Writes the bundle, and beside it all that `compare_library` reads."""
    from fact.compiler import bundle_graph
    from fact.end_to_end import expected_results
    from fact.export import export

    model, weights, args, kwargs = model_and_call(each)
    with torch.no_grad():
        graph = export(model, args, kwargs=kwargs, name=each.identifier)
    bundle_graph(graph, target, folder, ["--candidates=1"])
    results = expected_results(graph.signature, model, args, kwargs)
    stored = {f"weight {name}": tensor for name, tensor in graph.weights.items()
              if name not in weights}
    for index, tensor in enumerate(graph.signature.flatten(args, kwargs)):
        stored[f"input {index}"] = tensor
    for index, result in enumerate(results):
        # fp32 is exact enough for 16-bit results.
        wide = torch.float64 if each.precision == "fp32" else torch.float32
        floating = result.exact.is_floating_point()
        stored[f"result {index}"] = result.exact.to(wide) if floating else result.exact
    write_safetensors(folder / "tensors.safetensors", stored)
    (folder / "case.json").write_text(json.dumps({
        **dataclasses.asdict(each),
        "weights": {name: dataclasses.asdict(weights[name]) for name in graph.weights
                    if name in weights},
        "results": [{"name": entry["name"], "eager": dataclasses.asdict(result.eager),
                     "largest": dataclasses.asdict(result.largest)}
                    for entry, result in zip(graph.outputs, results, strict=True)]}))


def pack(options) -> int:
    folder = Path(options.folder).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    chosen, refused = cases(options.precision, options.names), {}
    for each in chosen:
        try:
            with deadline(options.timeout):
                pack_one(each, folder / each.identifier, options.target)
        except Exception as error:
            shutil.rmtree(folder / each.identifier, ignore_errors=True)
            refused[each.identifier] = reason(error)
            print(f"{each.identifier}: {refused[each.identifier]}", flush=True)
    (folder / "refused.json").write_text(json.dumps(refused, indent=1))
    rules = collections.Counter(rule for bundle in folder.glob("*/bundle.json")
                                for rule in rules_of(bundle.parent))
    print(f"models: {len(chosen) - len(refused)} of {len(chosen)} for {options.target} in "
          f"{folder}; {len(refused)} are refused")
    print(table(["rule", "kernels"], rules.most_common()))
    print(table(["refused", "reason"], refused.items()))
    return 0 if len(refused) < len(chosen) else 1


def rules_of(bundle: Path) -> list[str]:
    """The rule of each kernel."""
    return [kernel["rule"] for kernel in read(bundle / "bundle.json")["kernels"]]


# With the GPU.


def compare_library(bundle: Path) -> dict[str, Any]:
    """The library's errors and eager's by result; raises FactError if one is too large."""
    record, stored = read(bundle / "case.json"), read_safetensors(bundle / "tensors.safetensors")
    library = fact.load(bundle / f"{bundle.name}.so")
    device = torch.device(library.device_type)

    def weight(name: str, shape: Sequence[int]) -> torch.Tensor:
        if name in record["weights"]:
            return RandomWeight(**record["weights"][name]).draw(shape, DTYPES[record["precision"]])
        return stored[f"weight {name}"]

    model = library.create({entry["name"]: weight(entry["name"], entry["shape"]).to(device)
                            for entry in library.weights})
    outputs = model.call_flat([stored[f"input {index}"].to(device)
                               for index in range(len(library.inputs))])
    errors, wrong = {}, []
    for index, (entry, output) in enumerate(zip(record["results"], outputs, strict=True)):
        ours = compare(output.cpu(), stored[f"result {index}"])
        allowed = allowed_beside(Comparison(**entry["largest"]), output.dtype)
        errors[entry["name"]] = [ours.norm, entry["eager"]["norm"]]
        if not within(ours, allowed):
            wrong.append(f"output '{entry['name']}': {ours}; allowed is {allowed}")
    return {"errors": errors, **({"failure": "; ".join(wrong)} if wrong else {})}


def replaced_kernels(bundle: Path) -> list[str]:
    """The kernels whose candidates failed, so that a plain one was linked."""
    written = {kernel["name"]: kernel["candidates"]
               for kernel in read(bundle / "bundle.json")["kernels"]}
    return [kernel["name"] for kernel in read(bundle / "tuning.json").get("kernels", [])
            if written[kernel["name"]][kernel["candidate"]].get("fallback")]


def entry_of(bundle: Path) -> dict[str, Any]:
    """All that is known of a case."""
    compared = read(bundle / "compare.json")
    linked = (bundle / f"{bundle.name}.so").exists()
    failure = compared.get("failure") if linked else "no library was linked: see the log of fact-tune"
    return {"name": bundle.name, "rules": collections.Counter(rules_of(bundle)),
            "replaced": replaced_kernels(bundle), "errors": compared.get("errors", {}), "failure": failure}


def row(entry: dict[str, Any]) -> list[Any]:
    # The result whose error is the largest multiple of eager's.
    ours, eager = max(entry["errors"].values(), default=(None, None),
                      key=lambda errors: errors[0] / errors[1] if errors[1] else errors[0])
    figures = ["" if value is None else f"{value:.1e}" for value in (ours, eager)]
    return [entry["name"], sum(entry["rules"].values()), entry["rules"].get("generic", 0),
            ", ".join(entry["replaced"]), *figures, entry["failure"] or "right"]


def run(options) -> int:
    folder = Path(options.folder).resolve()
    bundles = sorted(path.parent for path in folder.glob("*/case.json")
                     if re.search(options.names, path.parent.name))
    if not bundles:
        raise SystemExit(f"models: error: no bundles in {folder}: run.py pack")
    if not options.no_tune:
        for bundle in bundles:
            (bundle / f"{bundle.name}.so").unlink(missing_ok=True)
        link(bundles, folder, options.check)
    linked = [bundle for bundle in bundles if (bundle / f"{bundle.name}.so").exists()]
    in_parallel("compare", linked, [sys.executable, __file__, "compare", options.folder,
                                    "--timeout", str(options.timeout)], options.parallel)
    entries, refused = list(map(entry_of, bundles)), read(folder / "refused.json")
    print(table(["case", "kernels", "generic", "replaced", "error", "eager's", "verdict"],
                map(row, entries)))
    print(table(["refused", "reason"], refused.items()))
    failures = sum(bool(entry["failure"]) for entry in entries)
    print(f"models: {len(entries)} cases, {failures} failures, {len(refused)} refused")
    (folder / "report.json").write_text(json.dumps({"cases": entries, "refused": refused}, indent=1))
    return 1 if failures else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=("pack", "run", "compare"))
    parser.add_argument("folder")
    parser.add_argument("--names", default="", help="a regular expression, searched in names")
    parser.add_argument("--precision", nargs="+", choices=DTYPES, default=list(DTYPES))
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--timeout", type=int, default=180, help="seconds per case")
    parser.add_argument("--no-check", dest="check", action="store_false",
                        help="compile no references and compare no kernel with its own")
    parser.add_argument("--no-tune", action="store_true", help="use the libraries of an earlier run")
    parser.add_argument("--parallel", type=int, default=4, help="comparisons at a time")
    parser.add_argument("--bundles", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    # PyTorch's own remarks on models hide the lines of this report.
    warnings.simplefilter("ignore")
    if options.mode == "compare":
        return each_bundle("compare", options.bundles, options.timeout, compare_library)
    return pack(options) if options.mode == "pack" else run(options)


if __name__ == "__main__":
    sys.exit(main())
