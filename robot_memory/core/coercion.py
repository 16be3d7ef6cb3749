"""
Values as language models write them, where what is meant is unambiguous.

A number in quotes, `mem_12`, `#12` or `[12]` for an id, `True` for a truth value, and that for the
choice `true`, an ISO 8601 time for a stamp, one text for a list of texts or texts between
commas, a list of one for its only item, a known name for the field (`limit` for `n`), and JSON as
`loose_json` reads it. Whatever else does not fit its field is left as it is, for the check that
names what is accepted. Nothing inside of a JSON value is changed: the text 'true' in a filter
stays a text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from robot_memory.core.clock import parse_instant
from robot_memory.core.fields import Field
from robot_memory.core.loose_json import MOST_REPAIRED, is_json, read_json
from robot_memory.core.memory_ids import drop_brackets, read_memory_id

_INTEGER = re.compile(r'[+-]?\d{1,19}(?:\.0+)?', re.ASCII)
_NUMBER = re.compile(r'[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?', re.ASCII)
_COMMA = re.compile(r'\s*[,，、;；]\s*')
_TRUTHS = {'true': True, 'false': False}
_NULLS = ('none', 'null')
_WRAPPERS = ('arguments', 'args', 'kwargs', 'input', 'params', 'parameters', 'request')
"""Names that models wrap the arguments of a call in, where no field is called so."""
_SYNONYMS = (
    ('n', 'limit', 'max_results', 'top_k', 'k', 'count', 'num_results'),
    ('query', 'q', 'question', 'task', 'text', 'search', 'search_query', 'prompt'),
    ('insight', 'text', 'content', 'fact', 'memory'),
    ('new_content', 'content', 'text', 'new_text'),
    ('context_filter', 'where', 'filter', 'filters'),
    ('since', 'start', 'from', 'start_time', 'after'),
    ('until', 'end', 'to', 'end_time', 'before'),
    ('memory_id', 'id', 'memory'),
    ('session_id', 'session'),
    ('title', 'name'),
    ('params', 'parameters'),
    ('success', 'succeeded'),
    ('outcome_score', 'score', 'outcome'),
)
"""Names of one thing in many interfaces: one is taken for the only declared of its row."""
_ID_TEXT = 'from'
"""The text field that names a memory by its id."""
_PLAIN: dict[str, type | tuple[type, ...]] = {
    'text': str,
    'integer': int,
    'number': (int, float),
    'flag': bool,
    'texts': (list, tuple),
    'json': (dict, list),
    'stamp': (dict, int),
}


def coerce_arguments(
    declared: Mapping[str, Field], arguments: Mapping[str, Any], is_destructive: bool = False
) -> Mapping[str, Any]:
    """
    Return the arguments of a call with names and values as the declared fields have them.

    A name may be in another style (`sessionId`, `session-id`), or one that other interfaces have
    for the same, unless that of the declaration is given as well. Of a tool that `is_destructive`
    the text 'None' is no missing session, for that may mean another one.
    """
    if not isinstance(arguments, Mapping):
        return arguments
    arguments = _unwrap(declared, arguments)
    found: dict[str, Any] = {}
    for given, value in arguments.items():
        name = given if given in declared else _find_name(given, declared, arguments)
        field = declared.get(name)
        found[name] = value if field is None else _coerce(field, value)
        if field is not None and not is_destructive and _means_none(field, value):
            found[name] = None
    return found


def _unwrap(declared: Mapping[str, Field], arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the object that is all that a call has, under a name that is no field's."""
    if len(arguments) == 1:
        ((name, value),) = arguments.items()
        if name in _WRAPPERS and name not in declared and isinstance(value, Mapping):
            return value
    return arguments


def _find_name(given: Any, declared: Mapping[str, Field], arguments: Mapping[str, Any]) -> Any:
    """Return the declared name that one stands for, else the given one."""
    if not isinstance(given, str):
        return given
    style = _strip_style(given)
    same = {style}
    names = [name for name in declared if _strip_style(name) == style]
    if not names:
        for row in _SYNONYMS:
            same |= set(styles) if style in (styles := list(map(_strip_style, row))) else set()
        names = [name for name in declared if _strip_style(name) in same]
    rivals = [one for one in arguments if isinstance(one, str) and _strip_style(one) in same]
    return names[0] if len(names) == 1 and rivals == [given] else given


def _strip_style(name: str) -> str:
    return name.replace('_', '').replace('-', '').replace(' ', '').lower()


