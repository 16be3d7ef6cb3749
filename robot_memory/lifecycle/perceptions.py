"""Perceptions: stored with row, index entries, vector and payload in one transaction."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from robot_memory.core.authority import Writer
from robot_memory.core.errors import RobotMemoryError, Unavailable
from robot_memory.core.json_text import dump_json
from robot_memory.core.places import check_spatial
from robot_memory.core.records import Record, make_record
from robot_memory.embedding.text_vectors import TextVectors
from robot_memory.lifecycle.authority import calling, may_change
from robot_memory.lifecycle.classification import classify_measured
from robot_memory.lifecycle.maps import mark_context, mark_position
from robot_memory.lifecycle.no_record import refuse_unrecorded
from robot_memory.lifecycle.recognition import recognize
from robot_memory.lifecycle.witnesses import add_witness, move_witnesses
from robot_memory.memory import Memory
from robot_memory.storage import Connection, remembered
from robot_memory.storage.indexes import entries
from robot_memory.storage.tables import (
    audit,
    events,
    memories,
    parts,
    payloads,
    sessions,
    transforms,
)
from robot_memory.storage.tables.event_keys import Identity
from robot_memory.storage.tables.parts import PACKED, Limits, Part
from robot_memory.storage.tables.transforms import Edge
from robot_memory.text.categories import PROTECTED, classify

_Made = TypeVar('_Made')

_INLINE = 4096
"""Characters of JSON that are stored beside the memory; longer JSON becomes a part."""


@dataclass(frozen=True)
class Perception:
    """
    Hold what is to be stored: `stamp` in nanoseconds, `pose` in metres, the rest plain JSON.

    With an `identity` it is stored once, however often it is given. `stamp_is_local`: the stamp is
    by this host's clock, and is corrected with it. `confidence`: None for that of its words.
    `transforms` are the tree of tf at the stamp, where it is known.
    """

    description: str
    perception_type: str
    collection: str = 'default'
    session_id: str | None = None
    stamp: int | None = None
    frame_id: str | None = None
    pose: dict[str, Any] | None = None
    context: dict[str, Any] = field(default_factory=dict)
    data: Any = None
    metadata: Any = None
    parts: Sequence[Part] = ()
    identity: Identity | None = None
    stamp_is_local: bool = False
    confidence: float | None = None
    transforms: Sequence[Edge] = ()


@dataclass(frozen=True)
class StoredPerception:
    """
    Name the memory of a perception; it is `new`, or was known before.

    What was erased is memory 0. A `witness` is another topic's measurement of that memory's
    contact, and was not known before.
    """

    memory_id: int
    new: bool
    has_vector: bool
    witness: bool = False


@dataclass(frozen=True)
class _Prepared:
    """
    Hold a perception that may be stored, and the vectors that were made of it.

    Those of one that `is_embedded` are in the store.
    """

    perception: Perception
    vectors: TextVectors | None
    is_embedded: bool = False


def store_perception(memory: Memory, perception: Perception) -> StoredPerception:
    """
    Store a perception, unless it is known by its identity.

    A known one that was cut short by the end of its stream is superseded by the whole. A contact
    that another topic measured before is entered there as a witness. Raise NotFound for a session
    that does not exist, Unavailable if the store cannot be written now, Conflict where nothing is
    recorded now.
    """
    prepared = _prepare(memory, perception, looks_up=True)
    if isinstance(prepared, StoredPerception):
        return prepared
    with memory.db.write() as connection:
        stored = _insert(memory, connection, prepared)
    if stored.new:
        memory.folder.note_stored()
    return stored


def store_together(
    memory: Memory, given: Sequence[tuple[Writer, Perception]]
) -> list[StoredPerception | RobotMemoryError]:
    """
    Store perceptions in one transaction, in their order, and return what became of each.

    One that is refused leaves nothing, and takes no other along. Where another error is raised, as
    Unavailable if the store cannot be written now, none of them is stored.
    """
    prepared = [_try(writer, partial(_prepare, memory, one)) for writer, one in given]
    writers = [writer for writer, _ in given]
    while True:
        try:
            kept = _insert_together(memory, writers, prepared)
        except _Refused as refused:
            for place, error in refused.errors.items():
                prepared[place] = error
        else:
            break
    memory.folder.note_stored(sum(isinstance(one, StoredPerception) and one.new for one in kept))
    return kept


class _Refused(Exception):
    """Tell the errors of perceptions that are refused, by their places, and roll back."""

    def __init__(self, errors: Mapping[int, RobotMemoryError]) -> None:
        self.errors = errors


def _insert_together(
    memory: Memory,
    writers: Sequence[Writer],
    prepared: Sequence[_Prepared | StoredPerception | RobotMemoryError],
) -> list[StoredPerception | RobotMemoryError]:
    """Insert perceptions in one transaction; raise _Refused where any is refused."""
    # Without a savepoint for each, which SQLite writes to a file outside of the store's folder.
    kept: list[StoredPerception | RobotMemoryError] = []
    refused: dict[int, RobotMemoryError] = {}
    with memory.db.write() as connection, remembered.remember():
        for place, (writer, one) in enumerate(zip(writers, prepared, strict=True)):
            if not isinstance(one, _Prepared):
                kept.append(one)
                continue
            found = _try(writer, partial(_insert, memory, connection, one))
            if isinstance(found, RobotMemoryError):
                refused[place] = found
            kept.append(found)
        if refused:
            raise _Refused(refused)
    return kept


def _try(writer: Writer, act: Callable[[], _Made]) -> _Made | RobotMemoryError:
    """Return what a writer's act makes, or the error by which it is refused."""
    try:
        with calling(writer):
            return act()
    except Unavailable:
        raise
    except RobotMemoryError as error:
        return error


