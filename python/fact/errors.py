"""The one exception type that FACT raises for what a user can mend."""


class FactError(RuntimeError):
    """A message that says what went wrong and what to do next."""
