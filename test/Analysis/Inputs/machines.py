# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gives fact-translate one machine after the other, and prints what it says."""
import json
import subprocess

CASES = {
    "none of these": {"multiprocessors": 0},
    "fewer than none": {"multiprocessors": -3},
    "a half": {"multiprocessors": 3.5},
    "a figure in words": {"bandwidth": "fast"},
    "no bandwidth": {"bandwidth": 0},
    "endless": '{"name": "x", "base": "h200", "bandwidth": 1e999}',
    "not a number": '{"name": "x", "base": "h200", "bandwidth": NaN}',
    "negative memory": {"shared_memory_bytes": -1},
    "a base that is a number": {"base": 5},
    "an unknown base": {"base": "h2000"},
    "an architecture that is a number": {"architecture": 7},
    "an unknown architecture": {"architecture": "avx512"},
    "no name": '{"base": "h200"}',
    "a name that is a list": {"name": []},
    "an empty name": {"name": ""},
    "an unknown figure": {"cores": 8},
    "a missing figure": '{"name": "x", "architecture": "sm_90a"}',
    "a deep list": '{"name": ' + "[" * 2000000,
    "a name with brackets": {"name": "[" * 20 + "\\\"" + "[" * 20, "cores": 8},
    "right": {"multiprocessors": 114},
    "a processor": {"base": "host", "architecture": "znver4"},
}

for name, case in CASES.items():
    with open("m.json", "w") as file:
        file.write(case if isinstance(case, str)
                   else json.dumps({"name": "x", "base": "h200", **case}))
    run = subprocess.run(["fact-translate", "--fact-to-sol", "--sol-target=m.json", "empty.mlir"],
                         capture_output=True, text=True, timeout=60)
    output = run.stderr.split("error: ", 1)[-1] if run.returncode == 1 else run.stdout
    print(f"{name}: {output.splitlines()[0]}")
