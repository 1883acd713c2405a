# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every list of element types is that of include/fact/Runtime/ElementTypes.def."""

import ctypes
import json
import re
from pathlib import Path

import pytest
import torch

from fact.element_types import ELEMENT_TYPES, torch_type, type_name
from fact.errors import FactError

ROOT = Path(__file__).resolve().parents[2]
RUNTIME = ROOT / "include" / "fact" / "Runtime"
COLUMNS = ("type", "name", "storage", "compute", "kind", "digits", "largest", "overflow",
           "smallest", "dlpack", "safetensors", "mlir")


def read_table():
    rows = re.findall(r"^FACT_ELEMENT_TYPE\((.*)\)$", (RUNTIME / "ElementTypes.def").read_text(),
                      re.MULTILINE)
    return [dict(zip(COLUMNS, (cell.strip().strip('"') for cell in row.split(",")), strict=True))
            for row in rows]


def dlpack_codes():
    header = (RUNTIME / "dlpack" / "dlpack.h").read_text()
    return {name: int(code) for name, code in re.findall(r"(kDL\w+) = (\d+)", header)}


TABLE = {row["name"]: row for row in read_table()}


def test_the_table_is_read():
    assert len(TABLE) >= 8 and TABLE["bf16"]["digits"] == "8"


def test_python_knows_the_same_types():
    assert {row.name for row in ELEMENT_TYPES.values() if row.name} == set(TABLE)
    codes = dlpack_codes()
    for name, row in TABLE.items():
        dtype = torch_type(name)
        assert type_name(dtype) == name
        assert ELEMENT_TYPES[dtype].dlpack == codes[row["dlpack"]], name
        assert ELEMENT_TYPES[dtype].safetensors == row["safetensors"], name
        assert dtype.is_floating_point == (row["kind"] == "Float"), name
        assert (dtype == torch.bool) == (row["kind"] == "Boolean"), name
        if dtype.is_floating_point:
            info = torch.finfo(dtype)
            assert info.eps == 2.0 ** (1 - int(row["digits"])), name
            assert info.max == float.fromhex(row["largest"]), name
            assert info.smallest_normal * info.eps == float.fromhex(row["smallest"]), name


def test_codes_of_dlpack_are_those_of_pytorch():
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    for dtype, row in ELEMENT_TYPES.items():
        capsule = torch.zeros(2, dtype=dtype).__dlpack__()
        # data, device (type and id), ndim, then the type.
        address = get(capsule, b"dltensor") + 8 + 8 + 4
        code, bits = (ctypes.c_uint8 * 2).from_address(address)
        assert (code, bits) == (row.dlpack, 8 * dtype.itemsize), dtype


def test_types_without_a_name_are_refused():
    with pytest.raises(FactError, match="int16 is not supported; supported are float64"):
        type_name(torch.int16)


def test_the_registry_takes_the_same_types():
    schema = json.loads((ROOT / "patterns" / "schema.json").read_text())
    assert schema["properties"]["dtype"]["enum"] == list(TABLE)
