# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What kernels are timed under on an emulated GPU: pauses, clocks and power."""

import json
import subprocess

import pytest
import torch
from torch import nn

from emulated import NEEDED, tune, write_bundle

# Every timed launch flushes the cache, which takes seconds on a CPU.
pytestmark = [*NEEDED, pytest.mark.full]

# The driver's management library, of a device at 1755 MHz and 612.5 W.
MANAGEMENT = r"""
#include <string.h>
struct Field { unsigned id, scope; long long timestamp, latency; int type, status; unsigned value; };
int nvmlInit_v2(void) { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char *address, void **device) {
  *device = (void *)address;
  return strcmp(address, "00000000:01:00.0") != 0;
}
int nvmlDeviceGetClockInfo(void *device, int domain, unsigned *megahertz) {
  *megahertz = domain == 1 ? 1755 : 0;
  return 0;
}
int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts) { *milliwatts = 500000; return 0; }
int nvmlDeviceGetFieldValues(void *device, int count, struct Field *field) {
  field->status = field->id != 186;
  field->value = 612500;
  return 0;
}
"""


@pytest.fixture
def management(tmp_path, monkeypatch):
    (tmp_path / "nvml.c").write_text(MANAGEMENT)
    subprocess.run(["clang-22", "-shared", "-fPIC", "-w", tmp_path / "nvml.c", "-o",
                    tmp_path / "libnvidia-ml.so.1"], check=True)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))


def timed(root, folder, *options):
    process = tune(root, folder, ("--candidates", "1", "--no-check", *options))
    assert process.returncode == 0, process.stdout[-3000:] + process.stderr[-3000:]
    [kernel] = json.loads((folder / "bundle" / "tuning.json").read_text())["kernels"]
    return kernel, process.stdout


def test_clocks_and_power_are_recorded(root, tmp_path, management):
    # A large and a small one: an emulated launch of the former takes milliseconds.
    for elements, regimes in ((1 << 17, ("paced", "sustained")), (32, (None,))):
        folder = tmp_path / str(elements)
        folder.mkdir()
        write_bundle(folder, nn.ReLU(), [torch.randn(elements // 8, 8)], "a100")
        for regime in regimes:
            kernel, said = timed(root, folder, *(["--regime", regime] if regime else []))
            assert kernel.get("regime") == regime, kernel
            assert kernel["mhz"] == 1755 and kernel["watts"] == 612.5
            # Not taken from the other regime's.
            assert kernel["reused"] == 0
            ending = f"; over 1 ms: {regime}" if regime else ""
            assert f"timed at 1755 MHz, 612 W{ending}\n" in said, said


def test_what_is_unknown_is_left_out(root, tmp_path):
    write_bundle(tmp_path, nn.ReLU(), [torch.randn(4, 8)], "a100")
    kernel, said = timed(root, tmp_path)
    assert not {"mhz", "watts", "regime"} & set(kernel) and "timed" not in said
