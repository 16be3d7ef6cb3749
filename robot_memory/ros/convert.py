"""Between ROS messages and plain values, by the declarations; no message is mapped by hand."""

from __future__ import annotations

import base64
from typing import Any

from robot_memory import msg
from robot_memory.core.errors import RobotMemoryError
from robot_memory.core.fields import NANOSECONDS, Field, get_fields
from robot_memory.core.json_text import dump_json, parse_json
from robot_memory.ros.interfaces import message_name
from robot_memory.ros.typed_fields import NOT_GIVEN, name_flag
from robot_memory.ros.typed_values import add_typed, fill_typed, read_pose_stamp, read_stamp

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
    """Write a response dataclass into a ROS message and return the message."""
    for field in get_fields(type(response)):
        value = getattr(response, field.attribute)
        target = getattr(message, field.ros_name)
        if field.typed or field.kind == 'stamp':
            fill_typed(message, field, response)
        if field.kind == 'record':
            if value is not None:
                fill(target, value)
        elif field.kind == 'records':
            made = [fill(getattr(msg, message_name(type(item)))(), item) for item in value or ()]
            setattr(message, field.ros_name, made)
        elif field.kind == 'stamp':
            if value is not None:
                target.sec, target.nanosec = divmod(value, NANOSECONDS)
        else:
            setattr(message, field.ros_name, _to_ros(field, value))
    return message


def fail(message: Any, error: RobotMemoryError, declaration: type) -> Any:
    """Write a failure into an empty service response and return it."""
    for field in get_fields(declaration):
        if field.kind == 'number' and field.nullable:
            setattr(message, field.ros_name, NOT_GIVEN)
    message.success = False
    message.error_code = error.code
    message.message = str(error)
    return message


def _to_ros(field: Field, value: Any) -> Any:
    if field.kind == 'json':
        return '' if value is None else dump_json(value)
    if field.kind in ('texts', 'numbers'):
        return list(value or ())
    if field.kind == 'bytes':
        return value or b''
    if field.kind == 'number' and value is not None:
        return float(value)  # the generated code ends the process on an int
    return _NONE[field.kind] if value is None else value


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
