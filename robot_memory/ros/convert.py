"""Between ROS messages and plain values, by the declarations; no message is mapped by hand."""

from __future__ import annotations

import base64
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from robot_memory import msg
from robot_memory.core.errors import RobotMemoryError
from robot_memory.core.fields import NANOSECONDS, Field, get_fields
from robot_memory.core.json_text import dump_json, parse_json
from robot_memory.ros.interfaces import message_name
from robot_memory.ros.typed_fields import NOT_GIVEN, name_flag
from robot_memory.ros.typed_values import add_typed, make_writer, read_pose_stamp, read_stamp

_NONE = {'text': '', 'integer': 0, 'number': NOT_GIVEN, 'flag': False}
"""What stands in a scalar of a reply for "none"."""


def read_arguments(message: Any, declaration: type) -> dict[str, Any]:
    """
    Return a service request as a tool's arguments: what stands for "not given" is left out.

    Raise InvalidArgument where typed fields contradict each other or those beside them.
    """
    given: dict[str, Any] = {}
    measured = None
    for field in get_fields(declaration):
        value = getattr(message, field.ros_name)
        if field.kind == 'stamp':
            value = read_stamp(message, field)
        elif field.kind in ('texts', 'numbers'):
            value = list(value)  # integers come as an array of their own
        elif _is_not_given(field, value):
            value = None
        if field.typed:
            value = add_typed(message, field, value)
        if field.typed == 'pose':
            measured = read_pose_stamp(message)
        if value is not None and not (value == '' and not field.required):
            given[field.name] = value
    if measured is not None:
        given.setdefault('stamp', measured)
    return given


def _is_not_given(field: Field, value: Any) -> bool:
    """Say whether a number of a request stands for "not given"."""
    if field.kind == 'number':
        return bool(value == NOT_GIVEN) and (field.minimum or 0) >= 0
    return field.kind == 'integer' and field.nullable and value == 0


def fill(message: Any, response: Any) -> Any:
    """Write a response dataclass into an empty ROS message and return the message."""
    declaration: type = type(response)
    plan = _plan(declaration)
    for attribute, name, convert, absent in plan.values:
        value = getattr(response, attribute)
        if value is None:
            value = absent
        elif convert is not None:
            value = convert(value)
        if value is not None:
            setattr(message, name, value)
    for write in plan.writers:
        write(message, response)
    return message


@dataclass(frozen=True)
class _Plan:
    """
    How a declaration is written into its message, with all names looked up once.

    `values` are (attribute, name in the message, conversion, what stands for none) of what is
    assigned; an empty message has the rest already. `writers` take message and response.
    """

    values: tuple[tuple[str, str, Callable[[Any], Any] | None, Any], ...]
    writers: tuple[Callable[[Any, Any], None], ...]


@functools.cache
def _plan(declaration: type) -> _Plan:
    values, writers = [], []
    for field in get_fields(declaration):
        if field.typed or field.kind == 'stamp':
            writers.append(make_writer(field))
        if field.kind in ('record', 'stamp'):
            writers.append(_make_filler(field))
        else:
            absent = NOT_GIVEN if field.kind == 'number' else None
            convert = _fill_each if field.kind == 'records' else _CONVERSIONS.get(field.kind)
            values.append((field.attribute, field.ros_name, convert, absent))
    return _Plan(tuple(values), tuple(writers))


_CONVERSIONS: Mapping[str, Callable[[Any], Any]] = {
    'json': dump_json,
    'texts': list,
    'numbers': list,
    'number': float,  # the generated code ends the process on an int
}


def _fill_each(items: Sequence[Any]) -> list[Any]:
    return [fill(getattr(msg, message_name(type(item)))(), item) for item in items]


def _make_filler(field: Field) -> Callable[[Any, Any], None]:
    """Return what writes into the message that a message has for a field."""
    attribute, name, is_record = field.attribute, field.ros_name, field.kind == 'record'

    def write(message: Any, response: Any) -> None:
        value = getattr(response, attribute)
        if value is None:
            return
        target = getattr(message, name)
        if is_record:
            fill(target, value)
        else:
            target.sec, target.nanosec = divmod(value, NANOSECONDS)

    return write


def fail(message: Any, error: RobotMemoryError, declaration: type) -> Any:
    """Write a failure into an empty service response and return it."""
    for field in get_fields(declaration):
        if field.kind == 'number' and field.nullable:
            setattr(message, field.ros_name, NOT_GIVEN)
    message.success = False
    message.error_code = error.code
    message.message = str(error)
    return message


def to_plain(message: Any, declaration: type) -> dict[str, Any]:
    """Return a ROS response as the plain JSON of the other faces."""
    return {
        field.name: value
        for field in get_fields(declaration)
        for value in [_from_ros(field, message)]
        if not (field.omitted and value is None)
    }


def _from_ros(field: Field, message: Any) -> Any:
    value = getattr(message, field.ros_name)
    if field.kind == 'record':
        absent = field.nullable and value == type(value)()
        return None if absent or field.record is None else to_plain(value, field.record)
    if field.kind == 'records':
        if field.record is None or not len(value):
            return None if field.nullable else []
        record = field.record
        return [to_plain(item, record) for item in value]
    if field.kind == 'stamp':
        is_set = not field.nullable or getattr(message, name_flag(field))
        return {'sec': value.sec, 'nanosec': value.nanosec} if is_set else None
    if field.kind == 'json':
        return parse_json(field.name, value) if value else None
    if field.kind in ('texts', 'numbers'):
        return list(value) or (None if field.nullable else [])
    if field.kind == 'bytes':
        return base64.b64encode(value).decode() if len(value) else None
    return None if field.nullable and value == _NONE[field.kind] else value
