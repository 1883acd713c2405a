# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The `fact` command: what it prints and its exit status, above all when things fail."""

import json
import os
import subprocess
import sys

import pytest
import torch

import fact
from fact import toolchain
from fact.__main__ import main
from fact.safetensors_file import read_safetensors, write_safetensors

GPT = "examples/workloads/mini_gpt_block.py"


@pytest.fixture(autouse=True)
def in_the_checkout(root, monkeypatch):
    monkeypatch.chdir(root)


@pytest.fixture
def no_tools(monkeypatch, tmp_path):
    monkeypatch.setattr(toolchain, "find_tool", lambda name: None)
    monkeypatch.setenv("FACT_WORK_DIR", str(tmp_path / "work"))


def fails(capsys, *arguments):
    assert main(list(arguments)) == 1
    error = capsys.readouterr().err
    assert "fact: error:" in error and "Traceback" not in error
    return error


@pytest.mark.parametrize("arguments, message", [
    (["none.py"], "no file none.py"),
    (["README.md"], "neither a file FILE.py or FILE.pt2 nor package.module:Class"),
    (["no_such_package:Model"], "cannot import no_such_package"),
    (["torch.nn:NoSuch"], "torch.nn has no class NoSuch"),
    ([GPT, "--set", "wide=3"], "has no setting wide; it has batch, heads, tokens, width"),
    ([GPT, "--set", "width"], "write NAME=VALUE"),
    ([GPT, "--size", "tiny"], "has no size 'tiny'"),
    ([GPT, "--inputs", "2x?"], "are not shapes"),
    (["torch.nn:ReLU"], "has no get_inputs"),
])
def test_wrong_workloads(capsys, arguments, message):
    assert message in fails(capsys, "export", *arguments)


def test_a_file_that_does_not_import(capsys, tmp_path):
    (tmp_path / "broken.py").write_text("1 / 0")
    assert "ZeroDivisionError" in fails(capsys, "export", str(tmp_path / "broken.py"))


def test_export_prints_text(capsys):
    pytest.importorskip("torch_mlir")
    assert main(["export", GPT, "--size", "small", "--dtype", "bf16"]) == 0
    assert "module @mini_gpt_block" in capsys.readouterr().out


def test_export_of_a_class_with_shapes(capsys):
    pytest.importorskip("torch_mlir")
    assert main(["export", "torch.nn:Tanh", "--inputs", "2x3"]) == 0
    assert "!torch.vtensor<[2,3],f32>" in capsys.readouterr().out


def test_same_weights_every_time(root):
    from fact.workload import load_workload

    one, two = (load_workload(GPT, size="small") for _ in range(2))
    for a, b in zip(one.module.state_dict().values(), two.module.state_dict().values()):
        assert torch.equal(a, b)
    assert torch.equal(one.inputs[0], two.inputs[0])


def test_compile_without_the_driver(capsys, no_tools):
    pytest.importorskip("torch_mlir")
    assert "run `make build`" in fails(capsys, "compile", GPT, "--size", "small")


def stand_in_driver(folder, script):
    """A fact-compile that does what the test wants, and describes targets as the real one does."""
    real = toolchain.find_tool("fact-compile")
    if real is None:
        pytest.skip("fact-compile is not built")
    tool = folder / "fact-compile"
    tool.write_text(f"#!{sys.executable}\nimport os, sys\nif '--describe-target' in sys.argv:\n"
                    f"    os.execv({str(real)!r}, [{str(real)!r}, *sys.argv[1:]])\n{script}\n")
    tool.chmod(0o755)


def test_a_failing_driver_can_be_repeated(monkeypatch, tmp_path):
    pytest.importorskip("torch_mlir")
    stand_in_driver(tmp_path, "print('error: unsupported op'); sys.exit(3)")
    monkeypatch.setenv("FACT_BIN_DIR", str(tmp_path))
    monkeypatch.setenv("FACT_WORK_DIR", str(tmp_path / "work"))
    with pytest.raises(fact.FactError) as caught:
        fact.compile(torch.nn.ReLU(), (torch.ones(2),), target="host")
    message = str(caught.value)
    assert "failed with status 3" in message and "unsupported op" in message
    command = message.split("reproduce it with\n")[1].splitlines()[0].split()
    assert command[0] == str(tmp_path / "fact-compile")
    # The input is where the command says.
    assert "torch.aten.relu" in open(command[1]).read()
    assert subprocess.run(command, capture_output=True).returncode == 3


