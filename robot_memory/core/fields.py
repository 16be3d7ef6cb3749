"""
The closed table of field types that requests, responses and settings are declared with.

A declaration is a frozen dataclass whose fields are made by `arg`. Each field has one of the
kinds below, and each face reads from the kind how the field looks there:

| kind    | Python             | JSON                | ROS                        |
|---------|--------------------|---------------------|----------------------------|
| text    | str                | string              | string                     |
| integer | int                | integer             | int64                      |
| number  | float              | number              | float64                    |
| flag    | bool               | boolean             | bool                       |
| texts   | tuple[str, ...]    | array of strings    | string[]                   |
| numbers | tuple[int, ...]    | array of integers   | int64[]                    |
| json    | dict, list or None | any, or its text    | string (JSON text)         |
| stamp   | Stamp              | {sec, nanosec}      | builtin_interfaces/Time    |
| record  | a dataclass        | object              | a message of its own       |
| records | tuple of dataclass | array of objects    | an array of that message   |
| bytes   | bytes              | string in base64    | uint8[]                    |
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import functools
import json
import keyword
import types
import typing
from collections.abc import Mapping
from typing import Any, NewType, TypeAlias, TypeVar

from robot_memory.core.bounds import add_bounds, format_bounds
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.json_text import (
    dump_json,
    format_value,
    is_storable,
    parse_finite,
    parse_json,
)
from robot_memory.core.suggestions import suggest

Json: TypeAlias = Any
"""A dict, list, str, number, bool or None: what JSON can say."""

Stamp = NewType('Stamp', int)
"""Nanoseconds since 1970-01-01 UTC (or since the start of simulated time)."""

NANOSECONDS = 1_000_000_000
RESERVED = '\ue00f'
"""A character that names of collections are without: the store's indexes end them with it."""
Declared = TypeVar('Declared')
_SCALARS = {str: 'text', int: 'integer', float: 'number', bool: 'flag', bytes: 'bytes'}
_LISTS = {str: 'texts', int: 'numbers'}
_OTHERS = {Any: 'json', Stamp: 'stamp'}
_ROS_NAMES = {'from': 'from_id', 'default': 'default_params', 'in': 'in_region'}


@dataclasses.dataclass(frozen=True)
class Field:
    """
    Describe one declared field: its kind, its limits and its words.

    `attribute` is its name in Python, where a keyword ends in an underscore.
    """

    name: str
    kind: str
    help: str
    required: bool
    nullable: bool
    default: Any
    minimum: float | None
    maximum: float | None
    min_length: int
    max_length: int
    choices: tuple[str, ...]
    shape: str
    omitted: bool
    without: str
    restricts: bool
    typed: str | type
    record: type | None
    attribute: str

    @property
    def accepted(self) -> str:
        """Return the accepted texts in words, the empty one aside: that is "not given"."""
        return ', '.join(filter(None, self.choices))

    @functools.cached_property
    def ros_name(self) -> str:
        """Return the name in a ROS message: no leading underscore, no keyword of Python or C++."""
        return _ROS_NAMES.get(self.name, self.name.lstrip('_'))


