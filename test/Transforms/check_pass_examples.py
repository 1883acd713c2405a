# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the examples of a Passes.td: what follows "becomes" has to be what the pass makes, and what
follows "gets" has to be a part of it.

    check_pass_examples.py FACT-OPT Passes.td PASS[=FILE] ...

An example is a module or a fragment. Names that a fragment does not define become arguments
of a function, with the types of their first use; what it defines and does not use is
returned. Both texts of an example that is too long to be shown whole have `...` in place of lines
and words, and FILE has the text before the pass.
"""

import re
import subprocess
import sys

OP = re.compile(r"^\s*(?:(%[\w, %]+) = )?(.*?) : (.*)$")


def wrap(text):
    """The fragment as a function; a module as it is."""
    if re.match(r"\s*(func\.func|program\.|fact\.weight|module)", text):
        return text
    types, defined, used, results = {}, [], set(), {}
    for line in text.strip().splitlines():
        results_of, op, signature = OP.match(line).groups()
        operands = re.findall(r"%\w+", op)
        inputs, _, output = signature.rpartition(" -> ")
        given = re.findall(r"tensor<[^>]*>", inputs) or [signature] * len(operands)
        for name, type in zip(operands, given):
            if name not in defined:
                types.setdefault(name, type)
            used.add(name)
        defined.append(results_of)
        results[results_of] = output
    returned = [name for name in defined if name not in used]
    arguments = ", ".join(f"{name}: {types[name]}" for name in sorted(types))
    return (f"func.func @example({arguments}) -> ({', '.join(results[n] for n in returned)}) {{\n"
            f"{text}\n  return {', '.join(returned)} : "
            f"{', '.join(results[n] for n in returned)}\n}}\n")


def run(tool, text, *options):
    done = subprocess.run([tool, *options], input=text, text=True, capture_output=True)
    if done.returncode:
        sys.exit(f"{done.stderr}\nin\n{text}")
    return done.stdout


def with_constants_first(tool, text):
    """Constants lie wherever a rewrite has left them."""
    constant = re.compile(r"^    %\w+ = fact\.constant .*\n", re.MULTILINE)
    constants = "".join(constant.findall(text))
    return run(tool, re.sub(r"^  func\.func .*\{\n", lambda line: line[0] + constants,
                            constant.sub("", text), count=1, flags=re.MULTILINE))


def require_shown(shown, text):
    """Every line of what is shown is in the text, in order and without gaps but at `...`."""
    dots = re.escape("...")
    lines = [r"(?:.*\n)*?.*" if line.strip() == "..." else re.escape(line.strip()).replace(dots, ".*")
             for line in shown.strip().splitlines()]
    stripped = "\n".join(line.strip() for line in text.splitlines())
    if not re.search("^" + "\n".join(lines) + "$", stripped, re.MULTILINE):
        sys.exit(f"the text says\n{shown}\nof what is\n{text}")


def check_abbreviated(tool, name, file, before, after):
    text = open(file).read()
    require_shown(before, run(tool, text, "--cse"))
    require_shown(after, run(tool, text, f"--{name}", "--cse"))


def main(tool, path, *passes):
    text = open(path).read()
    for name in passes:
        name, _, file = name.partition("=")
        body = re.search(rf'Pass<"{name}".*?^}}$', text, re.MULTILINE | re.DOTALL).group(0)
        examples = re.findall(
            r"```mlir\n(.*?)```\s*(becomes|gets[^`]*)\s*```mlir\n(.*?)```", body, re.DOTALL)
        if not examples:
            sys.exit(f"--{name} has no example")
        for before, verb, after in examples:
            if file:
                check_abbreviated(tool, name, file, before, after)
                continue
            if verb != "becomes":
                require_shown(after, run(tool, wrap(before), f"--{name}"))
                continue
            # What is left without a use goes, and names are made the same.
            found = with_constants_first(tool, run(tool, wrap(before), f"--{name}", "--cse"))
            wanted = with_constants_first(tool, run(tool, wrap(after), "--cse"))
            if found != wanted:
                sys.exit(f"--{name} makes\n{found}\nof\n{before}\nwhere the text says\n{wanted}")


if __name__ == "__main__":
    main(*sys.argv[1:])
