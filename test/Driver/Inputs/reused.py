# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""reused.py REPORT: of each kernel in a tuning.json, what was tried and what was known."""

import json
import sys

with open(sys.argv[1]) as file:
    for kernel in json.load(file)["kernels"]:
        print(f"{kernel['name']}: {kernel['tried']} tried, {kernel['reused']} known")
