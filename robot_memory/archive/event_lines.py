"""The line of an event whose memory was folded, declared and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from robot_memory.archive.lines import FARTHEST, LONGEST_TEXT, OriginField
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import RESERVED, Json, arg, parse
from robot_memory.core.json_text import MAX_INTEGER, format_value, parse_finite


@dataclass(frozen=True)
class EventLine:
    """One event whose memory was folded."""

    kind: str = arg('Line kind: event.', choices=('event',))
    id: int = arg('Id of the event, once of its memory.', minimum=1, maximum=MAX_INTEGER)
    origin: Json = arg('Store id and memory id where it was first stored.', shape='object')
    digest: int = arg('Memory id of its digest.', minimum=1, maximum=MAX_INTEGER)
    event_kind: str = arg('Kind of the event.', min_length=1, max_length=256)
    collection: str = arg('Collection.', min_length=1, max_length=128, without=RESERVED)
    onset: int = arg('Nanoseconds.', minimum=-FARTHEST, maximum=FARTHEST)
    peak: int = arg('Nanoseconds.', minimum=-FARTHEST, maximum=FARTHEST)
    figures: Json = arg('Names, units and values.', shape='container')
    active: bool = arg('Whether it is in answers.')
    broken_off: bool = arg('Whether the stream ended before the event did.')
    end: int | None = arg('Nanoseconds.', default=None, minimum=-FARTHEST, maximum=FARTHEST)
    label: str | None = arg('Finer word.', default=None, max_length=256)
    topic: str | None = arg('Topic name.', default=None, max_length=LONGEST_TEXT)
    task: str | None = arg('Task.', default=None, max_length=256)
    session: str | None = arg('Session id.', default=None, max_length=LONGEST_TEXT)
    robot: str | None = arg('Robot id.', default=None, max_length=256)
    recording: str | None = arg('Recording.', default=None, max_length=256)
    recording_offset: int | None = arg(
        'Nanoseconds.', default=None, minimum=-FARTHEST, maximum=FARTHEST
    )
    frame: str | None = arg('Coordinate frame.', default=None, max_length=LONGEST_TEXT)
    source: str | None = arg('Source of the event.', default=None, max_length=LONGEST_TEXT)
    subject: str | None = arg('Detector and its subject.', default=None, max_length=LONGEST_TEXT)
    look: str | None = arg('Perceptual hash of the image.', default=None, max_length=LONGEST_TEXT)


def parse_event_line(values: Mapping[str, Any]) -> EventLine:
    """Check the line of a folded event; raise InvalidArgument."""
    line = parse(EventLine, values, 'an event')
    parse(OriginField, line.origin, 'origin')
    named = {one[0] for one in line.figures if _is_figure(one)}
    if not isinstance(line.figures, list) or len(named) < len(line.figures):
        raise InvalidArgument(
            f'figures must be [name, unit, value] once a name, not {format_value(line.figures)}'
        )
    return line


def _is_figure(given: Any) -> bool:
    return (
        isinstance(given, list)
        and len(given) == 3
        and all(isinstance(text, str) and len(text) <= 256 for text in given[:2])
        and parse_finite(given[2]) is not None
    )
