# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files of torch.export.save as input."""

import pytest
import torch
from torch import nn

import fact
from fact import toolchain
from fact.__main__ import main

pytest.importorskip("torch_mlir")


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 4)

    def forward(self, x, *, scale):
        return torch.relu(self.linear(x)) * scale


def save(path, module, inputs, kwargs=None, **options):
    torch.export.save(torch.export.export(module.eval(), inputs, kwargs, **options), path)
    return str(path)


def fails(capsys, *words):
    assert main([*words]) == 1
    return capsys.readouterr().err


@pytest.mark.skipif(toolchain.find_tool("fact-compile") is None, reason="fact-compile is not built")
def test_an_exported_file_is_compiled(tmp_path, recwarn):
    module, x, scale = Scaled(), torch.randn(3, 8), torch.randn(4)
    file = save(tmp_path / "my-model.pt2", module, (x,), {"scale": scale})
    library, weights = tmp_path / "model.so", tmp_path / "weights.safetensors"
    assert main(["compile", file, "--target", "host", "--candidates", "1", "-o", str(library),
                 "--save-weights", str(weights)]) == 0
    model = fact.load(library, weights)
    assert library.exists() and fact.load(library).name == "my_model"
    torch.testing.assert_close(model(x, scale=scale), module(x, scale=scale))
    assert not [each for each in recwarn if "copyreg" in each.filename]


def test_an_exported_file_is_exported_as_text(tmp_path, capsys):
    file = save(tmp_path / "model.pt2", nn.Linear(8, 4).bfloat16(), (torch.randn(3, 8).bfloat16(),))
    assert main(["export", file]) == 0
    assert "vtensor<[3,8],bf16>" in capsys.readouterr().out


def test_an_exported_file_has_its_types_and_sizes(tmp_path, capsys):
    file = save(tmp_path / "model.pt2", nn.Linear(8, 4), (torch.randn(3, 8),))
    error = fails(capsys, "export", file, "--dtype", "bf16", "--inputs", "2x8")
    assert "leave out --dtype and --inputs" in error
    sizes = {"input": {0: torch.export.Dim("rows")}}
    file = save(tmp_path / "dynamic.pt2", nn.Linear(8, 4), (torch.randn(3, 8),), dynamic_shapes=sizes)
    assert "a library has fixed sizes" in fails(capsys, "export", file)


def test_other_files_are_refused(tmp_path, capsys):
    """In one line, without what PyTorch logs of them."""
    file = tmp_path / "model.pt2"
    assert fails(capsys, "export", str(file)) == f"fact: error: no file {file}\n"
    whole = save(file, nn.Linear(8, 4), (torch.randn(3, 8),))
    for content in (b"", b"not an archive", file.read_bytes()[:2000]):
        file.write_bytes(content)
        assert fails(capsys, "export", whole) == (
            f"fact: error: {file} is not a file of torch.export.save: it is no archive, or a part of one\n")
    # Weights, and modules of which no graph was exported.
    for value in (nn.Linear(8, 4).state_dict(), nn.Linear(8, 4)):
        torch.save(value, file)
        assert fails(capsys, "export", whole) == (
            f"fact: error: {file} is not a file of torch.export.save: torch.save and torch.jit.save have "
            "no exported graph; write torch.export.save(torch.export.export(module, inputs), FILE)\n")
