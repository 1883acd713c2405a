# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Other people's programs: C++ that runs a model, and CMake that finds FACT."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest
import torch

import fact
from fact import toolchain
from fact.safetensors_file import write_safetensors

pytestmark = pytest.mark.skipif(shutil.which("cmake") is None, reason="needs cmake")


def run(*words, timeout=300, **options):
    result = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                            timeout=timeout, **options)
    return result.returncode, result.stdout, result.stderr


def configure(source, build, *options):
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    status, out, err = run("cmake", *generator, "-S", source, "-B", build, *options)
    assert status == 0, out + err


def cmake(source, build, *options, timeout=300):
    """Configures and builds."""
    configure(source, build, *options)
    status, out, err = run("cmake", "--build", build, timeout=timeout)
    assert status == 0, out + err


def cached(root, name):
    """A variable of FACT's own build."""
    lines = (root / "build" / "CMakeCache.txt").read_text().splitlines()
    return next((line.split("=", 1)[1] for line in lines if line.startswith(f"{name}:")), None)


def compiler(root):
    return f"-DCMAKE_CXX_COMPILER={cached(root, 'CMAKE_CXX_COMPILER')}"


@pytest.fixture(scope="module")
def prefix(root, tmp_path_factory):
    """Where FACT is installed."""
    folder = tmp_path_factory.mktemp("install") / "prefix"
    status, out, err = run("cmake", "--install", root / "build", "--prefix", folder)
    assert status == 0, out + err
    return folder


@pytest.fixture(scope="module")
def package(prefix):
    """The option by which a project finds what is installed."""
    return f"-DFACT_DIR={next(prefix.glob('lib*/**/FACTConfig.cmake')).parent}"


