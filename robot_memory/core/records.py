"""The values that the store keeps and the tools pass on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from robot_memory.core.authority import AUTHORITIES, Writer, is_higher
from robot_memory.core.clock import DAY, format_instant
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.evidence import Evidence
from robot_memory.core.json_text import dump_json, format_value
from robot_memory.core.memory_ids import read_memory_id
from robot_memory.core.zones import format_measured
from robot_memory.text.rules.people import speaks_of_self

if TYPE_CHECKING:
    from robot_memory.text.categories import Classification

PERCEPTION_TYPES = ('visual', 'tactile', 'auditory', 'proprioceptive', 'procedural')
INHERITED = ('robot', 'env', 'task')
"""The partitions of a session's context that its memories take over."""

_MACHINES = re.compile(r'(robot|planner|assistant|system|sensor|node|tool)\b', re.IGNORECASE)

CALENDAR_FROM = 10_957 * DAY
"""2000-01-01: stamps before it are of simulated time, which no calendar knows."""


@dataclass(frozen=True)
class Replaced:
    """Hold what a memory replaced: its id and text, who replaced it, and when (microseconds)."""

    memory_id: int
    content: str
    replaced_by: str
    at: int


@dataclass(frozen=True)
class Links:
    """
    Say which active memories a memory replaces, is replaced by, and disagrees with.

    They disagree until one who may decides which of them holds.
    """

    replaces: Replaced | None = None
    replaced_by: int | None = None
    disagrees: tuple[int, ...] = ()

    @property
    def is_linked(self) -> bool:
        """Say whether there is any."""
        return self != NO_LINKS


NO_LINKS = Links()


@dataclass(frozen=True)
class Record:
    """
    Hold one memory as the store keeps it.

    `created_at`, `updated_at` and `last_accessed` are microseconds since 1970 UTC; `stamp` is the
    measurement's own time in nanoseconds; `stamp_is_local`: this host's clock made it. All are
    corrected where the clock was wrong; `time_uncertain`: no trusted clock tells by how much.
    `pose` holds position in metres and an orientation quaternion in `frame_id`. Of turns alone,
    `role` says which side spoke and `turn_id` is the number in the session, from 1. `authority` is
    the highest of those who stated it, `writer` who that was; one that `stands` is from before
    authorities were recorded. `evidence` of a fact is what its occasions come to, and `links`
    name what it replaces, where they were read; `helped` and `hurt` count the trials that used it.
    """

    type: str
    collection: str
    content: str
    category: str
    confidence: float
    id: int = 0
    session_id: str | None = None
    tags: tuple[str, ...] = ()
    scope_files: tuple[str, ...] = ()
    perception_type: str | None = None
    context: dict[str, Any] = field(default_factory=dict)
    actor_id: str | None = None
    event_id: str | None = None
    strategy_name: str = 'episodic'
    role: str | None = None
    turn_id: int | None = None
    stamp: int | None = None
    stamp_is_local: bool = False
    frame_id: str | None = None
    pose: dict[str, Any] | None = None
    status: str = 'active'
    superseded_by: int | None = None
    access_count: int = 0
    last_accessed: int | None = None
    created_at: int = 0
    updated_at: int = 0
    authority: str = 'planner'
    stands: bool = False
    writer: Writer | None = None
    time_uncertain: bool = False
    evidence: Evidence | None = None
    links: Links = NO_LINKS
    helped: int = 0
    hurt: int = 0

    @property
    def created(self) -> str:
        """Return when it was stored, UTC, ISO 8601."""
        return format_instant(self.created_at)

    @property
    def measured_at(self) -> int | None:
        """Return when it was measured, in microseconds; None where no calendar's clock says."""
        measured = None if self.stamp is None else self.stamp // 1000
        return None if measured is None or measured < CALENDAR_FROM else measured

    def format_measured(self, zone: ZoneInfo) -> str | None:
        """Return when it was measured, ISO 8601 with the offset of a zone, if that is known."""
        if self.measured_at is None or self.stamp is None:
            return None
        return format_measured(self.stamp, zone)


@dataclass(frozen=True)
class Session:
    """
    Hold one episode; its instants are microseconds since 1970 UTC.

    `saved_at` is when its conversation was closed and titled; None where more was said since.
    """

    id: str
    collection: str
    context: dict[str, Any]
    status: str
    created_at: int
    title: str = ''
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)
    updated_at: int = 0
    saved_at: int | None = None
    ended_at: int | None = None
    outcome_score: float | None = None


def is_human(actor_id: str | None) -> bool:
    """Say whether an actor is a person: known, and no robot, planner, sensor or the like."""
    return actor_id is not None and not _MACHINES.match(actor_id)


