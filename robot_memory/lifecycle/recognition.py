"""Which known event a perception is: the same one again, or another sensor's of a contact."""

from __future__ import annotations

from typing import Any

from robot_memory import detectors
from robot_memory.lifecycle.witnesses import CONTACT, are_of_one_peak, find_witnessed
from robot_memory.storage import Connection
from robot_memory.storage.tables import event_keys, payloads, tombstones
from robot_memory.storage.tables.event_keys import Identity

SAME_PICTURE_NS = 500_000_000
"""Pictures of one camera that look alike and are this near in time show the same moment."""
_READING = 'raw_peak_force'
"""The greatest reading of a contact in N, whatever the baseline."""


def recognize(
    connection: Connection, identity: Identity, collection: str, frame_id: str | None, data: Any
) -> tuple[int, bool, int]:
    """
    Return what _find_known does, and the contact that it is another measurement of, or 0.

    What was erased is known as memory 0.
    """
    if tombstones.has_event(connection, identity):
        return 0, True, 0
    known, is_enough = _find_known(connection, identity, collection, data)
    if known:
        return known, is_enough, 0
    return 0, False, find_witnessed(connection, identity, collection, frame_id, data)


def _find_known(
    connection: Connection, identity: Identity, collection: str, data: Any
) -> tuple[int, bool]:
    """
    Return the newest memory of the same event in a collection, 0 where there is none.

    And whether it is enough: it is not where it was broken off and the event is whole now.
    """
    slack = SAME_PICTURE_NS if identity.look else 0
    same = [
        (memory_id, known)
        for memory_id, known in event_keys.around(connection, identity, collection, slack)
        if _is_same_event(identity, known)
        and _is_of_one_run(connection, identity, memory_id, known, data)
    ]
    if not same:
        return 0, False
    memory_id, known = same[-1]
    return memory_id, identity.broken_off or not known.broken_off


def _is_same_event(one: Identity, other: Identity) -> bool:
    """Say whether two events of the same source, topic and subject are one."""
    if one.look and other.look and detectors.is_same_view(one.look, other.look):
        return abs(one.peak - other.peak) <= SAME_PICTURE_NS
    if one.look or other.look:
        return False
    return one.onset == other.onset or one.peak == other.peak or one.end == other.end


def _is_of_one_run(
    connection: Connection, identity: Identity, memory_id: int, known: Identity, data: Any
) -> bool:
    """
    Say whether a contact has about the readings that a known one with the same peak has.

    A simulation that begins at zero again gives other readings with the same stamps.
    """
    if identity.subject != CONTACT or identity.peak != known.peak or not isinstance(data, dict):
        return True
    felt = payloads.get(connection, memory_id)[0]
    peaks = [one.get(_READING) for one in (data, felt) if isinstance(one, dict)]
    readings = [float(peak) for peak in peaks if isinstance(peak, int | float)]
    # About: a run that begins late, or ends early, may have missed the greatest one.
    return len(readings) < 2 or are_of_one_peak(*readings)
