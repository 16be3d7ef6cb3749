"""Taking what an erasure names out of a store, or out of a backup of it, in one transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from robot_memory.background.digests import DigestKey, make_digest
from robot_memory.core.authority import Writer
from robot_memory.core.records import Record
from robot_memory.storage import Connection
from robot_memory.storage.events.fields import Fields
from robot_memory.storage.events.pages import read_events
from robot_memory.storage.tables import erasable, erased_texts, erasing, memories, tombstones
from robot_memory.storage.tables.doomed import Doomed
from robot_memory.storage.tables.erased_texts import Sought
from robot_memory.storage.tables.folding import Candidate

_HOUR = 3600 * 10**9


@dataclass(frozen=True)
class Order:
    """Say which erasure takes what, by whom, why, when, and the zone of texts of digests."""

    erasure: int
    doomed: Doomed
    writer: Writer
    reason: str
    at: int
    zone: ZoneInfo


@dataclass(frozen=True)
class Taken:
    """Hold what is told of texts that are gone: those said, and the words to look for."""

    said: list[str]
    words: Sought


def read_texts(connection: Connection, doomed: Doomed) -> Taken:
    """Return the texts of what is to be erased."""
    said: list[str] = []
    texts: list[str] = []
    for memory_id in doomed.memories:
        said += erased_texts.read_said(connection, memory_id)
        texts += erased_texts.read_memory(connection, memory_id)
    for memory_id in doomed.kept:
        texts += erased_texts.read_memory(connection, memory_id)
    for observation in (
        *doomed.observations,
        *erasable.find_copies(connection, doomed.memories),
    ):
        texts += erased_texts.read_observation(connection, observation)
    for revision in doomed.revisions:
        texts += erased_texts.read_revision(connection, revision)
    for proposal in doomed.proposals:
        texts += erased_texts.read_proposal(connection, proposal)
    for session_id in doomed.sessions:
        texts += erased_texts.read_session(connection, session_id)
    return Taken(said, erased_texts.find_words(texts))


def erase(connection: Connection, order: Order) -> dict[str, int]:
    """
    Erase all that an order names and that is there; return how many of what.

    An earlier state or a taken over observation that a backup does not have yet is a present
    state there: the memory goes.
    """
    doomed = order.doomed
    there = _find_there(connection, doomed)
    owned = erasable.find_owned(connection, there)
    touched: set[int] = set()
    copies = erasable.find_copies(connection, there)
    for observation in (*doomed.observations, *copies):
        tombstones.put_observation(connection, order.erasure, observation)
        touched.add(erasing.remove_observation(connection, observation) or 0)
    touched.update(erasing.remove_revisions(connection, [*doomed.revisions]))
    erasing.remove_proposals(connection, doomed.proposals)
    for memory_id, observation in doomed.kept.items():
        if memory_id not in there:
            erasing.take_over(connection, memory_id, observation)
            touched.add(memory_id)
    digests = {
        erasing.remove_folded(connection, order.erasure, event) or 0 for event in doomed.events
    }
    erasing.unlink_superseded(connection, there, order.writer, order.at)
    for memory_id in there:
        erasing.remove_memory(connection, order.erasure, memory_id)
    emptied = [
        digest
        for digest in sorted(digests - {0, *there})
        if not _remake(connection, digest, order.zone)
    ]
    erasing.unlink_superseded(connection, emptied, order.writer, order.at)
    for digest in emptied:
        erasing.remove_memory(connection, order.erasure, digest)
    gone = [*there, *emptied]
    touched.update(digests, erasing.forget_lines(connection, doomed.lines))
    changed = sorted(touched - {0, *gone})
    _seal(connection, order, changed)
    sessions = sum(erasing.remove_session(connection, one) for one in doomed.sessions)
    if gone or changed or doomed.events or sessions:
        erasing.remove_orphans(connection)
    erasing.note_erased(connection, gone, order.writer, order.reason, order.at)
    return count(doomed, len(gone), copies, owned, sessions)


def count(
    doomed: Doomed,
    gone: int,
    copies: Iterable[int],
    owned: Mapping[str, Collection[int]],
    sessions: int,
) -> dict[str, int]:
    """
    Return how many of what an erasure takes, for its preview and for its receipt.

    `gone` is the number of its memories, `copies` are observations that merges made of these, and
    `owned` what these have by table.
    """
    return {
        'memories': gone,
        'kept': len(doomed.kept),
        'observations': len({*doomed.observations, *copies, *owned['observations']}),
        'revisions': len({*doomed.revisions, *owned['revisions']}),
        'parts': len(owned['parts']),
        'events': len(doomed.events),
        'sessions': sessions,
    }


def _find_there(connection: Connection, doomed: Doomed) -> list[int]:
    """Return the memories to remove that a store has."""
    found = dict.fromkeys(erasable.find_created(connection, doomed.created))
    # What is folded here may be whole in a backup.
    found.update(dict.fromkeys(erasable.find_whole(connection, doomed.events)))
    found.update(dict.fromkeys(erasable.find_unobserved(connection, doomed.kept)))
    found.update(dict.fromkeys(erasable.find_unrevised(connection, doomed.revisions)))
    return sorted(found)


def _seal(connection: Connection, order: Order, ids: Iterable[int]) -> None:
    """Index memories that stay again, and say in the audit that a part of them was erased."""
    there = memories.get(connection, ids)
    for memory_id in there:
        erasing.index_again(connection, memory_id)
        erasing.seal(connection, memory_id, erasing.ERASED, order.writer, order.reason, order.at)


def _remake(connection: Connection, digest: int, zone: ZoneInfo) -> bool:
    """Compute a digest anew from the events that are left; say whether there are any."""
    found = memories.get(connection, [digest]).get(digest)
    ids = erasing.list_folded(connection, digest)
    if found is None or not ids:
        return found is None
    events = read_events(connection, Fields.read(connection), ids)
    key = _make_key(found, events[0].onset)
    candidate = Candidate(
        digest,
        events[0].onset,
        found.collection,
        found.session_id,
        found.actor_id,
        key.robot,
        key.world,
        found.authority,
        found.confidence,
        found.perception_type or '',
        None,
    )
    new = make_digest(key, [candidate], events, zone, found.created_at)
    erasing.rewrite_digest(connection, found, new)
    return True


def _make_key(digest: Record, onset: int) -> DigestKey:
    robot, world = digest.context.get('robot') or {}, digest.context.get('env') or {}
    return DigestKey(
        onset // _HOUR,
        digest.collection,
        digest.session_id,
        digest.actor_id,
        robot.get('id'),
        world.get('sim_or_real'),
        None,
    )
