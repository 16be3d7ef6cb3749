"""
Memories as messages that Foxglove knows: texts, places, pictures, figures and signals.

Messages are JSON, by the schemas of Foxglove as far as their fields are used here.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from robot_memory.core.fields import NANOSECONDS
from robot_memory.core.places import read_place
from robot_memory.core.records import Record
from robot_memory.detectors import Signal
from robot_memory.storage.events.pages import EventRow
from robot_memory.storage.tables.parts import Part
from robot_memory.text.categories import PROTECTED

ROOT = '/memory'
PICTURES = {'image/jpeg': 'jpeg', 'image/png': 'png'}
_INFO, _WARNING = 2, 3
_SIZE = 0.05
"""Metres: the diameter of what marks a place, and the height of its text."""
_MOST_TEXT = 80
_COLOURS = {'fact': (0.1, 0.5, 0.9), 'perception': (0.9, 0.45, 0.1), 'turn': (0.2, 0.7, 0.3)}

_NUMBER, _TEXT, _INTEGER = {'type': 'number'}, {'type': 'string'}, {'type': 'integer'}


def _describe(title: str, **fields: Any) -> dict[str, Any]:
    return {'type': 'object', 'title': title, 'properties': fields}


def _list_of(items: Any) -> dict[str, Any]:
    return {'type': 'array', 'items': items}


_TIME = _describe('time', sec=_INTEGER, nsec=_INTEGER)
_VECTOR = _describe('foxglove.Vector3', x=_NUMBER, y=_NUMBER, z=_NUMBER)
_QUATERNION = _describe('foxglove.Quaternion', x=_NUMBER, y=_NUMBER, z=_NUMBER, w=_NUMBER)
_POSE = _describe('foxglove.Pose', position=_VECTOR, orientation=_QUATERNION)
_COLOUR = _describe('foxglove.Color', r=_NUMBER, g=_NUMBER, b=_NUMBER, a=_NUMBER)
_PAIR = _describe('foxglove.KeyValuePair', key=_TEXT, value=_TEXT)
_SPHERE = _describe('foxglove.SpherePrimitive', pose=_POSE, size=_VECTOR, color=_COLOUR)
_ARROW = _describe(
    'foxglove.ArrowPrimitive',
    pose=_POSE,
    shaft_length=_NUMBER,
    shaft_diameter=_NUMBER,
    head_length=_NUMBER,
    head_diameter=_NUMBER,
    color=_COLOUR,
)
_LABEL = _describe(
    'foxglove.TextPrimitive',
    pose=_POSE,
    billboard={'type': 'boolean'},
    font_size=_NUMBER,
    scale_invariant={'type': 'boolean'},
    color=_COLOUR,
    text=_TEXT,
)
_ENTITY = _describe(
    'foxglove.SceneEntity',
    timestamp=_TIME,
    frame_id=_TEXT,
    id=_TEXT,
    lifetime=_describe('duration', sec=_INTEGER, nsec=_INTEGER),
    frame_locked={'type': 'boolean'},
    metadata=_list_of(_PAIR),
    arrows=_list_of(_ARROW),
    cubes=_list_of({'type': 'object'}),
    spheres=_list_of(_SPHERE),
    cylinders=_list_of({'type': 'object'}),
    lines=_list_of({'type': 'object'}),
    triangles=_list_of({'type': 'object'}),
    texts=_list_of(_LABEL),
    models=_list_of({'type': 'object'}),
)
SCHEMAS = {
    'foxglove.Log': _describe(
        'foxglove.Log',
        timestamp=_TIME,
        level=_INTEGER,
        message=_TEXT,
        name=_TEXT,
        file=_TEXT,
        line=_INTEGER,
    ),
    'foxglove.SceneUpdate': _describe(
        'foxglove.SceneUpdate',
        deletions=_list_of({'type': 'object'}),
        entities=_list_of(_ENTITY),
    ),
    'foxglove.CompressedImage': _describe(
        'foxglove.CompressedImage',
        timestamp=_TIME,
        frame_id=_TEXT,
        data={'type': 'string', 'contentEncoding': 'base64'},
        format=_TEXT,
    ),
    'robot_memory.Figures': _describe(
        'robot_memory.Figures',
        timestamp=_TIME,
        memory_id=_INTEGER,
        duration=_NUMBER,
        figures={'type': 'object', 'additionalProperties': _NUMBER},
        units={'type': 'object', 'additionalProperties': _TEXT},
    ),
    'robot_memory.Signal': _describe(
        'robot_memory.Signal',
        timestamp=_TIME,
        memory_id=_INTEGER,
        values={'type': 'object'},
        units={'type': 'object'},
    ),
}
"""The schemas by their names, which Foxglove knows those of its own by."""


@dataclass(frozen=True)
class Message:
    """Hold a message: where and when it is told, in nanoseconds, and by which schema."""

    topic: str
    schema: str
    at_ns: int
    value: dict[str, Any]


def make_messages(
    record: Record, event: EventRow | None, parts: list[Part], shift_ns: int
) -> Iterator[Message]:
    """
    Yield what a memory is in Foxglove, with times that are corrected by `shift_ns`.

    `event` is what was measured of it, `parts` are its pictures and signal.
    """
    at_ns = max(0, record.created_at * 1000 if record.stamp is None else record.stamp)
    yield _make_log(record, at_ns)
    entity = _make_entity(record, at_ns)
    if entity is not None:
        yield Message(
            f'{ROOT}/places',
            'foxglove.SceneUpdate',
            at_ns,
            {'deletions': [], 'entities': [entity]},
        )
    if event is not None and event.figures:
        yield _make_figures(event, record.id, at_ns)
    source = _name_source(record)
    for part in parts:
        if part.content is None:
            continue
        if part.media_type in PICTURES:
            yield _make_picture(record, part, source, at_ns, shift_ns)
        elif part.name == 'signal':
            yield from _sample(Signal.from_npz(part.content), record.id, source, shift_ns)


def _make_log(record: Record, at_ns: int) -> Message:
    kind = record.category if record.type == 'fact' else record.perception_type or record.role
    is_rule = record.type == 'fact' and record.category in PROTECTED
    return Message(
        f'{ROOT}/log',
        'foxglove.Log',
        at_ns,
        {
            'timestamp': _split(at_ns),
            'level': _WARNING if is_rule else _INFO,
            'message': record.content,
            'name': f'{record.type}/{kind}' if kind else record.type,
            'file': record.collection,
            'line': record.id,
        },
    )


def _make_entity(record: Record, at_ns: int) -> dict[str, Any] | None:
    """Return a mark with a text where a memory is, an arrow where its orientation is known."""
    place = read_place(record.context, record.frame_id, record.pose)
    if place is None:
        return None
    red, green, blue = _COLOURS[record.type]
    colour = {'r': red, 'g': green, 'b': blue, 'a': 1.0}
    x, y, z = place.position
    here = {'x': x, 'y': y, 'z': z}
    pose = {'position': here, 'orientation': {'x': 0.0, 'y': 0.0, 'z': 0.0, 'w': 1.0}}
    turned = _read_orientation(record.pose, place.position)
    text = record.content[:_MOST_TEXT] + ('...' if len(record.content) > _MOST_TEXT else '')
    label = {
        'pose': {**pose, 'position': {**here, 'z': z + _SIZE}},
        'billboard': True,
        'font_size': _SIZE,
        'scale_invariant': False,
        'color': colour,
        'text': text,
    }
    arrow = {
        'pose': {'position': here, 'orientation': turned},
        'shaft_length': 2 * _SIZE,
        'shaft_diameter': _SIZE / 5,
        'head_length': _SIZE / 2,
        'head_diameter': _SIZE / 2,
        'color': colour,
    }
    size = dict.fromkeys('xyz', _SIZE)
    return {
        'timestamp': _split(at_ns),
        'frame_id': place.frame,
        'id': f'memory/{record.id}',
        'lifetime': {'sec': 0, 'nsec': 0},
        'frame_locked': False,
        'metadata': [
            {'key': 'memory_id', 'value': str(record.id)},
            {'key': 'type', 'value': record.type},
            {'key': 'content', 'value': record.content},
        ],
        'arrows': [arrow] if turned else [],
        'cubes': [],
        'spheres': [{'pose': pose, 'size': size, 'color': colour}],
        'cylinders': [],
        'lines': [],
        'triangles': [],
        'texts': [label],
        'models': [],
    }


def _read_orientation(
    pose: Mapping[str, Any] | None, position: tuple[float, float, float]
) -> dict[str, float] | None:
    """Return the orientation of a measurement, where the position is the measurement's, too."""
    known = pose or {}
    turned, own = known.get('orientation'), known.get('position')
    if not isinstance(turned, list) or len(turned) != 4 or own != list(position):
        return None
    return dict(zip('xyzw', map(float, turned), strict=True))