def _coerce(field: Field, value: Any) -> Any:
    """Return what a value means to its field, or the value where that is not certain."""
    if field.kind == 'numbers':
        return _to_numbers(field, value)
    if isinstance(value, bool) and field.choices:
        value = str(value).lower()
    if isinstance(value, (list, tuple)) and len(value) == 1 and _holds_one(field, value[0]):
        value = value[0]
    if field.name == _ID_TEXT and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if value == [] and field.kind == 'json' and field.shape == 'object':
        return {}
    if value is None or (isinstance(value, _PLAIN.get(field.kind, object)) and not field.choices):
        return value
    coerce = _COERCIONS.get(field.kind)
    return value if coerce is None or not isinstance(value, str) else coerce(field, value)


def _holds_one(field: Field, item: Any) -> bool:
    """Say whether the only item of a list is of the kind that a field holds one of."""
    if field.kind == 'json':
        return field.shape == 'object' and isinstance(item, dict)
    return field.kind in ('text', 'integer', 'number') and isinstance(item, (str, int, float))


def _means_none(field: Field, value: Any) -> bool:
    """Say whether a text is the word for no session."""
    return (
        field.nullable
        and field.name == 'session_id'
        and isinstance(value, str)
        and value.strip().casefold() in _NULLS
    )


def _to_choice(field: Field, value: str) -> Any:
    matching = [one for one in field.choices if one.casefold() == value.strip().casefold()]
    return matching[0] if len(matching) == 1 else value


def _to_integer(field: Field, value: str) -> Any:
    stripped = unicodedata.normalize('NFKC', value).strip()
    is_id = field.name.endswith(('memory_id', 'memory_ids'))
    stripped = drop_brackets(stripped) if is_id else stripped
    if _INTEGER.fullmatch(stripped):
        return int(stripped.partition('.')[0])
    named = read_memory_id(stripped) if is_id else None
    return value if named is None else named


def _to_number(_: Field, value: str) -> Any:
    stripped = unicodedata.normalize('NFKC', value).strip()
    return float(stripped) if _NUMBER.fullmatch(stripped) else value


def _to_flag(_: Field, value: str) -> Any:
    return _TRUTHS.get(value.strip().lower(), value)


def _to_texts(_: Field, value: str) -> Any:
    """Return a list that is written as JSON or with commas, else the text as the only one."""
    if value.lstrip().startswith(('[', '```')):
        found = read_json(value)
        return found if isinstance(found, list) else value
    return _split(value)


def _split(value: str) -> list[str]:
    """Return what stands between commas; a text without any is the only one."""
    parts = [part for part in _COMMA.split(value.strip()) if part]
    return parts if len(parts) > 1 else [value]


def _to_numbers(field: Field, value: Any) -> Any:
    """Return a list of integers or ids, or the only one, as integers."""
    if isinstance(value, str) and value.lstrip().startswith(('[', '```')):
        found = read_json(value)
        value = drop_brackets(value.strip()) if found is None else found
    if value is None or value == '':
        return value
    if isinstance(value, str):
        value = _split(value)
    items = value if isinstance(value, (list, tuple)) else [value]
    return [_to_integer(field, one) if isinstance(one, str) else one for one in items]


def _to_json(field: Field, value: str) -> Any:
    """Return JSON text as it is where it is valid, for the check reads it, else repaired."""
    stripped = value.strip()
    if not stripped or len(value) > MOST_REPAIRED:
        return value
    if field.nullable and stripped.casefold() in _NULLS:
        return None
    is_quoted = field.shape != 'any' and stripped[0] == '"'
    if is_json(stripped) and not is_quoted:
        return value
    found = read_json(stripped, field.shape == 'object')
    return value if found is None else found


def _to_stamp(_: Field, value: str) -> Any:
    stripped = value.strip()
    if _INTEGER.fullmatch(stripped):
        return int(stripped.partition('.')[0])
    if stripped[:4].isdigit():
        with suppress(ValueError, OverflowError):
            return parse_instant(stripped) * 1000
    return value


def read_point(value: Any) -> Any:
    """
    Return a point as a list of its coordinates, where it is written in another way.

    An object of x, y and z, a text with commas, or numbers in quotes; all else as it is.
    """
    if isinstance(value, dict) and set(value) in ({'x', 'y'}, {'x', 'y', 'z'}):
        value = [value[axis] for axis in 'xyz' if axis in value]
    elif isinstance(value, str):
        value = value.strip().strip('[]()').split(',')
    if not isinstance(value, list):
        return value
    return [
        float(one) if isinstance(one, str) and _NUMBER.fullmatch(one.strip()) else one
        for one in value
    ]


_COERCIONS: dict[str, Callable[[Field, str], Any]] = {
    'text': _to_choice,
    'integer': _to_integer,
    'number': _to_number,
    'flag': _to_flag,
    'texts': _to_texts,
    'json': _to_json,
    'stamp': _to_stamp,
}
