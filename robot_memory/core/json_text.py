"""Plain values and JSON text: what may be kept, and how a value is shown in a message."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from typing import Any

from robot_memory.core.errors import InvalidArgument

MAX_JSON_CHARACTERS = 16_000_000
MAX_JSON_DEPTH = 100
MAX_INTEGER = 2**53 - 1
"""The highest id and count: what every reader of JSON takes for the same number."""
_ENCODER = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(',', ':'), sort_keys=True
)
_TEXTS = json.JSONEncoder(ensure_ascii=False)
_ASCII = json.JSONEncoder(separators=(',', ':'))
_NOT_FINITE = 'it has NaN or an infinite number; pass finite numbers'
_NUL = '\\u0000'
_ESCAPED_NUL = re.compile(r'(?<!\\)(?:\\\\)*\\u0000')


def is_storable(text: str) -> bool:
    """Say whether a text is valid Unicode without NUL, as SQLite and DDS need it."""
    if '\0' in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def parse_json(name: str, text: str, limit: int = MAX_JSON_CHARACTERS) -> Any:
    """Read JSON text strictly: no NaN, no Infinity, bounded size and depth."""
    if len(text) > limit:
        raise InvalidArgument(f'{name} has {len(text)} characters of JSON; the limit is {limit}')
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(
            f'{name} is not valid JSON ({error}): {format_value(text)}'
        ) from None


def _refuse_constant(constant: str) -> None:
    raise ValueError(f'{constant} is not a JSON number')


def dump_json(value: Any, name: str = 'value') -> str:
    """
    Write a value as compact JSON text, keys sorted, so that equal objects have equal texts.

    Raise InvalidArgument that says why it has none.
    """
    try:
        text = _ENCODER.encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        why = _NOT_FINITE if 'Out of range float' in str(error) else error
        raise InvalidArgument(f'{name} cannot be stored as JSON: {why}') from None
    # Levels are opened by brackets: where there are few, there is nothing to walk through.
    if text.count('[') + text.count('{') > MAX_JSON_DEPTH and _is_deep(value):
        raise InvalidArgument(
            f'{name} has more than {MAX_JSON_DEPTH} levels of objects and arrays: '
            f'{format_value(value)}'
        )
    if not is_storable(text) or (_NUL in text and _ESCAPED_NUL.search(text)):
        raise InvalidArgument(f'{name} contains a NUL or an unpaired surrogate')
    if len(text) > MAX_JSON_CHARACTERS:
        raise InvalidArgument(
            f'{name} has {len(text)} characters of JSON; the limit is {MAX_JSON_CHARACTERS}'
        )
    return text


def dump_texts(texts: Iterable[str]) -> str:
    """Write texts as a JSON array."""
    return f'[{", ".join(map(_TEXTS.encode, texts))}]'


def dump_ascii(values: Iterable[Any]) -> str:
    """Write plain values as a compact JSON array in ASCII, as digests are made of."""
    return _ASCII.encode(list(values))


def _is_deep(value: Any) -> bool:
    """Say whether a value nests deeper than every reader of JSON, SQLite among them, allows."""
    level: list[Iterable[Any]] = [[value]]
    for _ in range(MAX_JSON_DEPTH + 1):
        level = [
            child.values() if isinstance(child, dict) else child
            for item in level
            for child in item
            if isinstance(child, (dict, list, tuple))
        ]
        if not level:
            return False
    return True


def parse_finite(value: Any) -> float | None:
    """Return a number as a float, or None for what is no number or none that a float holds."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def format_value(value: Any) -> str:
    """Return a value as a short piece of an error message."""
    try:
        text = repr(value)
    except Exception:
        text = f'a {type(value).__name__}'
    text = text.encode('ascii', 'backslashreplace').decode() if not is_storable(text) else text
    return text if len(text) <= 80 else text[:77] + '...'
