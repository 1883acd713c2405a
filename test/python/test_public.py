# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What users import: each name says what it is for, and has types."""

import inspect
import subprocess
import sys

import pytest

import fact

CLIENT = '''
from pathlib import Path

import torch

import fact


def compile_and_run(module: torch.nn.Module, x: torch.Tensor) -> torch.Tensor:
    model = fact.compile(module, (x,), target="host", output=Path("model.so"), candidates=1)
    library: fact.Library = model.library
    library.load_weights("weights.safetensors")
    graph: fact.ExportedGraph = fact.export(module, (x,))
    graph.save("model.mlir")
    folder: Path = fact.bundle(module, (x,), target="h200", output="model.bundle")
    print(library.report().errors, folder, fact.include_dir() / "fact", library.inputs[0]["name"])
    model.use_graphs("on")
    model.set_weights({"w": x})
    model.close()
    result: torch.Tensor = fact.load("model.so", module)(x)
    return result
'''


def members(cls):
    """Methods and properties that a class defines for its users."""
    for name, member in vars(cls).items():
        function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        if (not name.startswith("_") or name == "__call__") and inspect.isfunction(function):
            yield f"{cls.__name__}.{name}", function


def public():
    for name in fact.__all__:
        value = getattr(fact, name)
        yield name, value
        if inspect.isclass(value):
            yield from members(value)


@pytest.mark.parametrize("name, value", list(public()),
                         ids=lambda each: each if isinstance(each, str) else "")
def test_says_what_it_is_for(name, value):
    assert inspect.getdoc(value), f"{name} has no docstring"
    if inspect.isfunction(value):
        signature = inspect.signature(value)
        bare = [each.name for each in signature.parameters.values()
                if each.annotation is each.empty and each.name != "self"]
        assert not bare and signature.return_annotation is not signature.empty, f"{name}: types of {bare}"


def test_arguments_are_explained():
    """The page of `help(fact.compile)` has a line for each argument of compile and build."""
    text = fact.compile.__doc__
    for function in (fact.compile, fact.build):
        for name in inspect.signature(function).parameters:
            assert f"    {name}: " in text or f"{name}, " in text or f", {name}: " in text, name
    for function in (fact.build, fact.bundle, fact.export, fact.load):
        assert inspect.getdoc(function).count("\n") > 1, f"{function.__name__} explains no arguments"


@pytest.mark.full
def test_a_program_of_a_user_is_checked_strictly(root, tmp_path):
    def check(text):
        (tmp_path / "client.py").write_text(text)
        done = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--config-file=",
             f"--cache-dir={tmp_path / 'cache'}", "client.py"], cwd=tmp_path, capture_output=True, text=True,
            env={"MYPYPATH": str(root / "python"), "PATH": "/usr/bin:/bin"})
        return done.stdout + done.stderr

    assert check(CLIENT).startswith("Success")
    wrong = CLIENT.replace("candidates=1", "candidates='1'")
    assert 'has incompatible type "str"; expected "int | None"' in check(wrong)