def test_a_driver_that_succeeds(monkeypatch, tmp_path, fake_library):
    pytest.importorskip("torch_mlir")
    stand_in_driver(tmp_path, "import shutil\nout = sys.argv[sys.argv.index('-o') + 1]\n"
                              f"shutil.copy({str(fake_library())!r}, out)\n"
                              "assert '--target=host' in sys.argv")
    monkeypatch.setenv("FACT_BIN_DIR", str(tmp_path))
    monkeypatch.setenv("FACT_WORK_DIR", str(tmp_path / "work"))

    class Affine(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.nn.Parameter(torch.rand(4))
            self.bias = torch.nn.Parameter(torch.rand(4))

        def forward(self, x):
            return {"y": x * self.scale + self.bias}

    module, x = Affine(), torch.randn(2, 4)
    model = fact.compile(module, (x,), target="host")
    assert torch.allclose(model(x)["y"], module(x)["y"])
    assert torch.allclose(model(x=x)["y"], module(x)["y"])


def test_bundle_stops_at_the_bundle(monkeypatch, tmp_path):
    pytest.importorskip("torch_mlir")
    stand_in_driver(tmp_path, "import os\nassert '--until=bundle' in sys.argv\n"
                              "os.makedirs([a for a in sys.argv if a.startswith('--bundle=')][0][9:])")
    monkeypatch.setenv("FACT_BIN_DIR", str(tmp_path))
    monkeypatch.setenv("FACT_WORK_DIR", str(tmp_path / "work"))
    folder = fact.bundle(torch.nn.ReLU(), (torch.ones(2),), target="sm_90a",
                         output=tmp_path / "bundle")
    assert folder == tmp_path / "bundle" and folder.is_dir()


def test_a_machine_file_stays_in_the_work_folder(monkeypatch, tmp_path):
    pytest.importorskip("torch_mlir")
    stand_in_driver(tmp_path, "import os\n"
                              "os.makedirs([a for a in sys.argv if a.startswith('--bundle=')][0][9:])")
    monkeypatch.setenv("FACT_BIN_DIR", str(tmp_path))
    monkeypatch.setenv("FACT_WORK_DIR", str(tmp_path / "work"))
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "machine.json").write_text(f'{{"name": "{name}", "base": "host"}}')
        for target in (tmp_path / name / "machine.json", f"work/../{name}/machine.json"):
            fact.bundle(torch.nn.ReLU(), (torch.ones(2),), target=str(target),
                        output=tmp_path / f"{name}.bundle" / str(len(str(target))))
    # One for each machine, however it is called.
    assert len([path for path in (tmp_path / "work").iterdir() if path.is_dir()]) == 2
    assert {path.name for path in tmp_path.iterdir()} == {
        "fact-compile", "work", "one", "two", "one.bundle", "two.bundle"}
    # A file that happens to have a machine's name is no machine.
    (tmp_path / "host").write_bytes(b"\xff\xfe")
    fact.bundle(torch.nn.ReLU(), (torch.ones(2),), target="host", output=tmp_path / "three.bundle")


def test_compile_writes_a_summary(monkeypatch, tmp_path, capsys):
    pytest.importorskip("torch_mlir")
    if toolchain.find_tool("fact-compile") is None:
        pytest.skip("fact-compile is not built")
    monkeypatch.setenv("FACT_WORK_DIR", str(tmp_path / "work"))
    workload = tmp_path / "relu.py"
    workload.write_text("import torch\nModel = torch.nn.ReLU\n"
                        "def get_init_inputs():\n    return []\n"
                        "def get_inputs():\n    return [torch.ones(2)]\n")
    summary = tmp_path / "summary.json"
    for stop in ([f"--bundle-only={tmp_path / 'bundle'}"], ["--until=discover", "-o", "relu.mlir"]):
        monkeypatch.chdir(tmp_path)
        assert main(["compile", str(workload), "--target=host", f"--summary={summary}", *stop]) == 0
        assert json.loads(summary.read_text())["discovery"]["agent"] == "rules"
        assert "agent: rules, 1 subgraphs proposed" in capsys.readouterr().out
        summary.unlink()
    # As an argument of the driver it is the same.
    assert main(["compile", str(workload), "--target=host", f"--option=--summary={summary}",
                 "--until=discover", "-o", "relu.mlir"]) == 0
    assert "agent: rules" in capsys.readouterr().out and summary.exists()


