"""Events as the tools answer them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from robot_memory.core.fields import arg
from robot_memory.core.truncation import shorten
from robot_memory.core.zones import format_measured
from robot_memory.retrieval.place_views import PLACE, PlaceView

if TYPE_CHECKING:
    from robot_memory.retrieval.near import NearSearch
    from robot_memory.storage.events.pages import EventRow

READ_AS = (
    'What was read in the query, e.g. "contacts, peak force over 5 N, newest first"; says if '
    'nothing is stored of its time.'
)
NO_MATCH = 'True if no event passes what was read: the memories are those of a plain search.'
EVENTS = 'Events that pass what was read, in its order; their memories come first.'
AGGREGATE = 'The count, mean, sum, ... that the query asks for.'
AGGREGATE_IDS = 'Ids of the events that the aggregate rests on; the first 1,000.'
"""What the fields of an answer say that `describe_asked` fills."""
LINKED = (
    'Events linked to it, at most 10: its task, session, outcome, pictures, and what was at the '
    'same time.'
)
LINKED_TOTAL = 'Number of linked events that there are, up to 200.'
"""What the fields of an answer say that `describe_linked` fills."""


@dataclass(frozen=True)
class FigureView:
    """A number with a name and a unit."""

    name: str = arg('Name, e.g. peak_force or mean.')
    value: float = arg('Value in that unit.')
    unit: str = arg('Unit, e.g. N; empty: none.')


@dataclass(frozen=True)
class EventView:
    """One event."""

    event_id: int = arg('Id of the event; that of its memory, negative of a session.')
    memory_id: int | None = arg(
        'Memory id for show and recall; of a folded event that of its digest.'
    )
    kind: str = arg('contact, motion, scene, session, perception or a detector.')
    label: str | None = arg('Finer word of the detector, e.g. push.')
    topic: str | None = arg('Topic that it was measured on.')
    frame_id: str | None = arg('Coordinate frame of the measurement.')
    robot: str | None = arg('Robot, context robot.id.')
    session_id: str | None = arg('Session id.')
    task: str | None = arg('Task, context task.name, else its instruction.')
    collection: str = arg('Collection.')
    recording: str | None = arg('Recording that it is in.')
    recording_offset: float | None = arg('Offset of the onset into the recording, in seconds.')
    start: str = arg('Measured onset, ISO 8601 with the offset of time_zone.', typed='instant')
    peak: str = arg('Its strongest moment.', typed='instant')
    end: str | None = arg('Its end; none while it lasts.', typed='instant')
    duration: float | None = arg('Seconds from start to end.')
    broken_off: bool = arg('True if its end was not seen.')
    figures: tuple[FigureView, ...] = arg('Figures of the detector.')
    text: str | None = arg('Text of the memory; none of a folded one.')
    near: PlaceView | None = arg(PLACE, default=None, omitted=True)


@dataclass(frozen=True)
class LinkedEventView:
    """One event that is linked to another."""

    event_id: int | None = arg('Id of the event; none of an outcome that is a fact.')
    memory_id: int | None = arg('Memory id for show and recall.')
    kind: str = arg('contact, motion, scene, task, session, perception, a detector, or fact.')
    label: str | None = arg('Finer word, e.g. push; of an outcome, success or failure.')
    relation: str = arg(
        'during (this task or session), within (it, of a task or session), outcome (of its task), '
        'picture (within 5 s), at the same time, shortly before or after (within 1 s, 5 s of a '
        'picture).'
    )
    start: str = arg('Measured onset, ISO 8601 with the offset of time_zone.', typed='instant')
    duration: float | None = arg('Seconds from start to end; none while it lasts.')
    text: str | None = arg('Text of its memory; of a session, its task, id and outcome score.')


def view_event(
    event: EventRow, zone: ZoneInfo, room: int, around: NearSearch | None = None
) -> EventView:
    """Return an event with its times in a zone and a text of at most `room` characters."""
    lasted = None if event.end is None else (event.end - event.onset) / 1e9
    times = [
        None if time is None else format_measured(time, zone)
        for time in (event.onset, event.peak, event.end)
    ]
    offset = event.recording_offset
    return EventView(
        event_id=event.id,
        memory_id=event.memory_id,
        kind=event.names['kind'] or '',
        label=event.names['label'],
        topic=event.names['topic'],
        frame_id=event.names['frame_id'],
        robot=event.names['robot'],
        session_id=event.names['session_id'],
        task=event.names['task'],
        collection=event.names['collection'] or '',
        recording=event.names['recording'],
        recording_offset=None if offset is None else offset / 1e9,
        start=times[0] or '',
        peak=times[1] or '',
        end=times[2],
        duration=lasted,
        broken_off=event.broken_off,
        figures=tuple(FigureView(*figure) for figure in event.figures),
        text=None if event.text is None else shorten(event.text, room),
        near=None if around is None else around.view_id(event.memory_id),
    )


def read_arg() -> Any:
    """Declare whether a query is read."""
    return arg(
        'auto: read times, events, bounds, order and counts in the query; off: search.',
        default='auto',
        choices=('auto', 'off'),
    )
