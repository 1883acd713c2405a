# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Other people's programs: C++ that runs a model, and CMake that finds FACT."""

import os
import pathlib
import shutil
import subprocess

import pytest
import torch

import fact
from fact import toolchain
from fact.safetensors_file import write_safetensors

pytestmark = pytest.mark.skipif(shutil.which("cmake") is None, reason="needs cmake")


def run(*words, **options):
    result = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                            timeout=300, **options)
    return result.returncode, result.stdout, result.stderr


def cmake(root, source, build, *options):
    """Configures and builds with FACT as it lies in its build folder."""
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    status, out, err = run("cmake", *generator, "-S", source, "-B", build,
                           f"-DFACT_DIR={root / 'build'}", *options)
    assert status == 0, out + err
    status, out, err = run("cmake", "--build", build)
    assert status == 0, out + err


class Mlp(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(16, 32)
        self.down = torch.nn.Linear(32, 4)

    def forward(self, x):
        return self.down(torch.nn.functional.gelu(self.up(x)))


@pytest.fixture(scope="module")
def program(root, tmp_path_factory):
    """examples/cpp, built against a compiled model."""
    folder = tmp_path_factory.mktemp("cpp")
    module = Mlp()
    fact.build(module, (torch.zeros(3, 16),), target="host", name="mlp",
               output=folder / "mlp.so", options=["--candidates=1"])
    cmake(root, root / "examples" / "cpp", folder / "example", f"-DFACT_MODEL={folder / 'mlp.so'}")
    return folder / "example" / "run_model"


def expected(module):
    x = (torch.arange(3 * 16) % 17).float().reshape(3, 16) / 16 - 0.5
    return module.double()(x.double()).flatten().tolist()


def parse(line):
    head, values = line.split(":")
    return head, [float(value) for value in values.split()]


def test_example_gives_what_pytorch_gives(program, tmp_path):
    torch.manual_seed(1)
    modules, files = [Mlp(), Mlp()], []
    for number, module in enumerate(modules):
        files.append(tmp_path / f"{number}.safetensors")
        write_safetensors(files[-1], {**module.state_dict(), "unused": torch.ones(3)})
    status, out, err = run(program, *files)
    assert status == 0, err
    lines = out.splitlines()
    assert len(lines) == 2
    for line, module in zip(lines, modules):
        head, values = parse(line)
        assert head == "output0 [3, 4]"
        assert values == pytest.approx(expected(module), abs=1e-5)


def test_example_says_what_is_wrong(program, tmp_path):
    status, out, err = run(program, tmp_path / "none.safetensors")
    assert (status, out) == (1, "")
    assert "No such file or directory" in err
    weights = Mlp().state_dict()
    del weights["up.bias"]
    weights["down.bias"] = weights["down.bias"].half()
    weights["down.weight"] = weights["down.weight"].t().contiguous()
    write_safetensors(tmp_path / "wrong.safetensors", weights)
    status, out, err = run(program, tmp_path / "wrong.safetensors")
    assert (status, out) == (1, "")
    assert "3 problems with the weights" in err
    for line in ("'up.bias' is missing: f32 [32]", "'down.bias' has type F16; expected F32",
                 "'down.weight' has shape [32, 4]; expected [4, 32]"):
        assert line in err


def test_another_project_links_the_compiler(root, tmp_path):
    """examples/toolchain: its own pass with FACT's patterns, and a pipeline of FACT."""
    example = root / "examples" / "toolchain"
    cmake(root, example, tmp_path / "build", f"-DCMAKE_CXX_COMPILER={compiler(root)}")
    tool = tmp_path / "build" / "toolchain-opt"
    status, out, err = run(tool, example / "layer.mlir",
                           "--pass-pipeline=builtin.module(func.func(toolchain-clean))")
    assert status == 0, err
    assert "reshape" not in out and out.count("fact.relu") == 1
    status, out, err = run(tool, example / "layer.mlir", "--fact-host")
    assert status == 0, err
    assert out.count('fact.fused "gemm_epilogue"') == 1


@pytest.mark.full
def test_split_kernels_build_with_cutlass_alone(root, tmp_path):
    """`--split-to` writes a project that CMake and nvcc build."""
    nvcc, cutlass = toolchain.find_nvcc(), toolchain.find_cutlass()
    if None in (nvcc, cutlass):
        pytest.skip("nvcc or CUTLASS is missing: run `make setup`")
    (tmp_path / "relu.mlir").write_text(
        "func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {\n"
        "  %0 = fact.relu %x : (tensor<64xf32>) -> tensor<64xf32>\n"
        "  return %0 : tensor<64xf32>\n}\n")
    tools = root / "build" / "bin"
    status, _, err = run(tools / "fact-opt", tmp_path / "relu.mlir", "-o", tmp_path / "fused.mlir",
                         "--fact-discover=target=h200 patterns=none")
    assert status == 0, err
    status, _, err = run(tools / "fact-translate", tmp_path / "fused.mlir", "--fact-to-cutlass",
                         f"--split-to={tmp_path / 'kernels'}")
    assert status == 0, err
    cmake(root, tmp_path / "kernels", tmp_path / "build", f"-DCMAKE_CUDA_COMPILER={nvcc}",
          f"-DCUTLASS_DIR={cutlass}")
    _, out, _ = run("nm", tmp_path / "build" / "libfact_kernels.a")
    assert " pointwise_0\n" in out


def compiler(root):
    for line in (root / "build" / "CMakeCache.txt").read_text().splitlines():
        if line.startswith("CMAKE_CXX_COMPILER:"):
            return line.split("=", 1)[1]
    return os.environ.get("CXX", "c++")


def test_install(root, tmp_path):
    """What is installed is found, and its tools run."""
    status, out, err = run("cmake", "--install", root / "build", "--prefix", tmp_path / "prefix")
    assert status == 0, out + err
    for tool in ("fact-opt", "fact-compile", "fact-translate", "fact-tune", "fact-registry",
                 "fact-lsp-server", "fact-reduce"):
        status, out, err = run(tmp_path / "prefix" / "bin" / tool, "--version")
        assert status == 0 and out.startswith(tool), err
    # The built-in entries lie where the tools look.
    _, out, err = run(tmp_path / "prefix" / "bin" / "fact-registry", "list")
    assert "gemm_epilogue/bf16/sm_90a#" in out, err
    package = next((tmp_path / "prefix").glob("lib*/**/FACTConfig.cmake")).parent
    status, out, err = run("cmake", "-S", root / "examples" / "toolchain", "-B", tmp_path / "build",
                           f"-DFACT_DIR={package}", f"-DCMAKE_CXX_COMPILER={compiler(root)}")
    assert status == 0, out + err
    # A stock mlir-opt loads the installed plug-in, which finds the built-in entries.
    plugin = next((tmp_path / "prefix").glob("lib*/**/fact-plugin.so"))
    status, out, err = run(llvm_tools(root) / "mlir-opt",
                           root / "test" / "Plugin" / "Inputs" / "known.mlir",
                           f"--load-dialect-plugin={plugin}", f"--load-pass-plugin={plugin}",
                           "--pass-pipeline=builtin.module(fact-discover{target=h200})",
                           env={**os.environ, "FACT_PATTERNS": str(tmp_path / "none")})
    assert status == 0 and "strategy(<reuse" in out, err


def llvm_tools(root):
    for line in (root / "build" / "CMakeCache.txt").read_text().splitlines():
        if line.startswith("LLVM_DIR:"):
            return pathlib.Path(line.split("=", 1)[1]).parents[2] / "bin"
    pytest.skip("FACT was built without LLVM")