def _make_figures(event: EventRow, memory_id: int, at_ns: int) -> Message:
    kind = event.names['kind'] or 'event'
    duration = None if event.end is None else (event.end - event.onset) / NANOSECONDS
    return Message(
        f'{ROOT}/figures/{_clean(kind)}',
        'robot_memory.Figures',
        at_ns,
        {
            'timestamp': _split(at_ns),
            'memory_id': memory_id,
            **({} if duration is None else {'duration': duration}),
            'figures': {name: value for name, value, _ in event.figures},
            'units': {name: unit for name, _, unit in event.figures},
        },
    )


def _make_picture(record: Record, part: Part, source: str, at_ns: int, shift_ns: int) -> Message:
    taken = part.name.rpartition('.')[2]
    taken_ns = int(taken) + shift_ns if taken.isdecimal() and taken.isascii() else at_ns
    assert part.content is not None
    return Message(
        f'{ROOT}/pictures/{source}',
        'foxglove.CompressedImage',
        taken_ns,
        {
            'timestamp': _split(taken_ns),
            'frame_id': record.frame_id or '',
            'data': base64.b64encode(part.content).decode(),
            'format': PICTURES[part.media_type],
        },
    )


def _sample(signal: Signal, memory_id: int, source: str, shift_ns: int) -> Iterator[Message]:
    """Yield the samples of a signal; a column `force.x` is `values.force.x`, to be plotted."""
    units: dict[str, Any] = {}
    for column, unit in zip(signal.columns, signal.units, strict=True):
        _put(units, column, unit)
    rows = zip((signal.stamps_ns + shift_ns).tolist(), signal.values.tolist(), strict=True)
    for at_ns, row in rows:
        values: dict[str, Any] = {}
        for column, value in zip(signal.columns, row, strict=True):
            _put(values, column, value if value - value == 0 else None)
        yield Message(
            f'{ROOT}/signals/{source}',
            'robot_memory.Signal',
            max(0, at_ns),
            {
                'timestamp': _split(max(0, at_ns)),
                'memory_id': memory_id,
                'values': values,
                'units': units,
            },
        )


def _put(values: dict[str, Any], column: str, value: Any) -> None:
    """Put a value under `force` and `x` for the column `force.x`."""
    group, _, name = column.partition('.')
    held = values.setdefault(group, {}) if name else values
    if isinstance(held, dict):
        held[name or group] = value


def _name_source(record: Record) -> str:
    """Return the topic that a perception was sensed on, without its slash, or its sense."""
    sense = record.context.get('sense')
    topic = sense.get('topic') if isinstance(sense, dict) else None
    name = topic if isinstance(topic, str) else record.perception_type or record.type
    return _clean(name.strip('/')) or record.type


def _clean(name: str) -> str:
    return ''.join(letter if letter.isalnum() or letter in '_-/.' else '_' for letter in name)


def _split(at_ns: int) -> dict[str, int]:
    seconds, rest = divmod(max(0, at_ns), NANOSECONDS)
    return {'sec': seconds, 'nsec': rest}
