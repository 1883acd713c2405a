# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parses and verifies the examples in the ops' and attributes' documentation.

    check_examples.py FACT-OPT FILE.td[=MODULES.mlir] ...

Examples of ops on tensors are made functions. Others need what surrounds them: MODULES.mlir has
their text in valid modules. An example in JSON describes a machine.
"""

import json
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "Transforms"))
from check_pass_examples import run, wrap


def words(text):
    return " ".join(text.split())


def check(tool, file, modules):
    """The number of examples in a file."""
    text = pathlib.Path(file).read_text()
    examples = re.findall(r"```mlir\n(.*?)```", text, re.S)
    surrounding = pathlib.Path(modules).read_text() if modules else ""
    if surrounding:
        run(tool, surrounding, "--split-input-file")
    for example in examples:
        if not surrounding:
            run(tool, wrap(example.rstrip()))
        elif words(example) not in words(surrounding):
            sys.exit(f"not in {modules}:\n{example}")
    machines = re.findall(r"```json\n(.*?)```", text, re.S)
    for machine in machines:
        with tempfile.NamedTemporaryFile("w", suffix=".json") as described:
            json.dump(json.loads(machine), described)
            described.flush()
            run(tool, "module {}", f"--fact-annotate-sol=target={described.name}")
    return len(examples) + len(machines)


if __name__ == "__main__":
    tool, *files = sys.argv[1:]
    print(sum(check(tool, file, modules) for file, _, modules in (each.partition("=") for each in files)),
          "examples")
