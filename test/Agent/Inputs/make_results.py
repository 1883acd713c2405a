# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes results of a bundle as fact-tune does:

    make_results.py BUNDLE OUTPUT [KERNEL:]KEY=SHARE|STATUS...

with times as multiples of the speed of light.
"""
import json
import sys
from pathlib import Path

bundle, output, *outcomes = sys.argv[1:]
description = json.loads((Path(bundle) / "bundle.json").read_text())
kernels = []
for kernel in description["kernels"]:
    attempts = []
    for number, outcome in enumerate(outcomes):
        key, _, value = outcome.rpartition("=")
        name, _, key = key.rpartition(":")
        if name not in ("", kernel["name"]):
            continue
        if key.split("<")[0] != kernel["candidates"][0]["key"].split("<")[0]:
            continue
        attempt = {"candidate": number, "schedule": key.strip(), "status": value}
        if value[0].isdigit():
            share = float(value)
            attempt.update(status="ok", us=kernel["sol_us"] * share, norm_error=1e-7)
        attempts.append(attempt)
    kernels.append({"name": kernel["name"], "rule": kernel["rule"], "candidate": 0,
                    "sol_us": kernel["sol_us"], "norm_error": 1e-7, "attempts": attempts})
Path(output).write_text(json.dumps({
    "format": 1, "name": description["name"], "target": description["target"],
    "versions": description["versions"], "machine": "a machine", "compiler": "a compiler",
    "date": "2026-11-15", "kernels": kernels}))
