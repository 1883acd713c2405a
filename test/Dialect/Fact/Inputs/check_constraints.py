# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether each numbered constraint of the ops' documentation has a test that violates it.

    check_constraints.py DIALECT ERRORS.mlir FILE.td ...
"""

import pathlib
import re
import sys


def documented(text):
    """(op, number) of each constraint."""
    for definition in re.split(r"^def ", text, flags=re.M)[1:]:
        op = re.match(r'\w+_\w+Op\s*:\s*\w+<\s*"(\w+)"', definition)
        if op:
            for number in re.findall(r"^\s*- \(C(\d+)\)", definition, flags=re.M):
                yield op[1], int(number)


def tested(text):
    """(op, number) of each expected error, by the op on the line that it is about."""
    for number, line in re.findall(r"expected-error @\+1 \{\{.*?\(C(\d+)\).*\n(.*)", text):
        op = re.search(rf'"?{dialect}\.(\w+)', line)
        yield op[1], int(number)


dialect, errors, *definitions = sys.argv[1:]
wanted = {each for file in definitions for each in documented(pathlib.Path(file).read_text())}
found = set(tested(pathlib.Path(errors).read_text()))
for op, number in sorted(wanted - found):
    print(f"{dialect}.{op}: no test violates (C{number})")
for op, number in sorted(found - wanted):
    print(f"{dialect}.{op}: the documentation has no (C{number})")
print(f"{len(wanted)} constraints, {len(wanted & found)} with a test")
sys.exit(wanted != found)
