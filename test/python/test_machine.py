# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The target `auto` and what `fact doctor` says of it, with a stand-in for NVIDIA's driver."""

import json
import subprocess

import pytest
import torch

import fact
from fact import doctor, machine, toolchain
from fact.__main__ import main

pytestmark = pytest.mark.skipif(toolchain.find_tool("fact-compile") is None,
                                reason="fact-compile is not built")

H200 = "NVIDIA H200;75=9;76=0;16=132;36=3201000;37=6144"
RTX4070 = "NVIDIA GeForce RTX 4070;75=8;76=9;16=46;13=2475000;36=10501000;37=192"
T4 = "Tesla T4;75=7;76=5;16=40"


@pytest.fixture(scope="session")
def driver(root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("driver")
    source = root / "test" / "Driver" / "Inputs" / "fake_cuda.c"
    subprocess.run(["cc", "-shared", "-fPIC", source, "-o", folder / "libcuda.so.1"], check=True)
    return folder


@pytest.fixture
def gpu(driver, monkeypatch, tmp_path):
    """Puts a GPU into this machine that the driver, PyTorch and nvcc work with."""
    def put(description, sees=True, nvcc=True):
        monkeypatch.setenv("LD_LIBRARY_PATH", str(driver))
        monkeypatch.setenv("FAKE_GPU", description)
        monkeypatch.setenv("FACT_WORK_DIR", str(tmp_path / "work"))
        monkeypatch.setattr(torch.cuda, "is_available", lambda: sees)
        monkeypatch.setattr(toolchain, "find_nvcc", lambda: stand_in_nvcc(tmp_path) if nvcc else None)
    return put


def stand_in_nvcc(folder):
    program = folder / "nvcc"
    program.write_text("#!/bin/sh\ncase $1 in --version) echo 'release 12.4, V12.4.99';;\n"
                       "--list-gpu-code) echo sm_80 sm_86 sm_89 sm_90;; esac\n")
    program.chmod(0o755)
    return program


def test_auto_is_the_gpu(gpu):
    gpu(H200)
    assert machine.resolve_target("auto") == "h200"
    assert machine.resolve_target("sm_80") == "sm_80"


@pytest.mark.parametrize("shown, expected", [(None, "1"), ("3,5", "5"), ("GPU-a,GPU-b", "GPU-b")])
def test_programs_use_the_current_gpu(monkeypatch, shown, expected):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 1)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if shown:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", shown)
    assert machine.environment()["CUDA_VISIBLE_DEVICES"] == expected
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    assert machine.environment().get("CUDA_VISIBLE_DEVICES") == shown


def test_bundle_of_another_gpu_is_refused(gpu, tmp_path):
    gpu(H200)
    fact.bundle(torch.nn.ReLU(), (torch.ones(4),), target="sm_80", output=tmp_path / "bundle",
                name="relu")
    command = [str(toolchain.require_tool("fact-tune")), str(tmp_path / "bundle")]
    done = subprocess.run(command, env=machine.environment(), capture_output=True, text=True)
    assert done.returncode == 1
    assert "the bundle is for sm_80, but the GPU of this machine is sm_90; tune it" in done.stderr
    assert not list((tmp_path / "bundle").rglob("*.o"))


@pytest.mark.parametrize("absent", ["sees", "nvcc"])
def test_auto_is_the_host_without(gpu, absent):
    gpu(H200, **{absent: False})
    assert machine.resolve_target("auto") == "host"


def test_auto_describes_an_unknown_model_in_a_file(gpu):
    gpu(RTX4070)
    target = machine.resolve_target("auto")
    assert target.endswith("machines/geforce-rtx-4070.json")
    figures = json.loads(open(target).read())
    assert figures["architecture"] == "sm_89" and figures["bandwidth"] == 504.048e9
    # The file is a target: it describes what the driver described.
    assert machine.describe_target(target)["machine"] == figures


def test_auto_refuses_a_gpu_without_kernels(gpu):
    gpu(T4)
    with pytest.raises(fact.FactError, match="^no kernels for Tesla T4 .*7.5.*'host'"):
        machine.resolve_target("auto")