def test_a_library_hides_no_module(monkeypatch, tmp_path, capsys):
    pytest.importorskip("torch_mlir")
    if toolchain.find_tool("fact-compile") is None:
        pytest.skip("fact-compile is not built")
    (tmp_path / "relu.py").write_text("import torch\nModel = torch.nn.ReLU\n"
                                      "def get_init_inputs():\n    return []\n"
                                      "def get_inputs():\n    return [torch.ones(2)]\n")
    (tmp_path / "elsewhere").mkdir()
    arguments = ["--target=host", "--candidates=1", "--no-report"]
    for folder, name in ((tmp_path, "librelu.so"), (tmp_path / "elsewhere", "relu.so")):
        monkeypatch.chdir(folder)
        assert main(["compile", str(tmp_path / "relu.py"), *arguments]) == 0
        assert (folder / name).exists() and name in capsys.readouterr().out
    assert not (tmp_path / "relu.so").exists()


@pytest.mark.parametrize("module", ["model.pt2", torch.relu, torch.nn.ReLU])
def test_only_modules_are_compiled(module):
    with pytest.raises(fact.FactError, match="is not a torch.nn.Module or the result of torch.export.export"):
        fact.compile(module, (torch.ones(2),), target="host")


def test_an_empty_target_is_no_target():
    with pytest.raises(fact.FactError, match="target is empty: name a machine"):
        fact.compile(torch.nn.ReLU(), (torch.ones(2),), target="")


def test_work_folder_that_cannot_be_made(monkeypatch, tmp_path):
    pytest.importorskip("torch_mlir")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FACT_WORK_DIR", str(tmp_path / "file" / "work"))
    with pytest.raises(fact.FactError, match="set FACT_WORK_DIR"):
        fact.compile(torch.nn.ReLU(), (torch.ones(2),), target="host")


def test_run(capsys, tmp_path, fake_library):
    weights = {"scale": torch.full((4,), 2.0), "bias": torch.ones(4)}
    write_safetensors(tmp_path / "w", weights)
    write_safetensors(tmp_path / "x", {"x": torch.ones(2, 4)})
    assert main(["run", str(fake_library()), "--weights", str(tmp_path / "w"),
                 "--inputs", str(tmp_path / "x"), "--output", str(tmp_path / "y")]) == 0
    assert torch.equal(read_safetensors(tmp_path / "y")["y"], torch.full((2, 4), 3.0))
    assert "2x4" in capsys.readouterr().out


def test_run_with_what_is_wrong(capsys, tmp_path, fake_library):
    library = str(fake_library())
    write_safetensors(tmp_path / "x", {"z": torch.ones(2, 4)})
    write_safetensors(tmp_path / "w", {"scale": torch.ones(4), "bias": torch.ones(4)})
    assert fails(capsys, "run", library) == (
        "fact: error: fake has 2 weights (scale, bias): give them with --weights FILE, which "
        "`fact compile --save-weights FILE` writes\n")
    assert "cannot read" in fails(capsys, "run", library, "--weights", "none.safetensors")
    assert "no library at" in fails(capsys, "run", "none.so")
    assert "no input 'x' in the file" in fails(
        capsys, "run", library, "--weights", str(tmp_path / "w"), "--inputs", str(tmp_path / "x"))


