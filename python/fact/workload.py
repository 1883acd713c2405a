# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules from files, as the command line names them.

A workload file has a class `Model`, `get_init_inputs()` and `get_inputs()`; it may have
`SMALL`, a dictionary of settings for a size that any machine runs at once. Settings go
to the constructor and to `get_inputs`, each taking the names it knows. Weights and inputs
are random with fixed seeds, so that two machines make the same module.

A file of `torch.export.save` has a module with its weights, types and example inputs.
"""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import inspect
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from .errors import FactError
from .export import model_name

WEIGHT_SEED, INPUT_SEED = 0, 1

DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}


@dataclasses.dataclass
class Workload:
    name: str
    module: torch.nn.Module
    inputs: list[torch.Tensor]
    kwargs: dict[str, Any] | None = None


def load_workload(
    spec: str,
    *,
    dtype: str | None = None,
    device: str = "cpu",
    size: str | None = None,
    settings: dict[str, Any] | None = None,
    shapes: Sequence[Sequence[int]] | None = None,
) -> Workload:
    """The module that `spec`, `FILE.py`, `FILE.pt2` or `package.module:Class`, names."""
    if spec.endswith(".pt2"):
        fixed = {"--dtype": dtype, "--size": size, "--set": settings, "--inputs": shapes,
                 "--device=meta": device == "meta"}
        return _load_program(spec, device, [option for option, given in fixed.items() if given])
    source, name, factory = _find(spec)
    settings = {**_size_settings(source, size, spec), **(settings or {})}
    torch.manual_seed(WEIGHT_SEED)
    known = _known_settings(source, factory)
    unknown = sorted(set(settings) - known)
    if unknown:
        raise FactError(f"{spec} has no setting {', '.join(unknown)}; it has "
                        f"{', '.join(sorted(known)) or 'none'}")
    arguments = source.get_init_inputs() if hasattr(source, "get_init_inputs") else []
    # Tensors on the meta device have shapes and no data, so any size fits.
    with torch.device("meta" if device == "meta" else "cpu"):
        module = factory(*arguments, **_accepted(factory.__init__, settings)).eval()
        torch.manual_seed(INPUT_SEED)
        if shapes:
            inputs = [torch.randn(*shape) for shape in shapes]
        elif hasattr(source, "get_inputs"):
            inputs = list(source.get_inputs(**_accepted(source.get_inputs, settings)))
        else:
            raise FactError(f"{spec} has no get_inputs: give shapes, as in --inputs 2x16x64")
    to = DTYPES[dtype or "fp32"]
    cast = lambda x: x.to(device, to) if x.is_floating_point() else x.to(device)
    return Workload(name or model_name(module), module.to(device, to), [cast(x) for x in inputs])


def _load_program(spec: str, device: str, refused: list[str]) -> Workload:
    """The module in a file of `torch.export.save`."""
    from .compiler import open_program

    if refused:
        raise FactError(f"{spec} was exported with its types, sizes and inputs: leave out "
                        f"{' and '.join(refused)}")
    if not Path(spec).is_file():
        raise FactError(f"no file {spec}")
    _require_exported_program(spec)
    try:
        program = torch.export.load(spec)
    except Exception as error:
        raise FactError(f"PyTorch {torch.__version__} cannot read {spec}, a file as torch.export.save "
                        f"writes it: {type(error).__name__}: {error}") from error
    module, inputs, kwargs = open_program(program, None, None)
    move = lambda x: x.to(device) if isinstance(x, torch.Tensor) else x
    inputs, kwargs = torch.utils._pytree.tree_map(move, (list(inputs), kwargs))
    return Workload(_identifier(Path(spec).stem), module.to(device), inputs, kwargs or None)


def _require_exported_program(path: str) -> None:
    """Raises for files that PyTorch would log a page about."""
    other = f"{path} is not a file of torch.export.save: "
    if not zipfile.is_zipfile(path):
        raise FactError(f"{other}it is no archive, or a part of one")
    with zipfile.ZipFile(path) as archive:
        names = [name.rpartition("/")[2] for name in archive.namelist()]
    if "data.pkl" in names and "archive_format" not in names:
        raise FactError(f"{other}torch.save and torch.jit.save have no exported graph; write "
                        "torch.export.save(torch.export.export(module, inputs), FILE)")


def _identifier(text: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in text)


def parse_settings(words: Sequence[str]) -> dict[str, Any]:
    """`width=64` as a dictionary; numbers are numbers."""
    settings: dict[str, Any] = {}
    for word in words:
        key, separator, value = word.partition("=")
        if not separator or not key.isidentifier():
            raise FactError(f"'{word}' is not a setting: write NAME=VALUE, as in width=64")
        settings[key] = _number(value)
    return settings


def parse_shapes(words: Sequence[str]) -> list[list[int]]:
    """`2x16x64` as a list of sizes."""
    try:
        return [[int(size) for size in word.split("x")] for word in words]
    except ValueError:
        raise FactError(f"'{' '.join(words)}' are not shapes: write sizes as in 2x16x64") from None


def _number(text: str) -> Any:
    for convert in (int, float):
        try:
            return convert(text)
        except ValueError:
            pass
    return {"true": True, "false": False}.get(text.lower(), text)


def _find(spec: str):
    """The source module, the workload's name if its file gives one, the class."""
    if spec.endswith(".py"):
        path = Path(spec)
        if not path.is_file():
            raise FactError(f"no file {spec}")
        name = _identifier(path.stem)
        found = importlib.util.spec_from_file_location(name, path)
        assert found is not None and found.loader is not None  # None for other endings than .py.
        source = importlib.util.module_from_spec(found)
        try:
            found.loader.exec_module(source)
        except Exception as error:
            raise FactError(f"cannot import {spec}: {type(error).__name__}: {error}") from error
        if not hasattr(source, "Model"):
            raise FactError(f"{spec} has no class Model")
        return source, name, source.Model
    package, separator, cls = spec.partition(":")
    if not separator:
        raise FactError(f"'{spec}' is neither a file FILE.py or FILE.pt2 nor package.module:Class")
    sys.path.insert(0, "")
    try:
        source = importlib.import_module(package)
    except ImportError as error:
        raise FactError(f"cannot import {package}: {error}") from None
    if not hasattr(source, cls):
        raise FactError(f"{package} has no class {cls}")
    return source, None, getattr(source, cls)


def _size_settings(source, size: str | None, spec: str) -> dict[str, Any]:
    if size in (None, "full"):
        return {}
    if not hasattr(source, size.upper()):
        raise FactError(f"{spec} has no size '{size}': define a dictionary {size.upper()}")
    return dict(getattr(source, size.upper()))


def _parameters(function) -> list[str]:
    return [name for name in inspect.signature(function).parameters if name != "self"]


def _known_settings(source, factory) -> set[str]:
    known = set()
    # A class without a constructor inherits torch's, which accepts any argument.
    if factory.__init__ is not torch.nn.Module.__init__:
        known.update(_parameters(factory.__init__))
    if hasattr(source, "get_inputs"):
        known.update(_parameters(source.get_inputs))
    return known - {"args", "kwargs"}


def _accepted(function, settings: dict[str, Any]) -> dict[str, Any]:
    if function is torch.nn.Module.__init__:
        return {}
    names = _parameters(function)
    return {key: value for key, value in settings.items() if key in names}