def _prepare(
    memory: Memory, perception: Perception, *, looks_up: bool = False
) -> _Prepared | StoredPerception:
    """
    Make the vectors of a perception; one that is known is returned as stored.

    Unless it `looks_up`, a known one is found where vectors are to be made, else when it is
    inserted. Raise InvalidArgument, and Conflict where nothing is recorded now.
    """
    refuse_unrecorded(memory, 'save_perception', perception.frame_id or '', perception.pose)
    check_spatial(perception.context)
    identity, text = perception.identity, perception.description
    if identity is None:
        return _Prepared(perception, memory.embed_passage(text))
    if not looks_up:
        vectors = memory.vectorizer.find_form(text)
        if vectors is not None or memory.embedder.get_if_loaded() is None:
            return _Prepared(perception, vectors)
    with memory.db.read() as connection:
        known, is_enough, witnessed = _recognize(connection, perception, identity)
        is_embedded = not is_enough and _is_embedded(memory, connection, perception)
    if is_enough:  # before a vector is made, which takes longer than all the rest
        return StoredPerception(known, new=False, has_vector=False)
    vectors = None if witnessed or is_embedded else memory.vectorizer.embed_form(text)
    return _Prepared(perception, vectors, is_embedded)


def _insert(memory: Memory, connection: Connection, prepared: _Prepared) -> StoredPerception:
    """Store a perception in the caller's transaction, as `store_perception` does."""
    perception, identity = prepared.perception, prepared.perception.identity
    known = 0
    if identity is not None:
        known, is_enough, witnessed = _recognize(connection, perception, identity)
        if witnessed:
            added = add_witness(
                connection,
                witnessed,
                identity,
                perception.frame_id,
                perception.data,
                memory.caller,
                memory.clock(),
            )
            return StoredPerception(witnessed, new=False, has_vector=False, witness=added)
        if is_enough:
            return StoredPerception(known, new=False, has_vector=False)
    now = memory.clock()
    context = sessions.inherit(connection, perception.session_id, perception.context)
    perception = _mark_map(connection, perception)
    context = mark_context(connection, context, perception.frame_id, perception.stamp)
    record = _make_record(perception, context, now, memory.caller)
    usable = memory.match_embedder(connection) is not None
    payload = _pack_payload(perception)
    memory_id = memories.insert(
        connection, record, prepared.vectors if usable else None, payload.describe()
    )
    _insert_payload(memory, connection, memory_id, record, payload)
    events.insert(connection, memory_id, record, identity)
    if perception.transforms and perception.stamp is not None:
        source = '' if identity is None else identity.source
        transforms.put_tree(connection, source, perception.stamp, perception.transforms)
    before = memories.get(connection, [known]).get(known) if known else None
    writer = memory.caller
    if before is not None and before.status == 'active' and may_change(before, writer):
        reason = 'complete event received'
        memories.retire(connection, known, 'superseded', writer, reason, now, memory_id)
        move_witnesses(connection, known, memory_id)
    has_vector = usable and (prepared.is_embedded or prepared.vectors is not None)
    return StoredPerception(memory_id, new=True, has_vector=has_vector)


