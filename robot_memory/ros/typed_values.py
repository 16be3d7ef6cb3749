"""
Between typed fields of ROS messages and what the declarations have in their place.

What is refused of a request is refused in words: typed values that are no numbers, flags that
contradict what is set, and a value that is given both ways.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from robot_memory import msg
from robot_memory.core.clock import format_instant, parse_instant
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import NANOSECONDS, Field, check, get_fields
from robot_memory.core.json_text import format_value, parse_finite
from robot_memory.core.records import PERCEPTION_TYPES
from robot_memory.core.units import parse_quantity
from robot_memory.core.zones import MeasuredTime
from robot_memory.ros.typed_fields import (
    NOT_GIVEN,
    OCCURRED,
    PERCEPTION_TYPE,
    WINDOW,
    name_flag,
    name_value,
)

_SECONDS = range(-(2**31), 2**31)
"""What the seconds of a builtin_interfaces/Time can be."""


# requests


def read_stamp(message: Any, field: Field) -> int | None:
    """Return a stamp of a request in nanoseconds, None where it is not set."""
    value = getattr(message, field.ros_name)
    found = _read_time(field.ros_name, value)
    return found if found or not field.nullable or getattr(message, name_flag(field)) else None


def add_typed(message: Any, field: Field, given: Any) -> Any:
    """
    Return a field of a request with what its typed value says.

    `given` is what the field itself says, None where it is not set; so is what is returned.
    """
    typed = _read(message, field)
    if typed is None or given in (None, ''):
        return given if typed is None else typed
    if field.typed not in ('figures', 'filter'):
        raise InvalidArgument(
            f'{field.ros_name} and {name_value(field)} are both set; set one of them'
        )
    plain = check(field, given) or {}
    twice = sorted(plain.keys() & typed.keys())
    if twice:
        raise InvalidArgument(
            f'{field.ros_name} has {format_value(twice[0])}, which is set as a typed field, too; '
            'set one of them'
        )
    return {**plain, **typed}


def read_record(message: Any, declaration: type) -> dict[str, Any]:
    """Return the keys that a typed message sets."""
    found = {}
    for field in get_fields(declaration):
        if field.typed:
            value = _read(message, field)
        else:
            value = getattr(message, field.ros_name)
            value = None if value in ('', NOT_GIVEN) else value
        if value is not None:
            found[field.name] = value
    return found


def _read(message: Any, field: Field) -> Any:
    """Return what the typed value of a field says, None where it is not set."""
    if field.typed == 'pose':
        return _read_pose(message)
    if field.typed == 'filter':
        return _read_filter(message)
    name = name_value(field)
    value = getattr(message, name)
    if field.typed == 'figures':
        return _read_figures(name, value)
    if not _is_set(message, name, name_flag(field)):
        return None
    if field.typed == 'instant':
        return _format_time(name, value)
    if field.typed == 'point':
        return _check_numbers(name, [value.x, value.y, value.z])
    if field.typed == 'transform':
        return _read_plain_pose(name, value)
    assert isinstance(field.typed, type), field
    found = read_record(value, field.typed)
    if not found:
        raise InvalidArgument(f'{name} is empty, but {name_flag(field)} is true')
    return found


def _is_set(message: Any, name: str, flag: str) -> bool:
    """Say whether a flag is set; refuse a value that would be passed over."""
    value = getattr(message, name)
    if not getattr(message, flag) and value != type(value)():
        raise InvalidArgument(f'{name} has a value, but {flag} is false; set it to true')
    return bool(getattr(message, flag))


def _read_time(name: str, value: Any) -> int:
    if value.nanosec >= NANOSECONDS:
        raise InvalidArgument(f'{name}.nanosec must be 0 to 999999999, not {value.nanosec}')
    return int(value.sec) * NANOSECONDS + int(value.nanosec)


def _format_time(name: str, value: Any) -> str:
    """Return a time of a request as ISO 8601: instants that are asked for are microseconds."""
    return format_instant(_read_time(name, value) // 1000)


def _read_pose(message: Any) -> dict[str, Any] | None:
    stamped = message.pose_stamped
    if not _is_set(message, 'pose_stamped', 'has_pose'):
        if message.has_covariance:
            raise InvalidArgument('has_covariance is true, but has_pose is false; set it to true')
        return None
    found = _read_plain_pose('pose_stamped', stamped.pose.pose)
    if stamped.header.frame_id:
        found['frame_id'] = stamped.header.frame_id
    covariance = [float(number) for number in stamped.pose.covariance]
    if message.has_covariance:
        found['covariance'] = _check_numbers('covariance of pose_stamped', covariance)
    elif any(covariance):
        raise InvalidArgument(
            'pose_stamped has a covariance, but has_covariance is false; set it to true'
        )
    return found


def _read_plain_pose(name: str, pose: Any) -> dict[str, Any]:
    place, turn = pose.position, pose.orientation
    return {
        'position': _check_numbers(f'position of {name}', [place.x, place.y, place.z]),
        'orientation': _check_numbers(f'orientation of {name}', [turn.x, turn.y, turn.z, turn.w]),
    }


def _check_numbers(name: str, numbers: list[float]) -> list[float]:
    if any(parse_finite(number) is None for number in numbers):
        raise InvalidArgument(f'{name} must be finite numbers, not {format_value(numbers)}')
    return numbers


def read_pose_stamp(message: Any) -> int | None:
    """Return the time of a request's pose in nanoseconds, None where it has none."""
    return _read_time('pose_stamped.header.stamp', message.pose_stamped.header.stamp) or None