def test_unknown_targets_are_named():
    with pytest.raises(fact.FactError, match="^unknown machine 'h20O', maybe you meant 'h200'"):
        machine.describe_target("h20O")


def examined(what):
    return next(finding for finding in doctor.examine() if finding.what == what)


def test_doctor_says_what_auto_is(gpu, capsys):
    gpu(H200)
    assert examined("target auto").found == "h200 (sm_90a): NVIDIA H200 (compute capability 9.0)"
    assert examined("nvcc").found.endswith("(12.4)") and examined("nvcc").required
    main(["doctor"])
    out = " ".join(capsys.readouterr().out.split())
    assert "Kernels on h200 (sm_90a)" in out
    assert "gemm_epilogue sm_90a (sm90_gemm, cublas_gemm, sm80_gemm)" in out and "generic cuda" in out


def test_doctor_says_why_auto_is_not_the_gpu(gpu):
    gpu(H200, nvcc=False)
    assert examined("target auto").found.startswith("host: there is no nvcc for the GPU, h200")
    assert examined("nvcc").found is None and examined("nvcc").required
    gpu(H200, sees=False)
    assert "does not see the GPU, h200" in examined("target auto").found
    gpu(T4)
    assert "no kernels for Tesla T4" in examined("target auto").fix
    assert main(["doctor"]) == 1


def test_doctor_wants_an_nvcc_that_knows_the_gpu(gpu):
    gpu("NVIDIA GeForce RTX 5090;75=12;76=0;16=170")
    finding = examined("nvcc")
    assert finding.found is None and finding.required
    assert "does not know sm_120, only sm_80, sm_86, sm_89, sm_90" in finding.fix


def test_doctor_finds_caches_and_tools(monkeypatch, tmp_path):
    monkeypatch.setenv("FACT_OBJECTS_DIR", str(tmp_path))
    (tmp_path / "object").write_bytes(bytes(3 << 20))
    assert examined("object cache").found == f"{tmp_path} (3 MiB)"
    monkeypatch.setenv("FACT_OBJECTS_DIR", "none")
    assert examined("object cache").found is None
    (tmp_path / "bin").mkdir()
    sanitizer = tmp_path / "bin" / "compute-sanitizer"
    sanitizer.write_text("#!/bin/sh\n")
    sanitizer.chmod(0o755)
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "/nowhere")
    assert examined("compute-sanitizer").found == str(sanitizer)


def test_a_gpu_that_is_not_there(monkeypatch):
    """Said before nvcc runs for minutes."""
    def missing(name):
        raise OSError(name)

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(machine.ctypes, "CDLL", missing)
    module, inputs = torch.nn.ReLU(), (torch.ones(4),)
    if toolchain.find_nvcc():
        with pytest.raises(fact.FactError, match="'h200' needs a GPU .* no CUDA driver .*fact.bundle"):
            fact.build(module, inputs, target="h200")
    monkeypatch.setattr(toolchain, "find_nvcc", lambda: None)
    with pytest.raises(fact.FactError, match="'sm_80' needs nvcc, which is not installed"):
        fact.build(module, inputs, target="sm_80")


def test_where_a_gpu_need_not_be_here(monkeypatch, gpu):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    machine.require_gpu("host")
    machine.require_gpu("x86-64-v3")
    machine.require_gpu("h200", ["--tuner-argument=--run-launcher=srun"])
    # PyTorch may have no CUDA: the tuner has its own.
    gpu(H200, sees=False)
    monkeypatch.setattr(machine.ctypes, "CDLL", lambda name: name)
    machine.require_gpu("h200")


def test_a_host_compiler_that_is_not_there(monkeypatch):
    """Said before anything is compiled."""
    monkeypatch.setenv("FACT_HOST_COMPILER", "nowhere++")
    with pytest.raises(fact.FactError, match=r"'host' needs a C\+\+17 compiler .* no 'nowhere\+\+' on"):
        fact.build(torch.nn.ReLU(), (torch.ones(4),), target="host")
    machine.require_host_compiler("host", ["--tuner-argument=--launcher=srun"])
    machine.require_host_compiler("h200")