def arg(
    help: str,
    *,
    default: Any = dataclasses.MISSING,
    minimum: float | None = None,
    maximum: float | None = None,
    min_length: int = 0,
    max_length: int = 0,
    choices: tuple[str, ...] = (),
    shape: str = 'any',
    omitted: bool = False,
    without: str = '',
    restricts: bool = False,
    typed: str | type = '',
) -> Any:
    """
    Declare a field of a request, a response or the settings.

    `minimum` and `maximum` bound numbers (both included), `min_length` and `max_length` bound
    texts in characters (0: unbounded), `choices` lists the accepted texts. `shape` says what a
    json field accepts: 'any', 'object', or 'container' (an object or an array). A response field
    that is `omitted` is left out of JSON answers while it is None. A text must be `without` a
    character that the store needs for itself. Of one that `restricts` the empty text is refused:
    what was meant to narrow an answer must not widen it. (In ROS, which has no null, it is none.)
    What a text or JSON says can be `typed` beside it in ROS; `ros/typed_fields.py` has the words.
    """
    given = locals()
    metadata = {name: value for name, value in given.items() if name != 'default'}
    if default is dataclasses.MISSING:
        return dataclasses.field(metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def actor_arg(help: str) -> Any:
    """Declare a field that asks for what one actor said or did."""
    return arg(help, default=None, min_length=1, max_length=128, restricts=True)


def collection_arg(help: str, default: str | None = 'default') -> Any:
    """Declare a field that names a collection."""
    return arg(help, default=default, min_length=1, max_length=128, without=RESERVED)


def get_fields(declaration: type) -> tuple[Field, ...]:
    """Return the fields of a declaration, in the order in which they are written."""
    return _get_fields(declaration)


@functools.cache
def _get_fields(declaration: type) -> tuple[Field, ...]:
    hints = typing.get_type_hints(declaration)
    return tuple(
        _read_field(field, hints[field.name]) for field in dataclasses.fields(declaration)
    )


def _read_field(field: dataclasses.Field[Any], hint: Any) -> Field:
    """Read one dataclass field into the table's terms."""
    nullable = False
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        (hint,) = (part for part in typing.get_args(hint) if part is not types.NoneType)
        nullable = True
    kind, record = _find_kind(hint)
    required = field.default is dataclasses.MISSING
    return Field(
        name=_strip_keyword(field.name),
        kind=kind,
        required=required,
        nullable=nullable,
        default=None if required else field.default,
        record=record,
        attribute=field.name,
        **field.metadata,
    )


def _strip_keyword(attribute: str) -> str:
    """Return the name of a field: from, where Python has from_."""
    name = attribute.removesuffix('_')
    return name if keyword.iskeyword(name) else attribute


def _find_kind(hint: Any) -> tuple[str, type | None]:
    """Return the kind of an annotation, and the dataclass inside of it if there is one."""
    if hint in _SCALARS:
        return _SCALARS[hint], None
    if hint in _OTHERS:
        return _OTHERS[hint], None
    if dataclasses.is_dataclass(hint):
        return 'record', typing.cast(type, hint)
    if typing.get_origin(hint) is tuple:
        item = typing.get_args(hint)[0]
        return _LISTS.get(item, 'records'), None if item in _LISTS else item
    raise TypeError(f'{hint!r} is not in the table of field types')


def parse(declaration: type[Declared], arguments: Mapping[str, Any], where: str) -> Declared:
    """
    Build a declaration from plain values, refusing all that it does not accept.

    None and the empty text of a field that has a default mean "not given". `where` names the
    tool in the message. Raise InvalidArgument with the field, the value and what is accepted.
    """
    if not isinstance(arguments, Mapping):
        raise InvalidArgument(f'{where} takes keyword arguments, not {format_value(arguments)}')
    fields = get_fields(declaration)
    names = [field.name for field in fields]
    unknown = [name for name in arguments if name not in names]
    if unknown:
        raise InvalidArgument(
            f'{where} has no argument {", ".join(map(format_value, unknown))}'
            f'{suggest(unknown[0], names)}; accepted: {", ".join(names)}'
        )
    values: dict[str, Any] = {}
    for field in fields:
        value = arguments.get(field.name)
        if value is None or _is_left_empty(field, value):
            if field.required:
                raise InvalidArgument(f'{where} requires {field.name}: {field.help}')
            values[field.attribute] = field.default
        else:
            values[field.attribute] = check(field, value)
    return declaration(**values)


def _is_left_empty(field: Field, value: Any) -> bool:
    is_empty = isinstance(value, str) and not value
    return is_empty and not (field.required or field.restricts or field.kind == 'flag')


def check(field: Field, value: Any) -> Any:
    """Return the value as the field's Python type, or raise InvalidArgument."""
    return _CHECKS[field.kind](field, value)


def validate(declared: Any) -> None:
    """Check every field of a frozen declaration that was built by hand; raise InvalidArgument."""
    for field in get_fields(type(declared)):
        value = check(field, getattr(declared, field.attribute))
        object.__setattr__(declared, field.attribute, value)


def _check_text(field: Field, value: Any) -> str:
    if not isinstance(value, str):
        wanted = f'one of {field.accepted}' if field.choices else 'a string'
        raise InvalidArgument(f'{field.name} must be {wanted}, not {format_value(value)}')
    if not is_storable(value):
        raise InvalidArgument(
            f'{field.name} contains a NUL or an unpaired surrogate ({format_value(value)}); send '
            'valid Unicode text'
        )
    if field.choices and value not in field.choices:
        raise InvalidArgument(
            f'{field.name} must be one of {field.accepted}, not {format_value(value)}'
        )
    if field.without and field.without in value:
        raise InvalidArgument(
            f'{field.name} must not contain the character U+{ord(field.without):04X}: '
            f'{format_value(value)}'
        )
    length = len(value)
    if length < field.min_length or (field.max_length and length > field.max_length):
        raise InvalidArgument(
            f'{field.name} must have {format_bounds(field.min_length, field.max_length or None)} '
            f'characters, not {length}: {format_value(value)}'
        )
    return value


def _check_integer(field: Field, value: Any) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidArgument(
            f'{field.name} must be an integer, not {format_value(value)}'
            f'{add_bounds(field.minimum, field.maximum)}'
        )
    _check_bounds(field, value)
    if not -(2**63) <= value < 2**63:
        raise InvalidArgument(f'{field.name} must fit in 64 bits, not {format_value(value)}')
    return value


def _check_number(field: Field, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidArgument(
            f'{field.name} must be a number, not {format_value(value)}'
            f'{add_bounds(field.minimum, field.maximum)}'
        )
    number = parse_finite(value)
    if number is None:
        raise InvalidArgument(f'{field.name} must be a finite number, not {format_value(value)}')
    _check_bounds(field, number)
    return number


def _check_bounds(field: Field, value: float) -> None:
    low, high = field.minimum, field.maximum
    if (low is not None and value < low) or (high is not None and value > high):
        raise InvalidArgument(
            f'{field.name} must be {format_bounds(low, high)}, not {format_value(value)}'
        )


def _check_flag(field: Field, value: Any) -> bool:
    if not isinstance(value, bool):
        raise InvalidArgument(f'{field.name} must be true or false, not {format_value(value)}')
    return value


def _check_list(field: Field, value: Any) -> tuple[Any, ...]:
    of, check_item = _ITEMS[field.kind]
    if not isinstance(value, (list, tuple)):
        raise InvalidArgument(f'{field.name} must be a list of {of}, not {format_value(value)}')
    return tuple(check_item(field, item) for item in value)


_ITEMS = {'texts': ('strings', _check_text), 'numbers': ('integers', _check_integer)}


def _check_json(field: Field, value: Any) -> Any:
    ending = f'; accepted: {field.help}' if field.shape == 'object' else ''
    if isinstance(value, str):
        try:
            value = parse_json(field.name, value)
        except InvalidArgument as error:
            raise InvalidArgument(f'{error}{ending}') from None
        if value is None and field.nullable:
            return None
    accepted: dict[str, tuple[type, ...]] = {'object': (dict,), 'container': (dict, list)}
    if field.shape in accepted and not isinstance(value, accepted[field.shape]):
        wanted = 'a JSON object' if field.shape == 'object' else 'a JSON object or array'
        raise InvalidArgument(f'{field.name} must be {wanted}, not {format_value(value)}{ending}')
    return json.loads(dump_json(value, field.name))


def _check_stamp(field: Field, value: Any) -> Stamp:
    if isinstance(value, str):
        with contextlib.suppress(InvalidArgument):
            value = parse_json(field.name, value)
    sec: Any = None
    nanosec: Any = 0
    if isinstance(value, Mapping) and not set(value) - {'sec', 'nanosec'}:
        sec, nanosec = value.get('sec'), value.get('nanosec', 0)
    elif _is_whole(value):
        sec, nanosec = divmod(value, NANOSECONDS)
    whole = _is_whole(sec) and _is_whole(nanosec)
    if whole and -(2**31) <= sec < 2**31 and 0 <= nanosec < NANOSECONDS:
        return Stamp(sec * NANOSECONDS + nanosec)
    raise InvalidArgument(
        f'{field.name} must be {{"sec": 32-bit integer, "nanosec": 0 to 999999999}}, integer '
        f'nanoseconds or an ISO 8601 text, not {format_value(value)}'
    )


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_CHECKS = {
    'text': _check_text,
    'integer': _check_integer,
    'number': _check_number,
    'flag': _check_flag,
    'texts': _check_list,
    'numbers': _check_list,
    'json': _check_json,
    'stamp': _check_stamp,
}


def to_plain(value: Any, *, with_bytes: bool = True) -> Any:
    """
    Return a response as plain dicts, lists and scalars: the JSON that the contract prints.

    Bytes are in base64, or None where they are not wanted.
    """
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return value
    return {
        field.name: found
        for field in get_fields(type(value))
        for found in [_convert_field(field, getattr(value, field.attribute), with_bytes)]
        if not (field.omitted and found is None)
    }


def _convert_field(field: Field, value: Any, with_bytes: bool) -> Any:
    if value is None or (field.kind == 'bytes' and not with_bytes):
        return None
    if field.kind == 'record':
        return to_plain(value, with_bytes=with_bytes)
    if field.kind == 'records':
        return [to_plain(item, with_bytes=with_bytes) for item in value]
    if field.kind in ('texts', 'numbers'):
        return list(value)
    if field.kind == 'bytes':
        return base64.b64encode(value).decode()
    if field.kind == 'stamp':
        return {'sec': value // NANOSECONDS, 'nanosec': value % NANOSECONDS}
    return value
