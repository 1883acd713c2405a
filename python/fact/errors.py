# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The exception type that FACT raises for errors that a user can fix."""


class FactError(RuntimeError):
    """A message that says what went wrong and what to do next."""


def printable(text: str) -> str:
    """Escapes control characters for a terminal: names and files are untrusted."""
    return "".join(
        character if character in "\n\t" or character.isprintable()
        else character.encode("unicode_escape", "surrogatepass").decode()
        for character in text
    )
