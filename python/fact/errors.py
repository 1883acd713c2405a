# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The one exception type that FACT raises for what a user can mend."""


class FactError(RuntimeError):
    """A message that says what went wrong and what to do next."""


def printable(text: str) -> str:
    """Text for a terminal: names and files are anybody's, and may hold control characters."""
    return "".join(
        character if character in "\n\t" or character.isprintable()
        else character.encode("unicode_escape", "surrogatepass").decode()
        for character in text
    )
