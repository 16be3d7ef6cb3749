"""What a message on ~/events says; its pose is written by hand: no field is one."""

from __future__ import annotations

from dataclasses import dataclass

from robot_memory.core.fields import Stamp, arg
from robot_memory.core.records import Record
from robot_memory.retrieval.event_views import FigureView
from robot_memory.ros.typed_fields import list_pose
from robot_memory.storage.events.pages import EventRow


@dataclass(frozen=True)
class KeptEvent:
    """One memory that was kept."""

    memory_id: int = arg('Memory id for show and recall.')
    stamp: Stamp = arg('Time of the measurement, by its own clock; else when it was kept.')
    has_stamp: bool = arg('True if it was measured: 0 is a legal simulated stamp.')
    frame_id: str = arg('Coordinate frame of the measurement, and of the pose; empty: not set.')
    kind: str = arg('contact, motion, scene, perception, task, fault or a detector; fact or turn.')
    label: str = arg('Finer word of the detector, e.g. push; empty: none.')
    figures: tuple[FigureView, ...] = arg('Figures of the detector.')
    text: str = arg('Text of the memory.')
    collection: str = arg('Collection.')
    session_id: str = arg('Session id; empty: none.')


POSE_LINES = (
    '# Pose at the time of the measurement, in frame_id.',
    'geometry_msgs/Pose pose',
    *(line for field in list_pose('pose', is_answer=True) for line in field.lines),
)
"""What the message has beside the fields above."""


def describe_kept(record: Record, event: EventRow | None) -> KeptEvent:
    """Return what is published of a memory, and of its event where it is one."""
    stamp = record.created_at * 1000 if record.stamp is None else record.stamp
    pose_frame = (record.pose or {}).get('frame_id')
    return KeptEvent(
        memory_id=record.id,
        stamp=Stamp(stamp),
        has_stamp=record.stamp is not None,
        frame_id=(pose_frame if isinstance(pose_frame, str) else None) or record.frame_id or '',
        kind=(event.names['kind'] if event else None) or record.type,
        label=(event.names['label'] if event else None) or '',
        figures=tuple(FigureView(*figure) for figure in event.figures) if event else (),
        text=record.content,
        collection=record.collection,
        session_id=record.session_id or '',
    )