def _read_filter(message: Any) -> dict[str, Any] | None:
    found: dict[str, Any] = {}
    for end, operator in WINDOW.items():
        name = f'{end}_time'
        if _is_set(message, name, f'has_{name}'):
            window = found.setdefault(OCCURRED, {})
            window[operator] = _format_time(name, getattr(message, name))
    kind = getattr(message, PERCEPTION_TYPE)
    if kind and kind not in PERCEPTION_TYPES:
        raise InvalidArgument(
            f'{PERCEPTION_TYPE} must be one of {", ".join(PERCEPTION_TYPES)}, not '
            f'{format_value(kind)}'
        )
    return found | ({PERCEPTION_TYPE: kind} if kind else {}) or None


def _read_figures(name: str, figures: Sequence[Any]) -> dict[str, Any] | None:
    found: dict[str, Any] = {}
    for number, figure in enumerate(figures):
        where = f'{name}[{number}]'
        if figure.name in found or not figure.name:
            raise InvalidArgument(
                f'{where}.name must be a name that no other has, not {format_value(figure.name)}'
            )
        if parse_finite(figure.value) is None:
            raise InvalidArgument(f'{where}.value must be a finite number, not {figure.value}')
        unit = {'unit': figure.unit} if figure.unit else {}
        found[figure.name] = {'value': figure.value, **unit} if unit else figure.value
    return found or None


# answers


def fill_typed(message: Any, field: Field, response: Any) -> None:
    """Write the typed value of a field of a response into an empty message."""
    make_writer(field)(message, response)