def test_bench_without_a_gpu(capsys, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert "fact: error: --device=cuda needs a GPU, and this PyTorch, " in fails(
        capsys, "bench", "none.py", "--device", "cuda")


def test_bench_with_a_library(capsys, tmp_path, fake_library):
    source = tmp_path / "affine.py"
    source.write_text(
        "import torch\n"
        "class Model(torch.nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.scale = torch.nn.Parameter(torch.rand(4))\n"
        "        self.bias = torch.nn.Parameter(torch.rand(4))\n"
        "    def forward(self, x): return x * self.scale + self.bias\n"
        "def get_inputs(rows=2): return [torch.randn(rows, 4)]\n")
    assert main(["bench", str(source), "--library", str(fake_library()), "--compare", "eager",
                 "--device", "cpu", "--rounds", "2", "--json", str(tmp_path / "b.json")]) == 0
    figures = json.loads((tmp_path / "b.json").read_text())["variants"]
    assert figures.keys() == {"eager", "fact"}
    assert figures["fact"]["error"]["norm"] < 1e-6 and figures["fact"]["median_ms"] > 0
    out = capsys.readouterr().out
    assert "speedup over eager" in out and "GPU ms" not in out and "host us" not in out
    error = fails(capsys, "bench", str(source), "--library", str(fake_library()), "--compare", "eager",
                  "--device", "cpu", "--rounds", "1", "--set", "rows=3")
    assert error.endswith("Without --library, FACT compiles the module for the sizes of --set\n"), error
    assert "cannot use graphs: compile the model again" in fails(
        capsys, "bench", str(source), "--library", str(fake_library()), "--compare", "", "--device",
        "cpu", "--rounds", "1", "--no-error", "--graphs", "on")


def test_bench_of_unknown_variants(capsys):
    assert "unknown variant quick" in fails(capsys, "bench", GPT, "--compare", "quick")


def test_bench_with_no_threads(capsys):
    assert "--threads must be at least 1" in fails(capsys, "bench", GPT, "--threads", "0")


def test_threads_reach_the_blas_of_pytorch(tmp_path):
    """It reads the environment when it is loaded, so the command starts over with it."""
    source = tmp_path / "seen.py"
    source.write_text("import os\nraise SystemExit('threads: ' + os.environ['OMP_NUM_THREADS'])\n")
    process = subprocess.run([sys.executable, "-m", "fact", "bench", str(source), "--threads", "3"],
                             env={**os.environ, "OMP_NUM_THREADS": "2"}, capture_output=True,
                             text=True, timeout=120)
    assert "threads: 3" in process.stderr


def test_bench_doubts_unsteady_times():
    from fact.bench import Measurement, doubts

    steady = Measurement("fact", rounds=10 * [[1.0, 1.1]])
    unsteady = Measurement("eager", rounds=5 * [[1.7, 1.8], [22.0, 13.0]])
    failed = Measurement("compile", failure="no compiler")
    assert doubts({"fact": steady, "compile": failed}) == ""
    assert doubts({"eager": unsteady, "fact": steady}).startswith("the times of eager vary too much")
    # Each has a steady median, and their rounds do not agree.
    sometimes = Measurement("eager", rounds=[*(12 * [[2.0]]), *(8 * [[90.0]])])
    others = Measurement("fact", rounds=[*(8 * [[60.0]]), *(12 * [[1.0]])])
    assert sometimes.interval[1] < 91 and doubts({"eager": sometimes, "fact": others})


def test_the_speedup_lies_in_its_interval():
    """Also where another process disturbs the first rounds of one and the last ones of the other."""
    from fact.bench import Measurement

    eager = Measurement("eager", rounds=[*(11 * [[2.0]]), *(9 * [[90.0]])])
    ours = Measurement("fact", rounds=[*(9 * [[60.0]]), *(11 * [[1.0]])])
    ratio, low, high = ours.speedup(eager)
    assert low <= ratio <= high
    assert Measurement("fact", rounds=[[1.0], [2.0], [4.0]]).speedup(
        Measurement("eager", rounds=[[2.0], [6.0], [4.0]]))[0] == 2.0


def test_bench_names_what_failed():
    from fact.bench import COLUMNS, Measurement, failures, rows

    found = {"eager": Measurement("eager", rounds=[[2.0]]), "fact": Measurement("fact", failure="no\nreason")}
    assert failures(found) == ["fact failed: no"]
    assert [len(row) for row in rows(found)] == 2 * [len(COLUMNS)]
    assert rows(found)[1][:3] == ["fact", "failed", ""]


def test_bench_shows_kernels():
    from fact.bench import kernel_rows

    rows = kernel_rows([{"name": "gemm_0", "us": 10.0, "flops": 2e5, "bytes": 1e4,
                         "schedule": "host_gemm<...>"},
                        {"name": "rowwise_1", "us": 30.0, "schedule": "host_rows<...>"}])
    assert rows[0] == ["gemm_0", "10.0", "25.0%", "20.0", "1.0", "host_gemm<...>"]
    assert rows[1][3] == "0.0" and rows[2][:3] == ["all", "40.0", "100.0%"]


def test_bench_without_the_driver_fails_with_the_reason(capsys, no_tools):
    pytest.importorskip("torch_mlir")
    error = fails(capsys, "bench", GPT, "--size", "small", "--compare", "eager", "--device", "cpu",
                  "--rounds", "1")
    assert "FACT was not measured" in error and "make build" in error


def test_doctor_names_what_is_missing(capsys, no_tools):
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "missing" in out and "Next step: make build" in out


def test_doctor_runs_the_tools(capsys, monkeypatch, tmp_path):
    stand_in_driver(tmp_path, "print('cannot open libMLIR.so', file=sys.stderr); sys.exit(127)")
    monkeypatch.setenv("FACT_BIN_DIR", str(tmp_path))
    assert main(["doctor"]) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert "does not run: cannot open libMLIR.so" in out


def test_doctor_wants_a_work_folder(monkeypatch, tmp_path):
    from fact import doctor

    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FACT_WORK_DIR", str(tmp_path / "file" / "work"))
    finding = next(f for f in doctor.examine() if f.what == "work folder")
    assert finding.found is None and "FACT_WORK_DIR" in finding.fix


def test_info(capsys, fake_library):
    assert main(["info", str(fake_library())]) == 0
    out = capsys.readouterr().out
    assert "scale" in out and "2x4" in out and "workspace" in out
    assert main(["info", str(fake_library()), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "fake"


def test_compile_until_a_stage(capsys, tmp_path, monkeypatch):
    pytest.importorskip("torch_mlir")
    stand_in_driver(tmp_path, "assert '--until=raise' in sys.argv\n"
                              "open(sys.argv[sys.argv.index('-o') + 1], 'w').write('text')")
    monkeypatch.setenv("FACT_BIN_DIR", str(tmp_path))
    monkeypatch.setenv("FACT_WORK_DIR", str(tmp_path / "work"))
    # A size that no memory holds: the meta device has shapes alone.
    assert main(["compile", GPT, "--device", "meta", "--set", "width=196608", "--until", "raise",
                 "-o", str(tmp_path / "raised.mlir")]) == 0
    assert (tmp_path / "raised.mlir").read_text() == "text"
    out = capsys.readouterr().out
    assert "torch.export" in out and "fact-compile" in out
    assert "needs data" in fails(capsys, "compile", GPT, "--device", "meta", "--save-weights", "w")


def test_demo_tables(capsys):
    from fact import demo

    summary = {"ops": {"imported": 40, "raised": 21, "kernels": 7}, "stages": {"raise": 0.25},
               "kernels": [{"name": "norm_0", "rule": "rowwise", "ops": ["norm"], "steps": 2}]}
    tuning = {"kernels": [{"name": "norm_0", "tried": 4, "failures": {"wrong": 1}, "us": 12.5,
                           "strategy": {"kind": "adapt", "entry": "rowwise/f32/host#0"},
                           "schedule": "host_row<rows = 4>"}]}
    demo._show_ops(summary)
    demo._show_kernels(summary, tuning, {})
    demo._show_stages(summary, 3.0)
    out = capsys.readouterr().out
    for text in ("7 kernels", "rowwise", "adapt", "host_row<rows = 4>", "1 wrong", "12.5", "0.25"):
        assert text in out
    # Nothing there is nothing shown.
    demo._show_ops({})
    demo._show_kernels({}, {}, {})
    assert capsys.readouterr().out == ""


def test_the_command_as_a_process(root):
    environment = {**os.environ, "PYTHONPATH": str(root / "python")}
    done = subprocess.run([sys.executable, "-m", "fact"], capture_output=True, text=True,
                          env=environment)
    assert done.returncode == 2 and "usage: fact" in done.stderr
