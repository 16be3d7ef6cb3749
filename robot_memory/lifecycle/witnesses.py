"""Witnesses: what other topics measured of a contact that is stored already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

from robot_memory.core.authority import Writer
from robot_memory.core.json_text import dump_json
from robot_memory.storage import Connection
from robot_memory.storage.tables import audit, event_keys, payloads
from robot_memory.storage.tables.event_keys import Identity

CONTACT = 'contact'
"""The subject of what several sensors may feel at once."""
WITNESSES = 'witnesses'
"""The name in a memory's metadata under which the witnesses are listed."""
LEAST_OVERLAP = 0.5
PEAK_SHARE, PEAK_N = 0.25, 0.5
"""Two sensors agree on a peak within this share of it, and this force in N."""
LEAST_COSINE = 0.87
_FIGURES = ('kind', 'peak_force', 'peak_torque', 'peak_direction')


def find_witnessed(
    connection: Connection,
    identity: Identity,
    collection: str,
    frame_id: str | None,
    data: Any,
) -> int:
    """
    Return the memory of a contact of which an event is another topic's measurement; 0: of none.

    It is one of the same source and collection which the event overlaps by half of the longer of
    both, with a peak force that agrees; where both are told in one frame the direction does, too.
    """
    if identity.subject != CONTACT or not isinstance(data, dict):
        return 0
    best, found = 0.0, 0
    for memory_id, other in event_keys.list_overlapping(connection, identity, collection):
        longer = max(identity.end - identity.onset, other.end - other.onset, 1)
        common = min(identity.end, other.end) - max(identity.onset, other.onset)
        if common / longer < max(best, LEAST_OVERLAP):
            continue
        felt, metadata, frame = payloads.get_with_frame(connection, memory_id)
        if not isinstance(felt, dict) or not isinstance(metadata, dict):
            continue
        if _agree(data, felt, is_one_frame=bool(frame) and frame == frame_id):
            best, found = common / longer, memory_id
    return found


def are_of_one_peak(one: float, other: float) -> bool:
    """Say whether two forces in N may be measurements of one peak."""
    return abs(one - other) <= PEAK_SHARE * max(one, other) + PEAK_N


def _agree(one: Mapping[str, Any], other: Mapping[str, Any], *, is_one_frame: bool) -> bool:
    peaks = float(one.get('peak_force', 0.0)), float(other.get('peak_force', 0.0))
    if not are_of_one_peak(*peaks):
        return False
    if not is_one_frame:
        return True
    a, b = (list(data.get('peak_direction', ())) for data in (one, other))
    length = sqrt(sum(x * x for x in a) * sum(y * y for y in b))
    cosine = sum(x * y for x, y in zip(a, b, strict=False)) / length if length else 1.0
    return cosine >= LEAST_COSINE


def add_witness(
    connection: Connection,
    memory_id: int,
    identity: Identity,
    frame_id: str | None,
    data: Mapping[str, Any],
    writer: Writer,
    at: int,
) -> bool:
    """Enter a measurement in the memory of its contact; say whether it was new; `at` is in us."""
    _, metadata = payloads.get(connection, memory_id)
    known: Sequence[Mapping[str, Any]] = metadata.get(WITNESSES, ())
    if any((one['topic'], one['onset_ns']) == (identity.topic, identity.onset) for one in known):
        return False
    witness = {
        'topic': identity.topic,
        'frame_id': frame_id or '',
        'onset_ns': identity.onset,
        'peak_ns': identity.peak,
        'end_ns': identity.end,
        **{name: data[name] for name in _FIGURES if name in data},
    }
    metadata = {**metadata, WITNESSES: [*known, witness]}
    payloads.set_metadata(connection, memory_id, dump_json(metadata, 'metadata'))
    detail = {'witness': identity.topic, 'onset': identity.onset}
    audit.record(connection, memory_id, 'observed', writer, '', detail, at)
    return True


def move_witnesses(connection: Connection, before: int, memory_id: int) -> None:
    """Give the memory of the whole contact the witnesses of the one that was cut short."""
    metadata = payloads.get(connection, before)[1]
    known = metadata.get(WITNESSES) if isinstance(metadata, dict) else None
    if known:
        _, metadata = payloads.get(connection, memory_id)
        text = dump_json({**metadata, WITNESSES: known}, 'metadata')
        payloads.set_metadata(connection, memory_id, text)
