"""Where typed fields of an answer over ROS do not say what the texts and JSON beside them do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
TEXTS = {'stamp': 'timestamp'}


def list_disagreements(message: Any, path: str = '') -> list[str]:
    """Return the fields of a message, and of those in it, whose typed values say another thing."""
    found = [f'{path}.{name}' for name in _compare(message)]
    for name in message.get_fields_and_field_types():
        value = getattr(message, name)
        for number, item in enumerate(value if isinstance(value, (list, tuple)) else [value]):
            if type(item).__module__.startswith('robot_memory.msg'):
                found += list_disagreements(item, f'{path}.{name}[{number}]')
    return found


def _compare(message: Any) -> Iterator[str]:
    names = message.get_fields_and_field_types()
    for flag in (name for name in names if name.startswith('has_')):
        value = flag.removeprefix('has_')
        text = value.removesuffix('_time') if value.endswith('_time') else f'{value}_at'
        text = TEXTS.get(value, text)
        if text in names and not _is_same_time(getattr(message, text), message, value, flag):
            yield value
    if 'pose_stamped' in names and not _is_same_pose(message, names):
        yield 'pose_stamped'
    for name in names:
        of = name.removesuffix('_figures')
        if of != name and not _are_same_figures(getattr(message, of), getattr(message, name)):
            yield name


def _is_same_time(text: str, message: Any, value: str, flag: str) -> bool:
    time = getattr(message, value)
    told = EPOCH + timedelta(seconds=time.sec, microseconds=time.nanosec // 1000)
    if not text:
        return not getattr(message, flag) and not time.sec
    instant = datetime.fromisoformat(text.replace('Z', '+00:00'))
    return bool(getattr(message, flag)) and instant == told


def _is_same_pose(message: Any, names: Any) -> bool:
    beside = json.loads(message.pose or '{}') if 'pose' in names else _read_place(message)
    stamped = message.pose_stamped
    pose = stamped.pose if names['pose_stamped'].endswith('/PoseStamped') else stamped.pose.pose
    place, turn = pose.position, pose.orientation
    position = [place.x, place.y, place.z]
    orientation = [turn.x, turn.y, turn.z, turn.w]
    told = beside.get('position')
    return (
        message.has_pose == bool(told)
        and (not told or position == [*told, 0][:3])
        and message.has_orientation == ('orientation' in beside)
        and orientation == beside.get('orientation', [0, 0, 0, 1])
        and getattr(message, 'has_covariance', False) == ('covariance' in beside)
    )


def _read_place(message: Any) -> dict[str, Any]:
    given = {'position': message.position, 'orientation': message.orientation}
    return {name: json.loads(text) for name, text in given.items() if text}


def _are_same_figures(text: str, figures: Any) -> bool:
    """Compare the figures that JSON says by an object of numbers or of value and unit."""
    told = json.loads(text or 'null')
    if isinstance(told, dict) and 'value' not in told:
        named = told.items()
        amounts = {name: one for name, one in named if isinstance(one, (int, float, dict))}
    else:
        listed = told if isinstance(told, list) else [told]
        amounts = {str(at): one for at, one in enumerate(listed) if one is not None}
    wanted = [
        (one.get('value'), one.get('unit', '')) if isinstance(one, dict) else (one, '')
        for one in amounts.values()
    ]
    return [(one.value, one.unit) for one in figures] == wanted