def make_writer(field: Field) -> Callable[[Any, Any], None]:
    """Return what writes the typed value of a field of a response into a message."""
    name, flag, attribute = name_value(field), name_flag(field), field.attribute

    def write_flag(message: Any, response: Any) -> None:
        setattr(message, flag, getattr(response, attribute) is not None)

    def write_instant(message: Any, response: Any) -> None:
        nanoseconds = _find_nanoseconds(getattr(response, attribute))
        setattr(message, flag, _fill_time(getattr(message, name), nanoseconds))

    def write_figures(message: Any, response: Any) -> None:
        if value := getattr(response, attribute):
            setattr(message, name, _make_figures(value.items()))

    def write_amounts(message: Any, response: Any) -> None:
        value = getattr(response, attribute)
        listed = value if isinstance(value, list) else [value]
        setattr(message, name, _make_figures(('', one) for one in listed))

    def write_pose(message: Any, response: Any) -> None:
        fill_pose(message, getattr(response, attribute), response.frame_id, response.stamp)

    def write_position(message: Any, response: Any) -> None:
        stamped = message.pose_stamped
        stamped.header.frame_id = response.frame_id
        beside = {'position': getattr(response, attribute), 'orientation': response.orientation}
        _fill_plain_pose(message, stamped.pose, beside)

    def write_nothing(message: Any, response: Any) -> None:
        """Leave what has no typed value in answers."""

    if field.kind == 'stamp':
        return write_flag if field.nullable else write_nothing
    writers: dict[object, Callable[[Any, Any], None]] = {
        'instant': write_instant,
        'figures': write_figures,
        'amounts': write_amounts,
        'pose': write_pose,
        'position': write_position,
    }
    return writers.get(field.typed, write_nothing)


def fill_pose(
    message: Any, pose: Mapping[str, Any] | None, frame: str | None, stamp: int | None
) -> None:
    """Write a pose as JSON has it, its frame and its time in nanoseconds into a message."""
    stamped = message.pose_stamped
    if pose is None or not _fill_plain_pose(message, stamped.pose.pose, pose):
        return
    own = pose.get('frame_id')
    stamped.header.frame_id = (own if isinstance(own, str) else None) or frame or ''
    _fill_time(stamped.header.stamp, stamp)
    if (covariance := _read_numbers(pose.get('covariance'), (36,))) is not None:
        stamped.pose.covariance = covariance
        message.has_covariance = True


def _fill_plain_pose(message: Any, target: Any, pose: Mapping[str, Any]) -> bool:
    """Write position and orientation into a pose; return False where there is no position."""
    position = _read_numbers(pose.get('position'), (2, 3))
    if position is None:
        return False
    place, turn = target.position, target.orientation
    place.x, place.y, place.z = (*position, 0.0)[:3]
    message.has_pose = True
    if (orientation := _read_numbers(pose.get('orientation'), (4,))) is not None:
        turn.x, turn.y, turn.z, turn.w = orientation
        message.has_orientation = True
    return True


def _read_numbers(value: Any, lengths: Sequence[int]) -> list[float] | None:
    """Return what is so many numbers; None what is not, as of a pose that was shortened."""
    if not isinstance(value, list) or len(value) not in lengths:
        return None
    if {*map(type, value)} == {float} and all(map(math.isfinite, value)):
        return value
    found = [number for one in value if (number := parse_finite(one)) is not None]
    return found if len(found) == len(value) else None


def _find_nanoseconds(text: str | None) -> int | None:
    if isinstance(text, MeasuredTime):
        return text.nanoseconds
    return parse_instant(text) * 1000 if text else None


def _fill_time(target: Any, nanoseconds: int | None) -> bool:
    """Write a time; return False where there is none, or one that its type cannot hold."""
    if nanoseconds is None or nanoseconds // NANOSECONDS not in _SECONDS:
        return False
    target.sec, target.nanosec = divmod(nanoseconds, NANOSECONDS)
    return True


def _make_figures(named: Iterable[tuple[str, Any]]) -> list[Any]:
    """Return the figures among what JSON says, with their names; the rest has none."""
    return [
        msg.Figure(name=name, value=amount[0], unit=amount[1])
        for name, value in named
        for amount in [_read_amount(value)]
        if amount is not None
    ]


def _read_amount(value: Any) -> tuple[float, str] | None:
    """Return number and unit of 12.5, "12.5 N" or {"value": 12.5, "unit": "N"}."""
    if isinstance(value, str):
        return parse_quantity(value.strip())
    unit: Any = ''
    if isinstance(value, Mapping):
        value, unit = value.get('value'), value.get('unit') or ''
    number = parse_finite(value)
    return None if number is None or not isinstance(unit, str) else (number, unit)
