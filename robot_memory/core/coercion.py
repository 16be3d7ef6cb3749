"""
Values as language models write them, where what is meant is unambiguous.

A number in quotes, `mem_12` for an id, `True` for a truth value, an ISO 8601 time for a stamp, one
text for a list of texts, JSON in single quotes, with full-width punctuation or inside of a code
fence. Whatever else does not fit its field is left as it is, for the check that names what is
accepted. Nothing inside of a JSON value is changed: the text 'true' in a filter stays a text.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from robot_memory.core.clock import parse_instant
from robot_memory.core.fields import Field
from robot_memory.core.json_text import MAX_JSON_CHARACTERS

_INTEGER = re.compile(r'[+-]?\d{1,19}(?:\.0+)?', re.ASCII)
_NUMBER = re.compile(r'[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?', re.ASCII)
_ID = re.compile(r'mem_(\d{1,18})', re.ASCII)
_FENCE = re.compile(r'```[A-Za-z0-9]*\s*\n?(.*?)\s*```', re.DOTALL)
_TRUTHS = {'true': True, 'false': False}
_QUOTED = re.compile(
    r'"(?:[^"\\]|\\.)*"' r"|'(?:[^'\\]|\\.)*'" '|[“”][^“”]*[“”]|‘[^‘’]*’', re.DOTALL
)
_PUNCTUATION = str.maketrans('：，；｛｝［］（）【】', ':,;{}[]()[]')
_CONSTANTS = (
    (re.compile(r'\btrue\b'), 'True'),
    (re.compile(r'\bfalse\b'), 'False'),
    (re.compile(r'\bnull\b'), 'None'),
)
_PLAIN: dict[str, type | tuple[type, ...]] = {
    'text': str,
    'integer': int,
    'number': (int, float),
    'flag': bool,
    'texts': (list, tuple),
    'json': (dict, list),
    'stamp': (dict, int),
}
_MOST_REPAIRED = 20_000
"""Characters of JSON up to which a repair is tried."""


def coerce_arguments(
    declared: Mapping[str, Field], arguments: Mapping[str, Any]
) -> Mapping[str, Any]:
    """
    Return the arguments of a call with names and values as the declared fields have them.

    A name may be in another style (`sessionId`, `session-id`) unless that of the declaration is
    given as well.
    """
    if not isinstance(arguments, Mapping):
        return arguments
    found: dict[str, Any] = {}
    for given, value in arguments.items():
        name = given if given in declared else _find_name(given, declared, arguments)
        field = declared.get(name)
        found[name] = value if field is None else _coerce(field, value)
    return found


def _find_name(given: Any, declared: Mapping[str, Field], arguments: Mapping[str, Any]) -> Any:
    """Return the declared name that differs from a given one in style alone, else the given."""
    if isinstance(given, str):
        style = _strip_style(given)
        names = [name for name in declared if _strip_style(name) == style]
        if len(names) == 1 and names[0] not in arguments:
            return names[0]
    return given


def _strip_style(name: str) -> str:
    return name.replace('_', '').replace('-', '').replace(' ', '').lower()


def _coerce(field: Field, value: Any) -> Any:
    """Return what a value means to its field, or the value where that is not certain."""
    if field.kind == 'numbers':
        return _to_numbers(field, value)
    if value is None or (isinstance(value, _PLAIN.get(field.kind, object)) and not field.choices):
        return value
    coerce = _COERCIONS.get(field.kind)
    return value if coerce is None or not isinstance(value, str) else coerce(field, value)


def _to_choice(field: Field, value: str) -> Any:
    matching = [one for one in field.choices if one.casefold() == value.strip().casefold()]
    return matching[0] if len(matching) == 1 else value


def _to_integer(field: Field, value: str) -> Any:
    stripped = value.strip()
    if _INTEGER.fullmatch(stripped):
        return int(stripped.partition('.')[0])
    named = _ID.fullmatch(stripped) if field.name.endswith(('memory_id', 'memory_ids')) else None
    return int(named[1]) if named else value


def _to_number(_: Field, value: str) -> Any:
    return float(value) if _NUMBER.fullmatch(value.strip()) else value


def _to_flag(_: Field, value: str) -> Any:
    return _TRUTHS.get(value.strip().lower(), value)


def _to_texts(_: Field, value: str) -> Any:
    """Return a list that is written as JSON, else the text as the only one."""
    if value.lstrip().startswith(('[', '```')):
        found = read_json(value)
        return found if isinstance(found, list) else value
    return [value]


def _to_numbers(field: Field, value: Any) -> Any:
    """Return a list of integers or ids, or the only one, as integers."""
    if isinstance(value, str) and value.lstrip().startswith(('[', '```')):
        found = read_json(value)
        value = value if found is None else found
    items = value if isinstance(value, (list, tuple)) else [value]
    if value is None or value == '':
        return value
    return [_to_integer(field, one) if isinstance(one, str) else one for one in items]


def _to_json(_: Field, value: str) -> Any:
    """Return JSON text as it is where it is valid, for the check reads it, else repaired."""
    stripped = value.strip()
    if not stripped or len(value) > _MOST_REPAIRED or _is_json(stripped):
        return value
    found = read_json(stripped)
    return value if found is None else found


def _to_stamp(_: Field, value: str) -> Any:
    stripped = value.strip()
    if _INTEGER.fullmatch(stripped):
        return int(stripped.partition('.')[0])
    if stripped[:4].isdigit():
        with suppress(ValueError, OverflowError):
            return parse_instant(stripped) * 1000
    return value


_COERCIONS: dict[str, Callable[[Field, str], Any]] = {
    'text': _to_choice,
    'integer': _to_integer,
    'number': _to_number,
    'flag': _to_flag,
    'texts': _to_texts,
    'json': _to_json,
    'stamp': _to_stamp,
}


def read_json(text: str) -> Any:
    """
    Return the object or array that a text writes as JSON or as a Python literal, else None.

    A code fence around it goes, and so does full-width punctuation outside of its texts.
    """
    fenced = _FENCE.fullmatch(text.strip())
    body = (fenced[1] if fenced else text).strip()
    if len(body) > MAX_JSON_CHARACTERS:
        return None
    for candidate in (body, _straighten(body)):
        for read in (json.loads, _read_literal):
            with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
                found = read(candidate)
                if isinstance(found, (dict, list)):
                    return found
    return None


def _is_json(text: str) -> bool:
    with suppress(ValueError, RecursionError):
        json.loads(text)
        return True
    return False


def _read_literal(text: str) -> Any:
    """Return what a text writes with Python's quotes, commas and constants."""
    return ast.literal_eval(_outside(text, _name_constants))


def _straighten(text: str) -> str:
    """Return a text with ASCII punctuation and quotes around its texts."""
    return _outside(text, lambda part: part.translate(_PUNCTUATION), straightens=True)


def _outside(text: str, change: Callable[[str], str], straightens: bool = False) -> str:
    """Return a text, changed wherever it is not in quotes."""
    parts, end = [], 0
    for quoted in _QUOTED.finditer(text):
        parts.append(change(text[end : quoted.start()]))
        inner = quoted[0]
        if straightens and inner[0] in '“”‘':
            inner = json.dumps(inner[1:-1], ensure_ascii=False)
        parts.append(inner)
        end = quoted.end()
    return ''.join([*parts, change(text[end:])])


def _name_constants(part: str) -> str:
    for pattern, name in _CONSTANTS:
        part = pattern.sub(name, part)
    return part
