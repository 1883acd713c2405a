# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reading and writing safetensors files with torch alone.

The format is a length, a JSON header and the data; handling it here keeps a machine that
only runs libraries free of other packages.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Mapping
from typing import Any

import torch

from .element_types import ELEMENT_TYPES
from .errors import FactError
from .files import writing

_TYPES = {row.safetensors: dtype for dtype, row in ELEMENT_TYPES.items()}
# The limit of the format's own reader.
_MAXIMUM_HEADER = 100_000_000


def read_safetensors(path: str | os.PathLike[str]) -> dict[str, torch.Tensor]:
    """All tensors of a file, mapped rather than read. Files are anybody's: what does not fit is
    an error, as it is for a library."""
    path = os.fspath(path)
    try:
        size = os.path.getsize(path)
        with open(path, "rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            if length > size - 8:
                raise ValueError("the header is longer than the file")
            if length > _MAXIMUM_HEADER:
                raise ValueError(f"the header has {length} bytes, more than {_MAXIMUM_HEADER}")
            header = json.loads(file.read(length), object_pairs_hook=_members)
        if not isinstance(header, dict):
            raise ValueError("the header is not a JSON object")
        data = torch.from_file(path, shared=False, size=size, dtype=torch.uint8)[8 + length :]
        return {
            name: _tensor(data, entry) for name, entry in header.items() if name != "__metadata__"
        }
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, struct.error) as error:
        raise FactError(f"cannot read {path} as safetensors: {error}") from None


def _members(pairs: list[tuple[str, object]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("duplicate tensor name")
    return members


def _tensor(data: torch.Tensor, entry: dict[str, Any]) -> torch.Tensor:
    begin, end = entry["data_offsets"]
    if not (type(begin) is type(end) is int and 0 <= begin <= end <= len(data)):
        raise ValueError(f"a tensor lies at bytes {begin} to {end}, but the file has {len(data)} "
                         "bytes of data")
    if any(type(extent) is not int or extent < 0 for extent in entry["shape"]):
        raise ValueError(f"{entry['shape']} is not a shape")
    raw, dtype = data[begin:end], _TYPES[entry["dtype"]]
    if raw.data_ptr() % dtype.itemsize:
        raw = raw.clone()
    return raw.view(dtype).reshape(entry["shape"])


def write_safetensors(path: str | os.PathLike[str], tensors: Mapping[str, torch.Tensor]) -> None:
    """Writes a file; complete or not at all."""
    header, offset = {}, 0
    for name, tensor in tensors.items():
        size = tensor.numel() * tensor.element_size()
        header[name] = {
            "dtype": ELEMENT_TYPES[tensor.dtype].safetensors,
            "shape": list(tensor.shape),
            "data_offsets": [offset, offset + size],
        }
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with writing(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors.values():
            flat = tensor.detach().cpu().contiguous().reshape(-1)
            file.write(flat.view(torch.uint8).numpy().tobytes())
