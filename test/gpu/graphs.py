#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random graphs on the GPU, compared with PyTorch in fp64.

    graphs.py pack FOLDER [--graphs N] [--dtype fp32|bf16] [--images] [--seed S]    with the compiler
    graphs.py run FOLDER [FOLDER ...]                                               with the GPU

`pack` puts a batch of graphs into each bundle, beside graphs.pickle, which has the graphs and
through their seeds the inputs; a batch that the target refuses is halved until each refused
graph is known, which is a failure. With --dtype, floating-point inputs are of this type; casts
have others. With --images, all graphs are of convolutions, pools and norms. `run` compiles and
links the bundles, several at a time, and runs each library in a process of its own: a crash or a
hang is that batch's failure. A failing graph is printed as a module of its own. The seed is random
unless given, and printed.
"""

import argparse
import concurrent.futures
import os
import pickle
import random
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "test" / "python"), str(HERE)]

import torch  # noqa: E402

import fact  # noqa: E402
from random_graphs import check  # noqa: E402
from random_graphs.generator import LARGE_ELEMENTS_LIMIT, Generator  # noqa: E402
from random_graphs.graph import Graphs, source  # noqa: E402
from random_graphs.images import ImageGenerator  # noqa: E402
from slot import launcher  # noqa: E402

BATCH = 12
DTYPES = {"any": None, "fp32": torch.float32, "bf16": torch.bfloat16}


class AlignedGenerator(Generator):
    """Every other extent and most products are such that vectors and tensor cores can take
    them."""

    def __init__(self, seed: int, base: torch.dtype | None):
        super().__init__(seed, base)
        # Enough for several blocks and tiles.
        self.limit = LARGE_ELEMENTS_LIMIT

    def shape(self):
        if self.random.random() < 0.5:
            return super().shape()
        rank = self.random.choices([2, 3, 4], weights=[4, 3, 1])[0]
        outer = [self.random.choice([1, 2, 3, 5, 8, 9, 33]) for _ in range(rank - 1)]
        return [*outer, self.random.choice([8, 16, 24, 32, 40, 64])]

    def product(self):
        if self.random.random() < 0.3:
            return super().product()
        r = self.random
        wanted = [self.base] if self.base else [torch.bfloat16, torch.float16]
        x = self.pick(lambda value, dtype: dtype in wanted
                      and value.dim() >= 2 and value.shape[-1] % 8 == 0)
        if x is None:
            x = self.add_leaf(r.choice(wanted),
                              [r.choice([8, 24, 65, 130]), r.choice([16, 64, 72])])
        k, columns = x[1].shape[-1], r.choice([8, 16, 40, 72])
        w = self.add_leaf(x[2], [columns, k], weight=True, scale=k ** -0.5)
        if r.random() < 0.5:
            self.add("F.linear({0}, {1})", [x, w])
        else:
            self.add("F.linear({0}, {1}, {2})", [x, w, self.add_leaf(x[2], [columns], weight=True)])


class AlignedImageGenerator(ImageGenerator):
    """Most images have channels such that tensor cores can take them, and more than one tile."""

    def __init__(self, seed: int, base: torch.dtype | None):
        super().__init__(seed, base)
        self.limit = LARGE_ELEMENTS_LIMIT

    def shape(self):
        r = self.random
        if r.random() < 0.3:
            return super().shape()
        dims = r.choices([1, 2, 3], weights=[2, 6, 1])[0]
        extents = {1: [9, 40, 65, 130], 2: [7, 8, 9, 14, 16, 17], 3: [3, 5, 8]}[dims]
        return [r.choice([1, 2, 3]), r.choice([3, 8, 16, 16, 24, 32]),
                *(r.choice(extents) for _ in range(dims))]

    def filters(self):
        return self.random.choice([1, 5, 8, 16, 24, 40])


def graph_of(seed: int, base: torch.dtype | None, images: bool):
    while True:
        graph = (AlignedImageGenerator if images else AlignedGenerator)(seed, base).make()
        if graph.nodes:
            return graph
        seed += 1_000_003


# With the compiler.


def write_bundles(graphs, target: str, folder: Path) -> list[tuple[object, str]]:
    """Bundles of the graphs, one unless some are refused: these, with the compiler's words."""
    module = Graphs(graphs)
    try:
        fact.bundle(module, module.inputs(), target=target, output=folder, name=folder.name,
                    candidates=1)
    except fact.FactError as error:
        shutil.rmtree(folder, ignore_errors=True)
        if len(graphs) == 1:
            return [(graphs[0], reason(str(error)))]
        middle = len(graphs) // 2
        return [refused for part, half in (("a", graphs[:middle]), ("b", graphs[middle:]))
                for refused in write_bundles(half, target, folder.with_name(folder.name + part))]
    (folder / "graphs.pickle").write_bytes(pickle.dumps(graphs))
    return []


def has_product(graph) -> bool:
    """Whether a kernel may take nvcc a minute."""
    return any(word in node.text for word in ("linear", "@", "attention", "F.conv")
               for node in graph.nodes)


