"""The tables of patterns beside this file, compiled at first use."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.questions import numbers
from robot_memory.text.toml_tables import load_toml

_NUMBERS = {'number': numbers.ENGLISH, 'count': numbers.COUNT, 'han_number': numbers.HAN}
_PLACE = compile_pattern(r'\{([a-z_]+)\}')


@cache
def load_table(name: str) -> dict[str, Any]:
    """Return a table, of times.toml for 'times'."""
    return load_toml(__file__, f'{name}.toml')


def expand(pattern: str, table: dict[str, Any]) -> str:
    """Return a pattern with the fragments of its table and the numbers put in for {name}."""
    fragments = _NUMBERS | table.get('fragments', {})
    while (expanded := _PLACE.sub(_put_in(fragments), pattern)) != pattern:
        pattern = expanded
    return pattern


def _put_in(fragments: dict[str, str]) -> Callable[[re.Match[str]], str]:
    def put(match: re.Match[str]) -> str:
        return f'(?:{fragments[match[1]]})' if match[1] in fragments else match[0]

    return put


@cache
def load_pattern(table: str, section: str, name: str) -> re.Pattern[str]:
    """Return a pattern of a section of a table, compiled."""
    loaded = load_table(table)
    return compile_pattern(expand(loaded[section][name], loaded))


@cache
def find_words(table: str, section: str, name: str) -> frozenset[str]:
    """Return the words that are listed in a section of a table."""
    return frozenset(load_table(table)[section][name].split())
