# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/deploy.md: its programs, compiled by its commands, serve a library that FACT compiled."""

import os
import re
import runpy
import shutil
import subprocess
import sys

import pytest
import torch

import fact
from fact import toolchain
from fact.safetensors_file import read_safetensors, write_safetensors


class Scorer(torch.nn.Module):
    """Inputs of two types, the first of odd size; results of two types."""

    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(16, 32)
        self.down = torch.nn.Linear(32, 5)

    def forward(self, keep, x):
        scores = self.down(torch.nn.functional.gelu(self.up(x))) * keep
        return scores.argmax(-1), scores


REQUESTS = 3
REQUIRED = bool(os.environ.get("FACT_REQUIRE_COMPILER"))


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("deploy")
    module = Scorer()
    example = (torch.ones(5, dtype=torch.bool), torch.zeros(3, 16))
    fact.build(module, example, target="host", name="scorer", output=folder / "scorer.so",
               options=["--candidates=1"])
    return folder / "scorer.so"


@pytest.fixture(scope="module", params=["serve.cpp", pytest.param("serve.rs", marks=pytest.mark.full),
                                        pytest.param("serve.go", marks=pytest.mark.full)])
def serve(request, root, tmp_path_factory):
    """The program, compiled by the command that the page shows for it."""
    page = (root / "docs" / "deploy.md").read_text()
    command = re.search(rf"^    ((?:c\+\+|rustc|go) .*examples/deploy/{request.param}.*)$", page, re.M)[1]
    compiler = command.split()[0]
    if not shutil.which(compiler):
        # The setup of `make check` and `make check-full` installs what they run.
        assert not REQUIRED, f"{compiler} is missing: run scripts/setup.sh --full"
        pytest.skip(f"needs {compiler}: run `make check-full`, or install it")
    program = tmp_path_factory.mktemp("serve") / "serve"
    words = [str(program) if word == "serve" else word for word in command.split()]
    if request.param == "serve.cpp":
        words += ["-Wall", "-Wextra", "-Werror"]
    environment = {**os.environ, "GOCACHE": str(root / "build" / "go")}
    done = subprocess.run(words, cwd=root, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    if request.param == "serve.go":
        checked = subprocess.run(["go", "vet", f"examples/deploy/{request.param}"], cwd=root, env=environment,
                                 capture_output=True, text=True)
        assert checked.returncode == 0, checked.stderr
    return program


def run(*words, data=b""):
    done = subprocess.run([str(word) for word in words], input=data, capture_output=True, timeout=60)
    return done.returncode, done.stdout, done.stderr.decode()


def test_serves_what_pytorch_computes(serve, library, tmp_path):
    module = Scorer()
    write_safetensors(tmp_path / "weights.safetensors", module.state_dict())
    batch = [(torch.rand(5) > 0.3, torch.randn(3, 16)) for _ in range(REQUESTS)]
    data = b"".join(tensor.numpy().tobytes() for request in batch for tensor in request)
    status, out, err = run(serve, library, tmp_path / "weights.safetensors", data=data)
    assert (status, err) == (0, "")
    size = 3 * 8 + 3 * 5 * 4
    assert len(out) == REQUESTS * size
    for number, (keep, x) in enumerate(batch):
        response = bytearray(out[number * size:(number + 1) * size])
        best = torch.frombuffer(response, dtype=torch.int64, count=3)
        scores = torch.frombuffer(response, dtype=torch.float32, offset=3 * 8).reshape(3, 5)
        with torch.no_grad():
            expected = module.double()(keep, x.double())
        assert best.equal(expected[0])
        torch.testing.assert_close(scores.double(), expected[1], atol=1e-5, rtol=0)


def test_says_what_is_wrong(serve, library, tmp_path):
    weights = Scorer().state_dict()
    write_safetensors(tmp_path / "weights.safetensors", weights)
    good = tmp_path / "weights.safetensors"
    assert run(serve)[0] == 2
    assert run(serve, library, good) == (0, b"", "")
    assert run(serve, library, good, data=b"short") == (1, b"", "serve: the last request is too short\n")
    status, _, err = run(serve, tmp_path / "none.so", good)
    assert status == 1 and "none.so: cannot open shared object file" in err
    del weights["up.bias"]
    write_safetensors(tmp_path / "wrong.safetensors", weights)
    status, _, err = run(serve, library, tmp_path / "wrong.safetensors")
    assert status == 1 and "'up.bias' is missing: f32 [32]" in err
    # Libraries of another version: the number of the interface, and a table that ends too early.
    other = tmp_path / "other.c"
    for abi, size in ((2, 4096), (1, 16)):
        other.write_text(f"static const unsigned table[1024] = {{{abi}, {size}}};\n"
                         "const void *fact_library(void) { return table; }\n")
        subprocess.run(["cc", "-shared", "-fPIC", other, "-o", tmp_path / f"other{abi}.so"], check=True)
        assert run(serve, tmp_path / f"other{abi}.so", good) == (
            1, b"", "serve: the library was compiled by another version of FACT\n")


@pytest.mark.full
def test_what_the_page_does(serve, root, tmp_path, monkeypatch):
    """Its command compiles the model, and its Python gives what the module gives."""
    page = (root / "docs" / "deploy.md").read_text()
    command = re.search(r"^    python (-m fact compile .*)$", page, re.M)[1]
    words = [root / word if word.startswith("examples/") else word for word in command.split()]
    subprocess.run([sys.executable, *words], cwd=tmp_path, check=True, capture_output=True)
    for name in ("chain.so", "chain.safetensors", "linear_chain.h", "chain.report.html"):
        assert (tmp_path / name).exists()
    monkeypatch.chdir(tmp_path)
    shutil.copy(serve, "serve")
    workload = runpy.run_path(str(root / "examples" / "workloads" / "linear_chain.py"))
    module = workload["Model"](width=64).double()
    module.load_state_dict(read_safetensors("chain.safetensors"))
    names = {"batch": [workload["get_inputs"](rows=48, width=64) for _ in range(2)]}
    exec(re.search(r"^```python\n(.*?)^```", page, re.M | re.S)[1], names)
    with torch.no_grad():
        expected = torch.stack([module(*(x.double() for x in inputs)) for inputs in names["batch"]])
    torch.testing.assert_close(names["outputs"].reshape(2, 48, 64).double(), expected, atol=1e-5, rtol=0)


def test_the_header_of_a_library_compiles(library, tmp_path):
    """With `fact.include_dir` alone, in C and in C++."""
    (tmp_path / "main.c").write_text('#include "scorer.h"\nint main(void) { return !scorer_describe(); }\n')
    for compiler in (["cc"], ["c++", "-x", "c++"]):
        subprocess.run([*compiler, "-Wall", "-Werror", f"-I{fact.include_dir()}", f"-I{library.parent}",
                        tmp_path / "main.c", "-fsyntax-only"], check=True)


def test_a_package_without_headers_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(toolchain, "PACKAGE", tmp_path / "site" / "fact")
    with pytest.raises(fact.FactError, match="installed without the headers"):
        fact.include_dir()
