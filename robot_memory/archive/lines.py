"""The lines of an archive, declared and checked: nothing of a file is believed."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from robot_memory.core.authority import AUTHORITIES
from robot_memory.core.clock import LAST
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import RESERVED, Json, arg, parse
from robot_memory.core.json_text import MAX_INTEGER, dump_json, format_value
from robot_memory.core.places import check_covariance
from robot_memory.core.records import PERCEPTION_TYPES, Record, Session

FORMAT = 'robot_memory'
VERSION = 3
"""Version 2 has no maps, anchors and regions, version 1 no folded events: both are written yet."""
LONGEST_TEXT = 1_000_000
_PART = 400_000_000
"""Characters of a part in base64."""
FARTHEST = 9 * 10**18
"""Nanoseconds: what a stamp can say, and 64 bits with years to spare for sums."""


MANY = ('parts', 'observations', 'audit')
"""Arrays of a memory that may be too long for one line."""


@dataclass(frozen=True)
class StoreLine:
    """First line: format, version and counts."""

    kind: str = arg('Line kind: store.', choices=('store',))
    format: str = arg('Format name.', choices=(FORMAT,))
    version: int = arg('Version of the format.', minimum=1, maximum=VERSION)
    sessions: int = arg('Number of sessions in the archive.', minimum=0, maximum=MAX_INTEGER)
    memories: int = arg('Number of memories in the archive.', minimum=0, maximum=MAX_INTEGER)
    events: int = arg(
        'Number of folded events in the archive.', default=0, minimum=0, maximum=MAX_INTEGER
    )
    places: int = arg(
        'Number of maps, anchors and regions.', default=0, minimum=0, maximum=MAX_INTEGER
    )


@dataclass(frozen=True)
class SessionLine:
    """One session."""

    kind: str = arg('Line kind: session.', choices=('session',))
    id: str = arg('Session id.', min_length=1, max_length=LONGEST_TEXT)
    collection: str = arg('Collection.', min_length=1, max_length=128, without=RESERVED)
    context: Json = arg('Context object.', shape='object')
    status: str = arg('Session status.', choices=('open', 'ended'))
    created_at: int = arg('Microseconds since 1970 UTC.', minimum=0, maximum=LAST)
    title: str = arg('Title.', default='', max_length=LONGEST_TEXT)
    tags: tuple[str, ...] = arg('Tags.', default=())
    metadata: Json = arg('Metadata object.', default=None, shape='object')
    updated_at: int = arg('Microseconds since 1970 UTC.', default=0, minimum=0, maximum=LAST)
    saved_at: int | None = arg(
        'Microseconds since 1970 UTC.', default=None, minimum=0, maximum=LAST
    )
    ended_at: int | None = arg(
        'Microseconds since 1970 UTC.', default=None, minimum=0, maximum=LAST
    )
    outcome_score: float | None = arg('Value from 0 to 1.', default=None, minimum=0.0, maximum=1.0)


@dataclass(frozen=True)
class MemoryLine:
    """One memory with its payload, parts and audit trail."""

    kind: str = arg('Line kind: memory.', choices=('memory',))
    id: int = arg('Memory id within the archive.', minimum=1, maximum=MAX_INTEGER)
    origin: Json = arg('Store id and memory id where it was first stored.', shape='object')
    type: str = arg('Memory type.', choices=('fact', 'perception', 'turn'))
    collection: str = arg('Collection.', min_length=1, max_length=128, without=RESERVED)
    content: str = arg('Text of the memory.', min_length=1, max_length=LONGEST_TEXT)
    category: str = arg('Category.', min_length=1, max_length=100)
    confidence: float = arg('Value from 0 to 1.', minimum=0.0, maximum=1.0)
    confidence_base: float = arg('Value from 0 to 1.', minimum=0.0, maximum=1.0)
    context: Json = arg('Context object.', shape='object')
    strategy_name: str = arg('Strategy name.', min_length=1, max_length=LONGEST_TEXT)
    status: str = arg('Memory status.', choices=('active', 'invalidated', 'superseded'))
    access_count: int = arg('Number of recalls that returned it.', minimum=0, maximum=MAX_INTEGER)
    created_at: int = arg('Microseconds since 1970 UTC.', minimum=0, maximum=LAST)
    updated_at: int = arg('Microseconds since 1970 UTC.', minimum=0, maximum=LAST)
    tags: tuple[str, ...] = arg('Tags.', default=())
    scope_files: tuple[str, ...] = arg('Files named by the text.', default=())
    session_id: str | None = arg('Session id.', default=None, max_length=LONGEST_TEXT)
    perception_type: str | None = arg(
        'Modality of the perception.', default=None, choices=PERCEPTION_TYPES
    )
    actor_id: str | None = arg('Actor id.', default=None, max_length=LONGEST_TEXT)
    event_id: str | None = arg('Event id.', default=None, max_length=LONGEST_TEXT)
    stamp: int | None = arg('Nanoseconds.', default=None, minimum=-FARTHEST, maximum=FARTHEST)
    frame_id: str | None = arg('Coordinate frame.', default=None, max_length=LONGEST_TEXT)
    pose: Json | None = arg('Pose object.', default=None, shape='object')
    superseded_by: int | None = arg(
        'Memory id within the archive.', default=None, minimum=1, maximum=MAX_INTEGER
    )
    last_accessed: int | None = arg(
        'Microseconds since 1970 UTC.', default=None, minimum=0, maximum=LAST
    )
    turn: Json | None = arg('Turn number and role.', default=None, shape='object')
    event: Json | None = arg('Identity of the physical event.', default=None, shape='object')
    payload: Json | None = arg('Payload: data and metadata.', default=None, shape='object')
    parts: Json | None = arg('Payload parts.', default=None, shape='container')
    observations: Json | None = arg(
        'Occasions on which the text was said again.', default=None, shape='container'
    )
    audit: Json | None = arg('Audit trail.', default=None, shape='container')
    replaced: Json | None = arg(
        'Memories that it replaces or disagrees with.', default=None, shape='container'
    )
    provenance: Json | None = arg(
        'Authority and writer, sealed by the store that wrote the archive.',
        default=None,
        shape='object',
    )

    def to_record(self, memory_id: int, number: int | None) -> Record:
        """Return it as a record of an id (0: the next), a turn of a number."""
        return Record(
            type=self.type,
            collection=self.collection,
            content=self.content,
            category=self.category,
            confidence=self.confidence,
            id=memory_id,
            session_id=self.session_id,
            tags=self.tags,
            scope_files=self.scope_files,
            perception_type=self.perception_type,
            context=self.context,
            actor_id=self.actor_id,
            event_id=self.event_id,
            strategy_name=self.strategy_name,
            role=self.turn['role'] if self.turn else None,
            turn_id=number,
            stamp=self.stamp,
            frame_id=self.frame_id,
            pose=self.pose,
            status=self.status,
            access_count=self.access_count,
            last_accessed=self.last_accessed,
            created_at=self.created_at,
            updated_at=self.updated_at,
        )


@dataclass(frozen=True)
class MoreLine:
    """Continuation of the preceding memory, whose line would exceed the length limit."""

    kind: str = arg('Line kind: more.', choices=('more',))
    memory: int = arg('Memory id within the archive.', minimum=1, maximum=MAX_INTEGER)
    parts: Json | None = arg('Further payload parts.', default=None, shape='container')
    observations: Json | None = arg('Further observations.', default=None, shape='container')
    audit: Json | None = arg('Further audit entries.', default=None, shape='container')


@dataclass(frozen=True)
class OriginField:
    """Store and id where a memory was first stored."""

    store_id: str = arg('Store id.', min_length=1, max_length=200)
    id: int = arg('Memory id in that store.', minimum=1, maximum=MAX_INTEGER)
    created_at: int | None = arg(
        'Microseconds since 1970 UTC by the clock of that store, where that was wrong.',
        default=None,
        minimum=-FARTHEST,
        maximum=FARTHEST,
    )


@dataclass(frozen=True)
class WriterField:
    """Who stated a memory."""

    face: str = arg('Face.', max_length=100)
    client: str = arg('Name of the client.', max_length=1000)
    principal: str = arg('Authenticated name.', max_length=100)
    actor: str = arg('Claimed speaker.', max_length=1000)
    authority: str = arg('Authority.', choices=AUTHORITIES)


@dataclass(frozen=True)
class ProvenanceField:
    """Who stands behind a memory."""

    authority: str = arg('Authority.', choices=AUTHORITIES)
    stands: bool = arg('Whether it is from before authorities were recorded.')
    seal: str = arg('HMAC-SHA256 in hexadecimal.', max_length=100)
    writer: Json | None = arg('Who stated it.', default=None, shape='object')


@dataclass(frozen=True)
class TurnField:
    """Position of a turn in its session."""

    number: int = arg('Turn number, from 1.', minimum=1, maximum=MAX_INTEGER)
    role: str = arg("Speaker's role.", choices=('user', 'assistant'))


@dataclass(frozen=True)
class EventField:
    """Identity of a physical event."""

    source: str = arg('Source of the event.', max_length=LONGEST_TEXT)
    topic: str = arg('Topic name.', max_length=LONGEST_TEXT)
    subject: str = arg('Detector and its subject.', max_length=LONGEST_TEXT)
    onset: int = arg('Nanoseconds.', minimum=-FARTHEST, maximum=FARTHEST)
    peak: int = arg('Nanoseconds.', minimum=-FARTHEST, maximum=FARTHEST)
    end: int = arg('Nanoseconds.', minimum=-FARTHEST, maximum=FARTHEST)
    look: str = arg('Perceptual hash of the image.', default='', max_length=LONGEST_TEXT)
    broken_off: bool = arg('Whether the stream ended before the event did.', default=False)


@dataclass(frozen=True)
class PayloadField:
    """Payload of a perception."""

    data: Json | None = arg('Measured data.', default=None, shape='container')
    metadata: Json | None = arg(
        'Units, detector and its settings.', default=None, shape='container'
    )


@dataclass(frozen=True)
class PartField:
    """One payload part."""

    name: str = arg('Part name.', min_length=1, max_length=1000)
    media_type: str = arg('Media type.', min_length=1, max_length=1000)
    size: int = arg('Size in bytes.', minimum=0, maximum=MAX_INTEGER)
    protected: bool = arg('Whether the part is exempt from eviction.')
    content: str | None = arg('Content in base64.', default=None, max_length=_PART)
    removed_at: int | None = arg(
        'Microseconds since 1970 UTC.', default=None, minimum=0, maximum=LAST
    )
    damage: str = arg('Why the content is lost.', default='', max_length=1000)


@dataclass(frozen=True)
class ObservationField:
    """One occasion on which the text of a memory was said again."""

    at: int = arg('Microseconds since 1970 UTC.', minimum=0, maximum=LAST)
    said_by: str = arg('Who said it.', max_length=LONGEST_TEXT)
    context: Json = arg('Context object.', shape='object')
    text: str | None = arg('Text, where it differs.', default=None, max_length=LONGEST_TEXT)
    session_id: str | None = arg('Session id.', default=None, max_length=LONGEST_TEXT)
    stamp: int | None = arg('Nanoseconds.', default=None, minimum=-FARTHEST, maximum=FARTHEST)
    outcome: str | None = arg('Outcome of the task.', default=None, max_length=LONGEST_TEXT)
    simulated: int | None = arg('1: in simulation; 0: real.', default=None, minimum=0, maximum=1)
    newer: int = arg(
        "1: it stands before the memory's own context.", default=0, minimum=0, maximum=1
    )
    ended: bool = arg('Whether it was taken back, or the memory has another text.', default=False)


@dataclass(frozen=True)
class ReplacedField:
    """One memory that another replaces."""

    memory: int = arg('Memory id within the archive.', minimum=1, maximum=MAX_INTEGER)
    settled: bool = arg('Whether it is replaced; if not, the two disagree.')


@dataclass(frozen=True)
class AuditField:
    """One entry of the audit trail."""

    action: str = arg('Action.', min_length=1, max_length=LONGEST_TEXT)
    actor: str = arg('Actor id.', max_length=LONGEST_TEXT)
    reason: str = arg('Reason.', max_length=LONGEST_TEXT)
    detail: Json = arg('Details as an object.', shape='object')
    at: int = arg('Microseconds since 1970 UTC.', minimum=0, maximum=LAST)


@dataclass(frozen=True)
class BeforeField:
    """State of a memory before an entry of its audit trail."""

    content: str = arg('Text of the memory.', min_length=1, max_length=LONGEST_TEXT)
    category: str = arg('Category.', min_length=1, max_length=100)
    confidence: float = arg('Value from 0 to 1.', minimum=0.0, maximum=1.0)
    confidence_base: float = arg('Value from 0 to 1.', minimum=0.0, maximum=1.0)
    context: Json = arg('Context object.', shape='object')
    strategy_name: str = arg('Strategy name.', min_length=1, max_length=LONGEST_TEXT)
    status: str = arg('Memory status.', choices=('active', 'invalidated', 'superseded'))
    updated_at: int = arg('Microseconds since 1970 UTC.', minimum=0, maximum=LAST)
    tags: tuple[str, ...] = arg('Tags.', default=())
    scope_files: tuple[str, ...] = arg('Files named by the text.', default=())
    actor_id: str | None = arg('Actor id.', default=None, max_length=LONGEST_TEXT)
    superseded_by: int | None = arg(
        'Memory that superseded it.', default=None, minimum=1, maximum=MAX_INTEGER
    )
    last_accessed: int | None = arg(
        'Microseconds since 1970 UTC.', default=None, minimum=0, maximum=LAST
    )


def make_session(line: SessionLine) -> Session:
    """Return the session that a line holds."""
    values = {name: value for name, value in vars(line).items() if name != 'kind'}
    return Session(**{**values, 'metadata': line.metadata or {}})


def make_placeholder_session(session_id: str, line: MemoryLine) -> Session:
    """Return what is known of a session that an archive does not hold, by a memory of it."""
    at = line.created_at
    return Session(session_id, line.collection, {}, 'ended', at, updated_at=at, ended_at=at)


def parse_memory_line(values: Mapping[str, Any]) -> MemoryLine:
    """Check a memory's line with all that is in it; raise InvalidArgument."""
    # These are checked one by one: together they are longer and deeper than what is kept as JSON.
    payload, *many = (values.get(name) for name in ('payload', *MANY))
    line = parse(MemoryLine, {**values, **dict.fromkeys(('payload', *MANY))}, 'a memory')
    parse(OriginField, line.origin, 'origin')
    if line.provenance is not None:
        provenance = parse(ProvenanceField, line.provenance, 'provenance')
        if provenance.writer is not None:
            parse(WriterField, provenance.writer, 'writer')
    if line.pose is not None and line.pose.get('covariance') is not None:
        check_covariance('pose.covariance', line.pose['covariance'])
    if (line.turn is not None) != (line.type == 'turn'):
        raise InvalidArgument(
            f'a {line.type} with turn {format_value(line.turn)}; turns and only turns have one'
        )
    if line.turn is not None:
        parse(TurnField, line.turn, 'turn')
        if line.session_id is None:
            raise InvalidArgument('a turn without session_id; it is required')
    if line.superseded_by is not None and line.status != 'superseded':
        raise InvalidArgument(f'superseded_by is set on a memory with status {line.status}')
    if not isinstance(line.replaced or [], list):
        raise InvalidArgument('replaced must be an array')
    replaced = [vars(parse(ReplacedField, one, 'replaced')) for one in line.replaced or []]
    event = None if line.event is None else vars(parse(EventField, line.event, 'event'))
    for name, values_of in zip(MANY, many, strict=True):
        if not isinstance(values_of or [], list):
            raise InvalidArgument(f'{name} must be an array')
    parts, said, audit = many
    checked = [_check_part(part) for part in parts or []]
    names = [part['name'] for part in checked]
    if len(set(names)) < len(names):
        raise InvalidArgument(f'duplicate name in parts: {format_value(names)}')
    given = {
        'replaced': replaced,
        'event': event,
        'payload': None if payload is None else vars(parse(PayloadField, payload, 'payload')),
        'parts': checked,
        'observations': [vars(parse(ObservationField, one, 'observations')) for one in said or []],
        'audit': [_check_audit(one) for one in audit or []],
    }
    return MemoryLine(**{**vars(line), **given})


