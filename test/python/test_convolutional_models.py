# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutional models (`test/models`): executed on the host, bundled for an H200.

`fact.compile` compares each library with its module in fp64. The long tests are all models.
"""

import json
import os
import sys
from pathlib import Path

import pytest
import torch

import fact
from fact import toolchain

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from models import convolutional
from models.architectures import DTYPES

if not os.environ.get("FACT_REQUIRE_COMPILER"):
    pytest.importorskip("torch_mlir")
    if toolchain.find_tool("fact-compile") is None:
        pytest.skip("fact-compile is not built", allow_module_level=True)

# Cheap, and of several kinds.
ALWAYS = ("lenet", "gan_generator", "mamba_conv")
# Executed in bf16 too: a classifier with each kind of convolution, and each kind of other model.
SIXTEEN_BIT = ("lenet", "resnet_basic", "mobilenet_v3", "regnet", "convnext", "unet_2d",
               "autoencoder", "diffusion_unet", "swin")


def names(*always):
    return [pytest.param(name, marks=[] if name in always else pytest.mark.full)
            for name in convolutional.MODELS]


def check_on_host(name, dtype):
    model, _ = convolutional.build(name, dtype)
    compiled = fact.compile(model, convolutional.arguments(name, dtype), target="host",
                            candidates=1)
    assert compiled.library.verified


@pytest.mark.parametrize("name", names(*ALWAYS))
@torch.no_grad()
def test_model(name):
    check_on_host(name, torch.float32)


@pytest.mark.full
@pytest.mark.parametrize("name", SIXTEEN_BIT)
@torch.no_grad()
def test_model_in_16_bits(name):
    check_on_host(name, torch.bfloat16)


@pytest.mark.full
@pytest.mark.parametrize("precision", DTYPES)
@pytest.mark.parametrize("name", convolutional.MODELS)
@torch.no_grad()
def test_bundle(name, precision, tmp_path):
    """Each kernel is of a family: none is left to the rule `generic`."""
    dtype = DTYPES[precision]
    model, _ = convolutional.build(name, dtype)
    folder = fact.bundle(model, convolutional.arguments(name, dtype), target="h200",
                         output=tmp_path / "bundle", candidates=1)
    kernels = json.loads((folder / "bundle.json").read_text())["kernels"]
    assert [kernel["name"] for kernel in kernels if kernel["rule"] == "generic"] == []
