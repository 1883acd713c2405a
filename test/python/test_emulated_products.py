# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of CUDA on this machine's CPU, by test/emulation: weights that are transposed at load,
booleans and integers beside a product."""

import json

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import fact
from emulated import NEEDED, emulate, kinds, on_emulated_gpu
from fact import abi

pytestmark = NEEDED


def run(folder, module, *inputs):
    """The module's library, with its weights, for some inputs."""
    table = fact.load(next((folder / "bundle").glob("*.so")))._table
    named, kept = abi.named_tensors({name: each.detach() for name, each in module.named_parameters()})
    for each in named:
        each.tensor.contents.device_type = 2
    handle = table.create(named, len(list(module.parameters())))
    assert handle, table.last_error()
    y = torch.full_like(module(*inputs), torch.nan)
    given, result = on_emulated_gpu(*inputs), on_emulated_gpu(y)
    assert table.run(handle, given.pointers, len(inputs), result.pointers, 1, None) == 0, table.last_error()
    table.destroy(handle)
    del kept
    return y


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["fp32", "bf16"])
def test_a_linear_layer_of_few_inputs_is_pointwise(root, tmp_path, dtype):
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(3, 34), nn.GELU()).to(dtype).eval().requires_grad_(False)
    x = torch.randn(2, 11, 3).to(dtype)
    report = emulate(root, tmp_path, module, [x], "a100")
    assert kinds(report) == {"cuda_pointwise"}, kinds(report)
    exact = module.double()(x.double())
    torch.testing.assert_close(run(tmp_path, module.to(dtype), x).double(), exact, rtol=1e-2, atol=1e-2)


class FewLongSums(nn.Module):
    def forward(self, x, y):
        product = x @ y
        return product, product.flatten() > 0.1


@pytest.mark.parametrize("rows,columns", [(1, 1), (3, 5)])
def test_few_long_sums(root, tmp_path, rows, columns):
    """References compute each of them by a block."""
    torch.manual_seed(0)
    inputs = [torch.randn(rows, 4099), torch.randn(4099, columns)]
    report = emulate(root, tmp_path, FewLongSums(), inputs, "a100")
    assert "cuda_generic" not in kinds(report), kinds(report)


class Masked(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(21, 35)

    def forward(self, x, keep, rows, columns):
        y = F.gelu(self.linear(x)) * keep / 0.9
        return torch.where(rows[:, None] > columns, y, rows[:, None] - 1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["fp32", "bf16"])
def test_masks_and_integers_beside_a_product(root, tmp_path, dtype):
    torch.manual_seed(0)
    inputs = [torch.randn(30, 21).to(dtype), torch.rand(30, 35) < 0.7, torch.randint(-5, 5, (30,)),
              torch.randint(-5, 5, (35,))]
    emulate(root, tmp_path, Masked().to(dtype).eval(), inputs, "a100")
    bundle = json.loads((tmp_path / "bundle" / "bundle.json").read_text())
    product = next(kernel for kernel in bundle["kernels"] if kernel["rule"] == "gemm_epilogue")
    assert {"select", "compare"} <= set(product["ops"]), product["ops"]


class Transposed(nn.Module):
    """[batch, time] becomes [time, batch] before a projection, as in nn.MultiheadAttention."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(20, 24)

    def forward(self, x, y, times):
        return (self.linear(x.transpose(0, 1)) + y) * times


@pytest.mark.full
def test_batches_become_rows(root, tmp_path):
    torch.manual_seed(0)
    inputs = [torch.randn(3, 70, 20), torch.randn(70, 3, 24), torch.randn(70, 1, 1)]
    report = emulate(root, tmp_path, Transposed().eval(), inputs, "a100")
    assert kinds(report) == {"sm80_gemm"}, kinds(report)
    [source] = (tmp_path / "bundle" / "kernels").glob("*/0.cu")
    assert "Problem<70, 24, 20, 3>" in source.read_text()


@pytest.mark.full
def test_a_product_by_scalar_instructions(root, tmp_path):
    torch.manual_seed(0)
    report = emulate(root, tmp_path, nn.Linear(21, 35).eval(), [torch.randn(11, 21)], "rtx3090")
    assert "math = simt" in report["kernels"][0]["schedule"]


@pytest.mark.full
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["fp32", "bf16"])
def test_rows_between_units_are_padded(root, tmp_path, dtype):
    """Verification has NaN behind the rows that a kernel reads: a sum that uses it is rejected."""
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(77, 131), nn.GELU(), nn.Linear(131, 77))
    module = module.to(dtype).eval().requires_grad_(False)
    x = torch.randn(67, 77).to(dtype)
    emulate(root, tmp_path, module, [x], "a100")
    bundle = json.loads((tmp_path / "bundle" / "bundle.json").read_text())
    operands = [operand for kernel in bundle["kernels"] for operand in kernel["operands"]]
    parts = [operand["part"] for operand in operands if "part" in operand]
    assert parts and all(part["pitch"] % 16 == 0 and part["end"] % 16 for part in parts), parts
    results = [result for kernel in bundle["kernels"] for result in kernel["results"]]
    written = [result["part"] for result in results if "part" in result]
    assert written and all(part["end"] + part["spare"] == part["pitch"] for part in written), written
    exact = module.double()(x.double())
    torch.testing.assert_close(run(tmp_path, module.to(dtype), x).double(), exact, rtol=1e-2, atol=1e-2)


class Loss(nn.Module):
    """The loss of an odd number of classes, which reads all logits, and one of each row."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(72, 131)

    def forward(self, x, targets):
        y = self.linear(x)
        return F.cross_entropy(y.flatten(0, 1), targets.flatten(), reduction="none")


@pytest.mark.parametrize("dtype", [
    torch.float32, pytest.param(torch.bfloat16, marks=pytest.mark.full)], ids=["fp32", "bf16"])
def test_losses_read_padded_logits(root, tmp_path, dtype):
    torch.manual_seed(0)
    module = Loss().to(dtype).eval().requires_grad_(False)
    x, targets = torch.randn(3, 23, 72).to(dtype), torch.randint(0, 131, (3, 23))
    emulate(root, tmp_path, module, [x, targets], "a100")
    kernels = json.loads((tmp_path / "bundle" / "bundle.json").read_text())["kernels"]
    [loss] = [kernel for kernel in kernels if "gather" in kernel["ops"]]
    pitch = -(-131 * dtype.itemsize // 16) * 16
    part = {"begin": 0, "end": 131 * dtype.itemsize, "pitch": pitch}
    assert loss["operands"][0]["part"] == part, loss["operands"]
    # Random indices of a trial may be of no class; these are.
    exact = module.double()(x.double(), targets)
    found = run(tmp_path, module.to(dtype), x, targets).double()
    torch.testing.assert_close(found, exact, rtol=1e-2, atol=1e-2)
