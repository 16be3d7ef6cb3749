"""Tables in TOML, which lie beside the modules that read them."""

from __future__ import annotations

import os
import sys
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def load_toml(module: str, name: str) -> dict[str, Any]:
    """Return the TOML file of a name in the folder of a module, which gives its `__file__`."""
    with open(os.path.join(os.path.dirname(module), name), 'rb') as file:
        table: dict[str, Any] = tomllib.load(file)
    return table
