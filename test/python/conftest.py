import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
sys.path.insert(0, str(Path(__file__).parent))
# Subprocesses too.
os.environ["PYTHONPATH"] = str(ROOT / "python")
# Tests neither fill the user's cache nor read the user's registry.
os.environ["FACT_PATTERNS"] = str(ROOT / "build" / "no-patterns")
os.environ.setdefault("FACT_WORK_DIR", str(ROOT / "build" / "python-tests"))


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


def pytest_addoption(parser):
    parser.addoption("--random-graphs", type=int, default=300, metavar="N",
                     help="random graphs to compile and compare (default: 300)")
    parser.addoption("--random-seed", type=int, default=0, metavar="S",
                     help="the seed of the first one (default: 0)")
