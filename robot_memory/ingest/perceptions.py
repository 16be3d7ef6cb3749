"""How an event becomes a perception: its words, its figures, its place and its payload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from robot_memory.detectors import Event, PoseLookup, TextEvent
from robot_memory.detectors.signal import MEDIA_TYPE
from robot_memory.detectors.text import name_level
from robot_memory.ingest.results import LearnedText
from robot_memory.ingest.stamps import Dating
from robot_memory.ingest.tap import DETECTORS, Tap
from robot_memory.lifecycle.perceptions import Perception
from robot_memory.storage.tables.event_keys import Identity
from robot_memory.storage.tables.parts import Part

_FIGURES = {
    'peak_force': 'force',
    'mean_force': 'force',
    'impulse': 'impulse',
    'peak_torque': 'torque',
    'duration_s': 'time',
    'peak_speed': 'speed',
    'peak_effort': 'effort',
    'residual': 'effort',
    'travel': 'position',
    'changed_share': 'share',
    'turned': 'turned',
}
"""
What of an event's data `context_filter` can ask for, as params.NAME.value, and its quantity.

Of several joints it is the sum; of a plug-in's detector it is what has a unit.
"""


def make_perception(
    event: Event,
    tap: Tap,
    topic: str,
    source: str,
    ongoing_texts: Sequence[str],
    place: PoseLookup | None,
    demonstration: str,
    stamped_by: str,
    *,
    stamp_is_local: bool,
) -> Perception:
    """Return an event of a tap as what the memory keeps; `stamped_by` is empty for the header."""
    words = event.description
    if demonstration:
        words = f'Demonstration of {demonstration}: {words}'
    if ongoing_texts:
        words = f'{words}; meanwhile: {"; ".join(ongoing_texts)}'
    data = dict(event.data)
    pose = None
    if place is not None and place.pose is None:
        data['place'] = f'unknown: {place.reason}'
    elif place is not None and place.pose is not None:
        pose = {
            'position': list(place.pose.position),
            'orientation': list(place.pose.orientation),
            'frame_id': place.frame_id,
        }
        if place.covariance is not None:
            pose['covariance'] = list(place.covariance)
    return Perception(
        description=words[:2000],
        perception_type='procedural' if demonstration else event.perception_type,
        collection=tap.settings.collection,
        stamp=event.stamp_ns,
        frame_id=event.frame_id or None,
        pose=pose,
        context=_make_context(
            event, tap, topic, source, stamped_by, ongoing_texts, pose, demonstration
        ),
        data=data,
        metadata={
            **event.metadata,
            'topic': topic,
            'end_ns': event.end_ns,
            'stamped_by': stamped_by or 'header',
        },
        parts=tuple(_list_parts(event)),
        identity=Identity(
            source,
            topic,
            event.subject,
            event.stamp_ns,
            event.peak_ns,
            event.end_ns,
            str(event.data.get('look', '')),
            event.broken_off,
        ),
        stamp_is_local=stamp_is_local,
        confidence=event.confidence,
    )


def make_learned_text(
    event: TextEvent,
    tap: Tap,
    topic: str,
    source: str,
    recorded: Mapping[str, Any],
    dating: Dating,
) -> LearnedText:
    """Return a text of a topic as what is learned; `recorded` names where in a recording it is."""
    origin: dict[str, Any] = {'topic': topic, 'detector': 'text', 'stamp_ns': event.stamp_ns}
    if event.is_fault:
        origin |= {'kind': 'fault', 'level': name_level(event.level), 'logger': event.logger}
    if source:
        origin['source'] = source
    origin |= recorded
    if dating.stamped_by:
        origin['stamped_by'] = dating.stamped_by
    return LearnedText(
        event.text,
        {'sense': origin},
        tap.settings.collection,
        event.stamp_ns,
        dating.is_local,
        'observation' if event.is_fault else '',
        'fault' if event.is_fault else 'task',
    )


def _make_context(
    event: Event,
    tap: Tap,
    topic: str,
    source: str,
    stamped_by: str,
    ongoing_texts: Sequence[str],
    pose: dict[str, Any] | None,
    demonstration: str,
) -> dict[str, Any]:
    origin: dict[str, Any] = {
        'topic': topic,
        'detector': event.kind or tap.detector,
        'source': source,
        'stamped_by': stamped_by,
    }
    if 'kind' in event.data:
        origin['kind'] = event.data['kind']
    if event.data.get('fault'):
        origin['fault'] = True
    units = event.metadata['units']
    figures = {
        name: {'value': _add_up(event.data[name]), 'unit': units.get(quantity, '')}
        for name, quantity in _FIGURES.items()
        if event.data.get(name)
    }
    if tap.detector not in DETECTORS:
        figures |= {
            name: {'value': value, 'unit': units[name]}
            for name, value in event.data.items()
            if name in units and isinstance(value, (int, float))
        }
    task = {'instruction': list(ongoing_texts)} if ongoing_texts else {}
    if demonstration:
        task['demonstration'] = [demonstration]
    context: dict[str, Any] = {'sense': {key: value for key, value in origin.items() if value}}
    if figures:
        context['params'] = figures
    if task:
        context['task'] = {
            key: value[0] if len(value) == 1 else value for key, value in task.items()
        }
    if pose is not None:
        context['spatial'] = {'position': pose['position'], 'frame_id': pose['frame_id']}
    return context


def _add_up(value: Any) -> Any:
    return round(sum(value), 4) if isinstance(value, list) else value


def _list_parts(event: Event) -> list[Part]:
    found = []
    if event.signal is not None:
        found.append(('signal', MEDIA_TYPE, event.signal.to_npz()))
    if event.picture is not None:
        found.append(('picture', 'image/jpeg', event.picture.jpeg))
    for number, picture in enumerate(event.film):
        found.append((f'film.{number:02}.{picture.stamp_ns}', 'image/jpeg', picture.jpeg))
    return [Part(name, kind, len(content), content) for name, kind, content in found]