def pack(arguments) -> int:
    folder = Path(arguments.folder[0])
    shutil.rmtree(folder, ignore_errors=True)
    # fp32 is judged as such.
    torch.backends.cudnn.allow_tf32 = False
    seed, graphs, products = arguments.seed, [], 0
    while len(graphs) < arguments.graphs:
        graph = graph_of(seed, DTYPES[arguments.dtype], arguments.images)
        seed += 1
        if has_product(graph):
            if products == arguments.products:
                continue
            products += 1
        graphs.append(graph)
    refused = []
    for number, begin in enumerate(range(0, len(graphs), BATCH)):
        refused += write_bundles(graphs[begin:begin + BATCH], arguments.target,
                                 folder / f"graphs{number:02}")
    print(f"graphs: {len(graphs)} of seeds {arguments.seed} to {seed - 1} in {folder}; "
          f"{products} have products; {len(refused)} are refused")
    for graph, text in refused:
        print(f"REFUSED seed {graph.seed}: {text}\n{source(graph)}")
    return 1 if refused else 0


def reason(text: str) -> str:
    """The compiler's message without what differs from graph to graph."""
    line = next((line for line in text.splitlines() if "error:" in line), text.splitlines()[0])
    return re.sub(r"<[^>]*>", "<...>", line.split("error:")[-1].strip())[:120]


# With the GPU.


def run_library(bundle: Path) -> None:
    """In a process of its own: prints a line for each graph that is wrong."""
    graphs = pickle.loads((bundle / "graphs.pickle").read_bytes())
    library = fact.load(bundle / f"{bundle.name}.so")
    device = torch.device(library.device_type)
    module = Graphs(graphs)
    inputs = [value.to(device) for value in module.inputs()]
    results = library.create(module.to(device))(*inputs)

    for failure in check.check(graphs, lambda _: [[out.cpu() for out in outputs]
                                                  for outputs in results]):
        if failure:
            print(f"WRONG seed {failure.graph.seed}: {failure.reason}\n{source(failure.graph)}")
    print(f"COMPARED {len(graphs)}", flush=True)


def child(command, timeout: float, log: Path) -> str:
    """The output of a process, and how it ended if not well."""
    try:
        done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace",
                              timeout=timeout)
        output = done.stdout + (f"\nENDED with status {done.returncode}" if done.returncode else "")
    except subprocess.TimeoutExpired as expired:
        seen = expired.stdout or b""
        output = (seen.decode(errors="replace") if isinstance(seen, bytes) else seen)
        output += f"\nENDED after {timeout:.0f} s"
    log.write_text(output)
    return output


def run_batch(bundle: Path, arguments) -> tuple[int, list[str]]:
    """How many graphs were compared, and what was wrong."""
    tool = os.path.join(os.environ.get("FACT_BIN_DIR", ROOT / "build" / "bin"), "fact-tune")
    # Whole results are compared with PyTorch, so no kernel is compared with its reference.
    output = child([tool, bundle, "--untuned", "--jobs", 64, "--compile-timeout", 1500, "--launcher",
                    launcher(bundle.parent / "compile", arguments.jobs), *arguments.tune],
                   arguments.timeout, bundle / "tune.log")
    if "ENDED" in output:
        return 0, [f"{bundle.name} does not build:\n{output[-1500:]}"]
    output = child([sys.executable, __file__, "one", bundle], 120, bundle / "run.log")
    compared = re.findall(r"^COMPARED (\d+)$", output, re.MULTILINE)
    wrong = [text for text in re.split(r"^(?=WRONG )", output, flags=re.MULTILINE)
             if text.startswith("WRONG")]
    if not compared:
        wrong.append(f"{bundle.name} does not run:\n{output[-1500:]}")
    return int(compared[0]) if compared else 0, wrong


def run(arguments) -> int:
    bundles = sorted(path.parent for folder in arguments.folder
                     for path in Path(folder).glob("*/graphs.pickle"))
    if not bundles:
        raise SystemExit(f"graphs: error: no bundles in {arguments.folder}: graphs.py pack")
    begin, compared, wrong = time.monotonic(), 0, []
    with concurrent.futures.ThreadPoolExecutor(len(bundles)) as pool:
        # What is done counts, should the time be up.
        batches = {pool.submit(run_batch, bundle, arguments): bundle for bundle in bundles}
        for batch in concurrent.futures.as_completed(batches):
            count, found = batch.result()
            compared += count
            wrong += found
            print(f"{batches[batch].name}: {count} compared", *found, sep="\n", flush=True)
    print(f"graphs: {compared} compared with PyTorch in fp64, {len(wrong)} failures; "
          f"{time.monotonic() - begin:.0f} s", flush=True)
    return 1 if wrong or not compared else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=("pack", "run", "one"))
    parser.add_argument("folder", nargs="+")
    parser.add_argument("--dtype", choices=DTYPES, default="any")
    parser.add_argument("--images", action="store_true", help="graphs of convolutions, pools and norms")
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--graphs", type=int, default=300)
    parser.add_argument("--products", type=int, default=40, help="graphs with products at most")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)),
                        help="compilers at a time")
    parser.add_argument("--timeout", type=float, default=1500, help="seconds for one bundle's compilation")
    parser.add_argument("--tune", nargs="*", default=[], help="more options for fact-tune")
    arguments = parser.parse_args()
    if arguments.mode == "one":
        run_library(Path(arguments.folder[0]))
        return 0
    return pack(arguments) if arguments.mode == "pack" else run(arguments)


if __name__ == "__main__":
    sys.exit(main())
