# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parses and verifies the examples in the ops' documentation.

    check_examples.py FACT-OPT FILE.td ...
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "Transforms"))
from check_pass_examples import run, wrap

tool, *definitions = sys.argv[1:]
examples = [example for file in definitions
            for example in re.findall(r"```mlir\n(.*?)```", pathlib.Path(file).read_text(), re.S)]
for example in examples:
    run(tool, wrap(example.rstrip()))
print(f"{len(examples)} examples")