class Mlp(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(16, 32)
        self.down = torch.nn.Linear(32, 4)

    def forward(self, x):
        return self.down(torch.nn.functional.gelu(self.up(x)))


@pytest.fixture(scope="module")
def program(root, package, tmp_path_factory):
    """examples/cpp, built against a compiled model."""
    folder = tmp_path_factory.mktemp("cpp")
    module = Mlp()
    fact.build(module, (torch.zeros(3, 16),), target="host", name="mlp",
               output=folder / "mlp.so", options=["--candidates=1"])
    cmake(root / "examples" / "cpp", folder / "example", package, f"-DFACT_MODEL={folder / 'mlp.so'}")
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


def check_toolchain(root, build):
    """examples/toolchain: its own pass with FACT's patterns, and a pipeline of FACT."""
    layer = root / "examples" / "toolchain" / "layer.mlir"
    tool = build / "toolchain-opt"
    status, out, err = run(tool, layer, "--pass-pipeline=builtin.module(func.func(toolchain-clean))")
    assert status == 0, err
    assert "reshape" not in out and out.count("fact.relu") == 1
    # As docs/mlir.md runs it.
    status, out, err = run(tool, layer, "--toolchain-clean", "--fact-host")
    assert status == 0, err
    assert out.count('fact.fused "gemm_epilogue"') == 1 and out.count("fact.relu") == 1


def test_another_project_links_the_compiler(root, package, tmp_path):
    """With what is installed alone."""
    cmake(root / "examples" / "toolchain", tmp_path, package, compiler(root))
    check_toolchain(root, tmp_path)
    # Nothing of it comes from the checkout.
    commands = (tmp_path / "build.ninja").read_text()
    folders = re.findall(r"-(?:I|isystem )(\S+)", commands)
    assert folders and not [each for each in folders if each.startswith(f"{root}/")]


@pytest.mark.full
def test_another_project_links_the_build_folder(root, tmp_path):
    cmake(root / "examples" / "toolchain", tmp_path, f"-DFACT_DIR={root / 'build'}", compiler(root))
    check_toolchain(root, tmp_path)


def test_a_program_in_c_links_what_is_installed(root, package, tmp_path):
    """test/CAPI/capi.c, which its own test reads line by line, as a project of its own."""
    (tmp_path / "CMakeLists.txt").write_text(f"""
cmake_minimum_required(VERSION 3.20)
project(capi LANGUAGES C CXX)
find_package(FACT REQUIRED COMPONENTS Compiler)
add_executable(capi {root / "test" / "CAPI" / "capi.c"})
target_link_libraries(capi PRIVATE FACT::fact-c)
""")
    cmake(tmp_path, tmp_path / "build", package, compiler(root))
    status, out, err = run(tmp_path / "build" / "capi", tmp_path, tmp_path)
    assert status == 0, err
    assert "loaded: fact" in out and "fact-discover{target=h200 patterns=none}: succeeded" in out
    # The entries that were installed with it.
    assert "built-in entries: some" in out


# A product, rows, attention, and a product that the text gives to cuBLAS.
SPLIT = """
func.func @main(%x: tensor<256x128xbf16>, %w: tensor<128x512xbf16>, %s: tensor<512x1000xbf16>,
                %q: tensor<2x4x256x64xbf16>, %k: tensor<2x4x256x64xbf16>, %v: tensor<2x4x256x64xbf16>)
    -> (tensor<256x512xbf16>, tensor<512x1000xbf16>, tensor<2x4x256x64xbf16>, tensor<256x512xbf16>) {
  %0 = fact.matmul %x, %w : (tensor<256x128xbf16>, tensor<128x512xbf16>) -> tensor<256x512xbf16>
  %1 = fact.relu %0 : (tensor<256x512xbf16>) -> tensor<256x512xbf16>
  %2 = fact.softmax %s dim 1 : tensor<512x1000xbf16>
  %3 = fact.attention %q, %k, %v causal scale 0.125
    : (tensor<2x4x256x64xbf16>, tensor<2x4x256x64xbf16>, tensor<2x4x256x64xbf16>) -> tensor<2x4x256x64xbf16>
  %4 = fact.fused "gemm_epilogue" ins(%x, %w : tensor<256x128xbf16>, tensor<128x512xbf16>) {
  ^bb0(%a: tensor<256x128xbf16>, %b: tensor<128x512xbf16>):
    %5 = fact.matmul %a, %b : (tensor<256x128xbf16>, tensor<128x512xbf16>) -> tensor<256x512xbf16>
    fact.yield %5 : tensor<256x512xbf16>
  } schedule(#fact.cublas_gemm) : tensor<256x512xbf16>
  return %1, %2, %3, %4
    : tensor<256x512xbf16>, tensor<512x1000xbf16>, tensor<2x4x256x64xbf16>, tensor<256x512xbf16>
}
"""


def split_kernels(root, folder):
    """The project that `--split-to` writes."""
    (folder / "model.mlir").write_text(SPLIT)
    tools = root / "build" / "bin"
    status, _, err = run(tools / "fact-opt", folder / "model.mlir", "-o", folder / "fused.mlir",
                         "--fact-discover=target=h200 patterns=none")
    assert status == 0, err
    status, _, err = run(tools / "fact-translate", folder / "fused.mlir", "--fact-to-cutlass",
                         f"--split-to={folder / 'kernels'}")
    assert status == 0, err
    return folder / "kernels"


@pytest.fixture
def cuda():
    """The options that name the compiler and CUTLASS, and nothing of FACT."""
    nvcc, cutlass, cublas = toolchain.find_nvcc(), toolchain.find_cutlass(), toolchain.find_cublas()
    if None in (nvcc, cutlass, cublas):
        pytest.skip("nvcc, CUTLASS or the headers of cuBLAS are missing: run `make setup`")
    # A whole CUDA toolkit has the headers of cuBLAS beside its own.
    return [f"-DCMAKE_CUDA_COMPILER={nvcc}", f"-DCUTLASS_DIR={cutlass}", f"-DCMAKE_CUDA_FLAGS=-I{cublas}"]


def test_split_kernels_are_a_project(root, cuda, tmp_path):
    """CMake configures it, and says what is missing."""
    kernels = split_kernels(root, tmp_path)
    configure(kernels, tmp_path / "build", *cuda)
    status, _, err = run("cmake", "-S", kernels, "-B", tmp_path / "none", cuda[0],
                         f"-DCUTLASS_DIR={tmp_path}")
    assert status and "CUTLASS_DIR" in err


@pytest.mark.full
def test_split_kernels_build_with_cutlass_alone(root, cuda, tmp_path):
    """`--split-to` writes a project that CMake and nvcc build: all kinds of kernels that it may have."""
    kernels = split_kernels(root, tmp_path)
    header = {"gemm_epilogue_0": "Gemm.cuh", "rowwise_1": "Row.cuh", "attention_2": "Attention.cuh",
              "gemm_epilogue_3": "CublasGemm.cuh"}
    assert {path.stem for path in kernels.glob("*.cu")} == header.keys()
    for kernel, name in header.items():
        assert f'#include "fact/cutlass/{name}"' in (kernels / f"{kernel}.cu").read_text()
    assert "-lcublasLt" in (kernels / "CMakeLists.txt").read_text()
    cmake(kernels, tmp_path / "build", *cuda, timeout=1500)
    _, out, _ = run("nm", tmp_path / "build" / "libfact_kernels.a")
    assert [kernel for kernel in header if f" {kernel}\n" not in out] == []


def declared_passes(root):
    """Of each pass: its class, its name in a pipeline, the op that it runs on if it needs one."""
    pattern = re.compile(r'^def (\w+) : Pass<"([\w-]+)"(?:, "::([\w:]+)")?>', re.M)
    return [match for file in (root / "include").rglob("Passes.td")
            for match in pattern.findall(file.read_text())]


def test_every_pass_exports_its_patterns(root):
    """In a header, and test/unit/Transforms applies them; or docs/mlir.md says why it has none."""
    headers = "".join(path.read_text() for path in (root / "include").rglob("*.h"))
    applied = (root / "test" / "unit" / "Transforms" / "PatternsTest.cpp").read_text()
    page = (root / "docs" / "mlir.md").read_text()
    _, _, table = page.partition("\n| pass | has no patterns, because |\n|---|---|\n")
    without = dict(re.findall(r"^\| `([\w-]+)` \| (.+) \|$", table.partition("\n\n")[0], re.M))
    passes = {flag: name.removeprefix("Convert") for name, flag, _ in declared_passes(root)}
    files = list((root / "include").rglob("*.td"))
    assert len(passes) == sum(len(re.findall(r"\bPass<", path.read_text())) for path in files) > 20
    assert without.keys() <= passes.keys() and len(without) < len(passes) / 2
    for flag, name in passes.items():
        exported = re.search(rf"\bvoid populate{name}Patterns\(", headers) is not None
        assert exported != (flag in without), (
            f"'{flag}' must export its patterns or say in docs/mlir.md why not")
        if exported:
            assert f"populate{name}Patterns(" in applied or f"populate{name}Patterns," in applied, name


def test_install(root, prefix, tmp_path):
    """The tools run where they are installed."""
    for tool in ("fact-opt", "fact-compile", "fact-translate", "fact-tune", "fact-registry",
                 "fact-lsp-server", "fact-reduce"):
        status, out, err = run(prefix / "bin" / tool, "--version")
        assert status == 0 and out.startswith(tool), err
    # The built-in entries lie where the tools look.
    _, out, err = run(prefix / "bin" / "fact-registry", "list")
    assert "gemm_epilogue/bf16/sm_90a#" in out, err
    # A stock mlir-opt loads the installed plug-in, which finds the built-in entries.
    plugin = next(prefix.glob("lib*/**/fact-plugin.so"))
    status, out, err = run(llvm_tools(root) / "mlir-opt",
                           root / "test" / "Plugin" / "Inputs" / "known.mlir",
                           f"--load-dialect-plugin={plugin}", f"--load-pass-plugin={plugin}",
                           "--pass-pipeline=builtin.module(fact-discover{target=h200})",
                           env={**os.environ, "FACT_PATTERNS": str(tmp_path / "none")})
    assert status == 0 and "strategy(<reuse" in out, err
    # It has every pass, by name.
    nests = {"": "{}", "mlir::ModuleOp": "{}", "mlir::func::FuncOp": "func.func({})",
             "fact::program::ModelOp": "program.model({})"}
    passes = declared_passes(root)
    pipeline = ",".join(nests[op].format(name) for _, name, op in passes)
    _, _, err = run(llvm_tools(root) / "mlir-opt", "/dev/null", f"--load-dialect-plugin={plugin}",
                    f"--load-pass-plugin={plugin}", f"--pass-pipeline=builtin.module({pipeline})",
                    "--dump-pass-pipeline")
    shown = err[err.index("Pass Manager with"):]
    assert [name for _, name, _ in passes if name not in shown] == []


def llvm_tools(root):
    folder = cached(root, "LLVM_DIR")
    if not folder:
        pytest.skip("FACT was built without LLVM")
    return pathlib.Path(folder).parents[2] / "bin"
