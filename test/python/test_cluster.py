# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/cluster.md against a Slurm of one node: its commands, as they are, and jobs that must end."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

import fact
import slurm
from fact import toolchain
from fact.workload import load_workload

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def cluster():
    if missing := slurm.missing():
        if os.environ.get("FACT_REQUIRE_COMPILER"):
            raise FileNotFoundError(f"{', '.join(missing)}: run scripts/setup.sh --full")
        pytest.skip(f"needs {', '.join(missing)}")
    # Not in pytest's folder: the path of a socket is short.
    with tempfile.TemporaryDirectory() as folder, slurm.Slurm(Path(folder)) as found:
        yield found


@pytest.fixture(scope="module")
def place(root, cluster, tmp_path_factory):
    """A folder with a model, and the environment of a user's shell in it."""
    folder = tmp_path_factory.mktemp("cluster")
    workload = root / "examples" / "workloads" / "linear_chain.py"
    text = workload.read_text().replace("WIDTH, ROWS = 4096, 4096", "WIDTH, ROWS = 64, 48")
    assert text != workload.read_text()
    (folder / "model.py").write_text(text)
    programs = folder / "programs"
    programs.mkdir()
    (programs / "fact").write_text(f'#!/bin/sh\nexec {sys.executable} -m fact "$@"\n')
    (programs / "fact").chmod(0o755)
    tune = toolchain.require_tool("fact-tune")
    environment = {
        **toolchain.environment(), "SLURM_CONF": cluster.environment["SLURM_CONF"],
        "PATH": f"{programs}:{Path(tune).parent}:{os.environ['PATH']}", "TARGET": "host",
        "FACT_WORK_DIR": str(folder / "work"), "FACT_CACHE_DIR": str(folder / "cache"),
    }
    return folder, environment


def commands(root: Path, heading: str) -> str:
    """The commands of one section of the page."""
    section = (root / "docs" / "cluster.md").read_text().partition(f"## {heading}\n")[2]
    block = re.search(r"```sh\n(.*?)```", section.partition("\n## ")[0], re.S)
    assert block, heading
    return block.group(1)


def run(script: str, place) -> str:
    folder, environment = place
    process = subprocess.run(["bash", "-euc", script], cwd=folder, env=environment, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=900)
    assert process.returncode == 0, process.stdout
    return process.stdout


def check_library(folder: Path) -> None:
    workload = load_workload(str(folder / "model.py"))
    model = fact.load(folder / "model.so").create(dict(workload.module.named_parameters()))
    found, expected = model(*workload.inputs), workload.module(*workload.inputs)
    # Both round f32, in different orders of a sum of 64.
    assert (found - expected).abs().max() < 64 * 2 ** -23 * expected.abs().max()


def finished(cluster, partition: str) -> int:
    """How many jobs of a partition have run: the controller remembers them for minutes."""
    return len(cluster.run("squeue", "--noheader", "--states=all", "--format=%i",
                           f"--partition={partition}").split())


def test_from_a_login_node(root, cluster, place):
    folder, _ = place
    run(commands(root, "From a login node"), place)
    check_library(folder)
    tuned = json.loads((folder / "bundle" / "tuning.json").read_text())
    attempts = [each for kernel in tuned["kernels"] for each in kernel["attempts"]]
    assert attempts and all(each["status"] == "ok" for each in attempts)
    assert finished(cluster, "compilers") >= tuned["objects"]["compiled"] - 1
    assert finished(cluster, "gpus") > len(attempts)
    assert not cluster.jobs()


def test_as_batch_jobs(root, cluster, place):
    folder, _ = place
    run("rm -rf objects bundle/tuning.* bundle/build model.so", place)
    run(commands(root, "As batch jobs"), place)
    check_library(folder)
    compiled, again = (int(re.findall(r"^objects +(\d+) compiled", (folder / name).read_text(), re.M)[0])
                       for name in ("compile.log", "tune.log"))
    # The library's own source, which the winners decide, is never kept.
    assert compiled > 10 and again == 1
    assert not cluster.jobs()


@pytest.mark.parametrize("launcher", ("--launcher", "--run-launcher"))
@pytest.mark.parametrize("end", ("SIGINT", "SIGKILL"))
def test_no_job_outlives_the_tuner(cluster, place, launcher, end):
    """One job runs, others wait for its GPU; none is left."""
    folder, environment = place
    (folder / "slow").write_text("#!/bin/sh\nsleep 600\n")
    (folder / "slow").chmod(0o755)
    if launcher == "--launcher":
        run("rm -rf bundle/build", place)
    tuner = subprocess.Popen(
        ["fact-tune", "bundle", "--retune", "--objects", "none", "--jobs", "3", launcher,
         "srun --quiet --gpus=1 ./slow"], cwd=folder, env=environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: any("RUNNING" in job for job in cluster.jobs()), 300)
        if launcher == "--launcher":
            wait_until(lambda: any("PENDING" in job for job in cluster.jobs()), 30)
        tuner.send_signal(getattr(signal, end))
        tuner.wait(timeout=60)
        wait_until(lambda: not cluster.jobs(), 60)
    finally:
        tuner.kill()
        tuner.wait()


def test_no_job_outlives_its_timeout(cluster, place):
    folder, environment = place
    (folder / "stuck").write_text("#!/bin/sh\ncase \"$*\" in *.job*) sleep 600;; esac\nexec \"$@\"\n")
    (folder / "stuck").chmod(0o755)
    process = subprocess.run(
        ["fact-tune", "bundle", "--retune", "--objects", "objects", "--candidates", "1",
         "--run-timeout", "3", "--run-launcher", "srun --quiet --gpus=1 ./stuck"], cwd=folder,
        env=environment, capture_output=True, text=True, timeout=600)
    assert process.returncode == 1 and "timed out after 3 s" in process.stdout + process.stderr
    assert not cluster.jobs()


def wait_until(condition, seconds: float) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "too late"
        time.sleep(0.2)
