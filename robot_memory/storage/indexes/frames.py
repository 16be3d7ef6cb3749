"""
The coordinate frame of a position in a memory's context.

It is the `frame_id` that stands beside the position, or in an object around it, the nearest first;
else the frame of the memory itself (of perceptions, that of the measurement). A leading slash, as
of ROS 1, does not count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from robot_memory.core.records import Record
from robot_memory.storage.indexes.filters import Where, json_path

_LATEST = (
    'coalesce((SELECT o.context FROM observations AS o WHERE o.memory_id = m.id'
    " AND o.ended_by IS NULL AND o.newer AND json_type(o.context, ?) = 'array'"
    ' ORDER BY o.id DESC LIMIT 1), m.context)'
)
"""SQL of the newest context of a memory with an array at a path, which it binds."""
UNKNOWN = 'unknown'
"""What a position without a frame is counted under."""


def strip_slash(frame_id: str) -> str:
    """Return the name of a frame without a leading slash."""
    return frame_id.lstrip('/')


def restrict_to_frame(field: str, frame_id: str) -> Where:
    """Return the condition that the position at a dotted path is in a frame."""
    paths = [json_path('spatial_sort.field', path) for path in _frame_paths(field)]
    known = ''.join(
        f"iif(json_type({_LATEST}, ?) = 'text',"
        f" nullif(ltrim(json_extract({_LATEST}, ?), '/'), ''), NULL), "
        for _ in paths
    )
    sql = f"coalesce({known}ltrim(m.frame_id, '/'), '') = ?"
    place = json_path('spatial_sort.field', field)
    values = (value for path in paths for value in (place, path) * 2)
    return Where(sql, (*values, strip_slash(frame_id)))


def count_frames(field: str, records: Iterable[Record]) -> dict[str, int] | None:
    """Return how many positions are in which frame, the commonest first; None of one frame."""
    counts = Counter(_find_frame(field, record) or UNKNOWN for record in records)
    return dict(counts.most_common()) if len(counts) > 1 else None


def _frame_paths(field: str) -> list[str]:
    """Return the paths where the frame of a position may be named, the nearest first."""
    steps = field.split('.')[:-1]
    return ['.'.join((*steps[:length], 'frame_id')) for length in range(len(steps), -1, -1)]


def _find_frame(field: str, record: Record) -> str:
    for path in _frame_paths(field):
        found: Any = record.context
        for step in path.split('.'):
            if isinstance(found, dict):
                found = found.get(step)
            elif isinstance(found, list) and step.isdecimal() and int(step) < len(found):
                found = found[int(step)]
            else:
                found = None
        if isinstance(found, str) and strip_slash(found):
            return strip_slash(found)
    return strip_slash(record.frame_id or '')
