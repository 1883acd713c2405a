# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
sys.path.insert(0, str(Path(__file__).parent))
# Subprocesses too.
os.environ["PYTHONPATH"] = str(ROOT / "python")
# Tests neither fill the user's cache nor read or write the user's registry.
os.environ["FACT_PATTERNS"] = str(ROOT / "build" / "no-patterns")
os.environ["FACT_LEARN"] = "0"
os.environ.setdefault("FACT_WORK_DIR", str(ROOT / "build" / "python-tests"))
os.environ.setdefault("FACT_CACHE_DIR", str(ROOT / "build" / "python-tests" / "cache"))


@pytest.fixture(autouse=True)
def seeded():
    """Each test draws the same numbers alone and beside others."""
    torch.manual_seed(0)


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def fake_library(tmp_path_factory):
    """Builds the hand-written library; a call with options builds a variant."""
    folder = tmp_path_factory.mktemp("fake")
    source = Path(__file__).parent / "fake_library.c"

    def build(name="fake", *options):
        path = folder / f"{name}.so"
        if not path.exists():
            subprocess.run(["cc", "-shared", "-fPIC", *options, str(source), "-o", str(path)],
                           check=True)
        return path

    return build


def pytest_configure(config):
    config.addinivalue_line("markers", "full: long; runs in `make check-full` only")
    # All processes of a run share it.
    if config.getoption("--full") and config.getoption("--random-seed") is None:
        os.environ.setdefault("FACT_RANDOM_SEED", str(int(time.time())))


def pytest_report_header(config):
    seed = os.environ.get("FACT_RANDOM_SEED")
    return [f"random graphs: first seed {seed}"] if seed and config.getoption("--full") else []


# What 16-bit types differ in is run in bf16 always: conversions, comparisons, joins, norms,
# products, attention, a model. Other reruns of a test in 16 bits are long tests.
SIXTEEN_BIT = ("float16", "bfloat16", "fp16", "bf16")
ALWAYS = ("compare-bf16", "joins-bf16", "norms-bf16", "products-bf16", "attention-bf16",
          "mini_gpt_block-256-bf16", "bert-bf16")


def is_rerun(item):
    dtype = str(getattr(item, "callspec", None) and item.callspec.params.get("dtype"))
    return dtype.removeprefix("torch.") in SIXTEEN_BIT and item.callspec.id not in ALWAYS


def pytest_collection_modifyitems(config, items):
    """Without --full, long tests are left out, unless they are named on the command line."""
    for item in filter(is_rerun, items):
        item.add_marker("full")
    named = any("::" in argument for argument in config.args)
    if config.getoption("--full") or config.getoption("markexpr") or named:
        return
    config.hook.pytest_deselected(items=[item for item in items
                                         if item.get_closest_marker("full")])
    items[:] = [item for item in items if not item.get_closest_marker("full")]


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="the long tests too")
    parser.addoption("--random-graphs", type=int, metavar="N",
                     help="random graphs to compile and compare (default: 100, with --full 2000)")
    parser.addoption("--random-images", action="store_true",
                     help="random graphs of convolutions and pools alone, not every fourth")
    parser.addoption("--random-seed", type=int, metavar="S",
                     help="the seed of the first one (default: 0, with --full the clock)")
