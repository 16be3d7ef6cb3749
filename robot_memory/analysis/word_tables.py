"""The tables of words that the analyses read by."""

from __future__ import annotations

from functools import cache
from typing import Any

from robot_memory.text.toml_tables import load_toml


@cache
def load_table(name: str) -> dict[str, Any]:
    """Return what stands in a .toml file of this folder."""
    return load_toml(__file__, f'{name}.toml')
