#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the second compilation of a similar model gains from the first one.

    test/learning/learning.py [--target host] [--rounds 40]

Compiles a feed-forward block, which fills an empty registry; then a similar one (other tokens,
other width) twice: with an empty registry, and with that of the first. Counts the candidates that
were tried, and calls both libraries in turn.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python"))

import fact  # noqa: E402

FIRST = {"tokens": 256, "width": 192}
SECOND = {"tokens": 320, "width": 256}


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


def compile_block(sizes, registry, target):
    """A block, its report of tuning, and the seconds of the whole compilation."""
    os.environ.update(FACT_PATTERNS=str(registry), FACT_LEARN="1")
    torch.manual_seed(0)
    module = Block(sizes["width"]).eval()
    inputs = (torch.randn(sizes["tokens"], sizes["width"]),)
    begin = time.perf_counter()
    model = fact.compile(module, inputs, target=target)
    seconds = time.perf_counter() - begin
    tuning = json.loads((model.library.work_folder / "bundle" / "tuning.json").read_text())
    return model, inputs, tuning, seconds


def count(tuning):
    kernels = tuning["kernels"] + tuning["others"]
    return {"kernels": len(kernels), "tried": sum(each["tried"] for each in kernels),
            "strategies": sorted({each["strategy"]["kind"] for each in kernels if "strategy" in each})}


def race(libraries, inputs, rounds):
    """Milliseconds of a call, the median of each, and the ratio of the second to the first with
    the quartiles over rounds."""
    times = [[] for _ in libraries]
    for number in range(rounds + 3):
        order = range(len(libraries)) if number % 2 else reversed(range(len(libraries)))
        for index in order:
            begin = time.perf_counter()
            for _ in range(5):
                libraries[index](*inputs)
            if number >= 3:
                times[index].append((time.perf_counter() - begin) * 200)
    ratios = [warm / cold for cold, warm in zip(*times)]
    return [statistics.median(each) for each in times], statistics.quantiles(ratios, n=4)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="host")
    parser.add_argument("--rounds", type=int, default=40)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        known, empty = Path(folder, "known"), Path(folder, "empty")
        rows = {}
        libraries = []
        for name, sizes, registry in (("first", FIRST, known), ("second, cold", SECOND, empty),
                                      ("second, warm", SECOND, known)):
            # No measurements but those of the registry are kept between compilations.
            os.environ["FACT_WORK_DIR"] = str(Path(folder, name.replace(", ", "_")))
            model, inputs, tuning, seconds = compile_block(sizes, registry, options.target)
            rows[name] = {**count(tuning), "seconds": seconds}
            libraries.append(model)
        times, quartiles = race(libraries[1:], inputs, options.rounds)
    print("| compilation | kernels | strategies | candidates tried | seconds | ms per call |")
    print("|---|---|---|---|---|---|")
    for (name, row), ms in zip(rows.items(), [None, *times]):
        print(f"| {name} | {row['kernels']} | {', '.join(row['strategies'])} | {row['tried']} | "
              f"{row['seconds']:.0f} | " + (f"{ms:.2f} |" if ms else "|"))
    low, middle, high = quartiles
    print(f"\nwarm over cold, round by round: {middle:.3f} (quartiles {low:.3f} and {high:.3f})")


if __name__ == "__main__":
    main()
