# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Weights files are anybody's: what does not fit is an error with a message."""

import json
import struct

import pytest
import torch

from fact.errors import FactError, printable
from fact.safetensors_file import read_safetensors, write_safetensors

W = {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}


def write(path, header, data=bytes(16), length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text) if length is None else length) + text + data)
    return path


def test_round_trip(tmp_path):
    tensors = {"w": torch.arange(4.0).reshape(2, 2), "b": torch.tensor([True, False]),
               "name with \n and \x1b": torch.ones(3, dtype=torch.bfloat16)}
    write_safetensors(tmp_path / "file", tensors)
    read = read_safetensors(tmp_path / "file")
    assert read.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert torch.equal(read[name], tensor)


WRONG = {
    "a list": [],
    "a number": 5,
    "deep nesting": b'{"w": ' + b"[" * 2_000_000 + b"]" * 2_000_000 + b"}",
    "a tensor that is a list": {"w": []},
    "no type": {"w": {"shape": [4], "data_offsets": [0, 16]}},
    "an unknown type": {"w": {**W, "dtype": "F3"}},
    "a type that is a list": {"w": {**W, "dtype": ["F32"]}},
    "beyond the end": {"w": {**W, "data_offsets": [0, 32]}},
    "cut by the end": {"w": {**W, "data_offsets": [8, 24]}},
    "before the beginning": {"w": {**W, "data_offsets": [-16, 16]}},
    "from the end": {"w": {**W, "data_offsets": [0, -1]}},
    "backwards": {"w": {**W, "data_offsets": [16, 0]}},
    "offsets in words": {"w": {**W, "data_offsets": ["0", "16"]}},
    "true offsets": {"w": {**W, "data_offsets": [False, True]}},
    "one offset": {"w": {**W, "data_offsets": [0]}},
    "another size": {"w": {**W, "shape": [2, 3]}},
    "a size to be guessed": {"w": {**W, "shape": [2, -1]}},
    "a name twice": b'{"w": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]},'
                    b' "w": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}}',
    "not UTF-8": b'{"\xff": 5}',
    "not JSON": b"hello",
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_files(name, tmp_path):
    with pytest.raises(FactError, match="cannot read .* as safetensors: "):
        read_safetensors(write(tmp_path / "file", WRONG[name]))


def test_wrong_lengths(tmp_path):
    for length in 2**63, 2**64 - 1, 1000:
        with pytest.raises(FactError, match="the header is longer than the file"):
            read_safetensors(write(tmp_path / "file", {"w": W}, length=length))
    (tmp_path / "file").write_bytes(b"1234")
    with pytest.raises(FactError, match="as safetensors"):
        read_safetensors(tmp_path / "file")
    # Sparse: no disk is filled.
    with open(tmp_path / "file", "wb") as file:
        file.write(struct.pack("<Q", 200_000_000))
        file.truncate(300_000_000)
    with pytest.raises(FactError, match="the header has 200000000 bytes, more than 100000000"):
        read_safetensors(tmp_path / "file")


def test_messages_move_no_cursor():
    assert printable("a\x1b[2J\x9b\u202e\u2028b\n\té€") == "a\\x1b[2J\\x9b\\u202e\\u2028b\n\té€"
