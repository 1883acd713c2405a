# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes `torch.compile(backend="fact")` known once `fact` is imported.

An installed package has an entry point for this. From a checkout the same entry is put
into Dynamo's table; where Dynamo is not loaded yet, as soon as it is, because loading it
takes longer than all of this package.
"""

from __future__ import annotations

import importlib.util
import sys
from importlib.metadata import EntryPoint

_REGISTRY = "torch._dynamo.backends.registry"
_ENTRY = EntryPoint(name="fact", value="fact.dynamo:backend", group="torch_dynamo_backends")


def register_backend() -> None:
    if _REGISTRY in sys.modules:
        _add_entry(sys.modules[_REGISTRY])
    else:
        sys.meta_path.insert(0, _RegistryFinder())


def _add_entry(registry) -> None:
    registry._BACKENDS.setdefault("fact", _ENTRY)


class _RegistryFinder:
    """Finds Dynamo's registry as others would, and adds to it when it is loaded."""

    def find_spec(self, name, path=None, target=None):
        if name != _REGISTRY:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def execute_and_add(module):
            execute(module)
            _add_entry(module)

        spec.loader.exec_module = execute_and_add  # type: ignore[method-assign]
        return spec
