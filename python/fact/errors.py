# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The exception type that FACT raises for errors that a user can fix, and its warnings."""


import re


class FactError(RuntimeError):
    """A message that says what went wrong and what to do next."""


class FactWarning(UserWarning):
    """A library that is right, but not what was intended."""


class CompilerError(FactError):
    """`fact-compile` failed; `errors` are the places and texts of its errors, first ones first."""

    def __init__(self, message: str, output: str):
        super().__init__(message)
        self.errors: list[tuple[str, int, str]] = [
            (file, int(line), text) for file, line, text in _ERROR.findall(output)]


_ERROR = re.compile(r"^(.+?):(\d+):\d+: error: (.*)$", re.MULTILINE)


def printable(text: str) -> str:
    """Escapes control characters for a terminal: names and files are untrusted."""
    return "".join(
        character if character in "\n\t" or character.isprintable()
        else character.encode("unicode_escape", "surrogatepass").decode()
        for character in text
    )