def _check_audit(values: Any) -> dict[str, Any]:
    detail = values.get('detail') if isinstance(values, dict) else None
    if not isinstance(detail, dict):
        return vars(parse(AuditField, values, 'audit'))
    line = parse(AuditField, {**values, 'detail': {}}, 'audit')
    dump_json(list(detail), 'detail')
    checked = dict(detail)
    for name, value in detail.items():
        if name == 'before':
            checked[name] = vars(parse(BeforeField, value, 'detail.before'))
        else:
            dump_json(value, name)
    return {**vars(line), 'detail': checked}


def _check_part(values: Any) -> dict[str, Any]:
    part = parse(PartField, values, 'parts')
    if (part.content is not None) + (part.removed_at is not None) + bool(part.damage) != 1:
        raise InvalidArgument(
            f'part {format_value(part.name)} must have content, removed_at or damage, and one only'
        )
    if part.content is not None:
        try:
            size = len(base64.b64decode(part.content, validate=True))
        except (binascii.Error, ValueError) as error:
            raise InvalidArgument(
                f'part {format_value(part.name)} is not valid base64: {error}'
            ) from None
        if size != part.size:
            raise InvalidArgument(
                f'part {format_value(part.name)} has {size} bytes, but size is {part.size}'
            )
    return vars(part)