def _recognize(
    connection: Connection, perception: Perception, identity: Identity
) -> tuple[int, bool, int]:
    place, frame_id = perception.collection, perception.frame_id
    return recognize(connection, identity, place, frame_id, perception.data)


def _is_embedded(memory: Memory, connection: Connection, perception: Perception) -> bool:
    """Say whether the store has the vectors of a detector's sentence, by the loaded model."""
    return memory.match_embedder(connection) is not None and entries.knows_vectors(
        connection,
        'perception',
        perception.collection,
        perception.description,
        perception.context,
    )


def _mark_map(connection: Connection, perception: Perception) -> Perception:
    """Return a perception whose pose says of which map it is, where its frame has one."""
    pose = perception.pose
    if pose is None:
        return perception
    frame = str(pose.get('frame_id') or perception.frame_id or '')
    return replace(perception, pose=mark_position(connection, pose, frame, perception.stamp))


def _make_record(
    perception: Perception, context: dict[str, Any], now: int, caller: Writer
) -> Record:
    found = (classify_measured if 'sense' in context else classify)(perception.description)
    if perception.confidence is not None:
        found = replace(found, confidence=perception.confidence)
    # What a tap measured is the robot's; what a caller describes may be what a sign says.
    writer = caller.relay('robot' if caller.face == 'tap' else 'observed')
    return make_record(
        'perception',
        perception.description,
        found,
        context,
        now,
        writer,
        collection=perception.collection,
        session_id=perception.session_id,
        perception_type=perception.perception_type,
        strategy_name='episodic',
        stamp=perception.stamp,
        stamp_is_local=perception.stamp_is_local,
        frame_id=perception.frame_id,
        pose=perception.pose,
    )


@dataclass(frozen=True)
class _Payload:
    """Hold data and metadata as short JSON text, and the parts."""

    inline: dict[str, str | None]
    parts: list[Part]

    def describe(self) -> dict[str, Any]:
        """Return what the audit says of it: a digest of each thing, with a salt."""
        given = {name: text.encode() for name, text in self.inline.items() if text is not None}
        given |= {part.name: part.content for part in self.parts if part.content is not None}
        if not given:
            return {}
        salt = audit.make_salt()
        digests = {name: hashlib.sha256(salt + content) for name, content in given.items()}
        found = {name: digest.hexdigest() for name, digest in digests.items()}
        return {'payload': found, 'salt': salt.hex()}


def _pack_payload(perception: Perception) -> _Payload:
    inline: dict[str, str | None] = {}
    kept = list(perception.parts)
    for name in ('data', 'metadata'):
        value = getattr(perception, name)
        text = None if value is None else dump_json(value, name)
        if text is not None and len(text) > _INLINE:
            packed = zlib.compress(text.encode())
            kept.append(Part(name, PACKED, len(packed), packed))
            text = None
        inline[name] = text
    return _Payload(inline, kept)


def _insert_payload(
    memory: Memory,
    connection: Connection,
    memory_id: int,
    record: Record,
    payload: _Payload,
) -> None:
    if any(payload.inline.values()):
        payloads.put(connection, memory_id, **payload.inline)
    if payload.parts:
        parts.put(
            connection,
            memory_id,
            payload.parts,
            protected=record.perception_type == 'procedural' or record.category in PROTECTED,
            limits=Limits(memory.settings.store_limit_mb, memory.settings.payload_limit_mb),
            at=record.created_at,
        )