def find_speaker(record: Record) -> str | None:
    """
    Return whose word a record is: what a person wants, or says of himself, holds of that person.

    None for what holds of the world, whoever said it.
    """
    if not is_human(record.actor_id):
        return None
    wanted = record.strategy_name in ('persona', 'instruction')
    return record.actor_id if wanted or speaks_of_self(record.content) else None


def is_quoted(record: Record) -> bool:
    """
    Say whether a record is what was seen, heard or said: it is evidence, and states no rule.

    So are perceptions, turns, and what a tap took from a topic (its context has `sense`). What a
    caller learns, and what a person states in a conversation, is a fact.
    """
    return record.type != 'fact' or 'sense' in record.context


def is_rule_giver(record: Record) -> bool:
    """
    Return whether a record may be told as it stands: an operator or a planner states it.

    All else is quoted. What is from before authorities were recorded stays where it stood.
    """
    return _is_stated_by(record, 'planner')


def may_state_rule(record: Record) -> bool:
    """Return whether a record may be told as a rule or its quote: a person at least states it."""
    return _is_stated_by(record, 'person')


def _is_stated_by(record: Record, authority: str) -> bool:
    """Say whether somebody of an authority or a higher one states a record."""
    stated = not is_higher(authority, record.authority)
    return not is_quoted(record) and (stated or record.stands)


def describe_statement(record: Record) -> str:
    """Return in words who stated a record."""
    if record.stands or record.writer is None:
        return f'{record.authority}, not confirmed' if record.stands else record.authority
    return describe_writer(record.writer)


def describe_writer(writer: Writer) -> str:
    """Return in words who writes: an actor who is only claimed is marked so."""
    who = f'{writer.principal} ({writer.authority})' if writer.principal else writer.authority
    if not writer.actor:
        return who
    claimed = writer.actor.partition(':')[0]
    if writer.authority == claimed:
        return (
            f'{writer.actor}, relayed by {writer.principal}' if writer.principal else writer.actor
        )
    if writer.authority == 'person':
        return f'{writer.actor}, claimed' if claimed in AUTHORITIES else writer.actor
    return f'{writer.actor}, claimed by {who}'


def parse_record_id(name: str, text: str) -> int:
    """Return the id that a text writes; raise InvalidArgument, which names the argument."""
    found = read_memory_id(text)
    if not found:
        raise InvalidArgument(
            f'{name} must be a memory id such as mem_7, not {format_value(text)}'
        )
    return found


def find_actor(context: Mapping[str, Any]) -> str | None:
    """Return the actor that a context names; None where it names none that can be stored."""
    actor = context.get('actor_id')
    return actor if isinstance(actor, str) and 1 <= len(actor) <= 128 else None


def read_outcome(context: dict[str, Any]) -> str | None:
    """Return as JSON text how a task came out, as task.success tells; None where it does not."""
    task = context.get('task')
    success = task.get('success') if isinstance(task, dict) else None
    if isinstance(success, bool):
        return 'true' if success else 'false'
    return None if success is None else dump_json(success)


def is_simulated(context: Mapping[str, Any]) -> int | None:
    """Return 1 of what env.sim_or_real says is of simulation, 0 of the real world, else None."""
    env = context.get('env')
    kind = env.get('sim_or_real') if isinstance(env, dict) else None
    return {'sim': 1, 'real': 0}.get(kind) if isinstance(kind, str) else None


def infer_strategy(context: dict[str, Any], category: str, actor_id: str | None) -> str:
    """Return the strategy that a record stands for: what was given, else by who said what."""
    given = context.get('strategy_name')
    if isinstance(given, str) and given:
        return given
    if category == 'preference' and is_human(actor_id):
        return 'persona'
    if category == 'constraint' or (category == 'decision' and is_human(actor_id)):
        return 'instruction'
    return 'episodic'


def make_record(
    type: str,
    text: str,
    found: Classification,
    context: dict[str, Any],
    now: int,
    writer: Writer,
    **fields: Any,
) -> Record:
    """Return a record of what a writer says; other `fields` are as they are given."""
    actor_id = find_actor(context)
    event = context.get('event_id')
    known: dict[str, Any] = {
        'type': type,
        'collection': '',
        'content': text,
        'category': found.category,
        'confidence': found.confidence,
        'tags': found.tags,
        'scope_files': found.scope_files,
        'context': context,
        'actor_id': actor_id,
        'event_id': event if isinstance(event, str) and event else None,
        'strategy_name': infer_strategy(context, found.category, actor_id),
        'created_at': now,
        'updated_at': now,
        'authority': writer.authority,
        'writer': writer,
    }
    return Record(**{**known, **fields})
