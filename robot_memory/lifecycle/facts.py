"""Facts: learned once, by whoever says them, and corrected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from robot_memory.core.authority import Writer
from robot_memory.core.errors import Conflict, InvalidArgument
from robot_memory.core.json_text import format_value, is_storable
from robot_memory.core.places import check_spatial
from robot_memory.core.records import Record, find_actor, infer_strategy, is_quoted, make_record
from robot_memory.embedding.text_vectors import TextVectors
from robot_memory.lifecycle.authority import may_change, propose
from robot_memory.lifecycle.classification import classify_text
from robot_memory.lifecycle.corrections import Correction
from robot_memory.lifecycle.described import redeem
from robot_memory.lifecycle.maps import mark_context
from robot_memory.lifecycle.no_record import refuse_unrecorded
from robot_memory.lifecycle.stated_limits import make_constraint, states_limits
from robot_memory.lifecycle.stored_facts import keep_possible_rule, store_fact
from robot_memory.lifecycle.verdicts import NO_VERDICTS, judge_statement
from robot_memory.memory import Memory
from robot_memory.storage import Connection
from robot_memory.storage.indexes.duplicates import Duplicate
from robot_memory.storage.tables import events, memories, observations, replacements, sessions
from robot_memory.text.categories import Classification, classify
from robot_memory.text.duplicate_keys import duplicate_key, names_another
from robot_memory.text.tokenizer import cut

MAX_LENGTH = 300
"""Characters of a fact; a longer text is truncated at a word boundary."""


@dataclass(frozen=True)
class Learned:
    """
    Name the new memory, or the known one that it duplicates; `truncated` is in characters.

    `text` is what was kept of what was said. `observed` is the observation of a known one; a call
    that was `retried` added none.
    """

    text: str
    stored: int | Duplicate
    observed: int | None
    retried: bool
    inferred: Classification
    correction: Correction | None
    truncated: int


@dataclass(frozen=True)
class Update:
    """Hold a new text that is classified and embedded; `truncated` is in characters."""

    text: str
    truncated: int
    context: Mapping[str, Any]
    inferred: Classification
    vector: TextVectors | None


@dataclass(frozen=True)
class Updated:
    """Hold a memory before and after its update; `truncated` is in characters."""

    old: Record
    new: Record
    inferred: Classification
    truncated: int


def learn(
    memory: Memory,
    text: str,
    context: Mapping[str, Any],
    collection: str,
    session_id: str | None,
    *,
    argument: str = 'insight',
    promoted: int | None = None,
    stamp: int | None = None,
    stamp_is_local: bool = False,
    category: str = '',
    event: str = '',
) -> Learned:
    """
    Store a fact, unless its collection has a duplicate of it.

    What a topic says has a `stamp` in nanoseconds, by this host's clock if it `stamp_is_local`,
    and a fault a `category`; where it tells of a task or a fault, `event` says so. It takes the
    place of a `promoted` fact, and names it, as it names a perception or a turn.

    Raise InvalidArgument, which names the `argument`, for an empty text, NotFound for a session or
    a memory that does not exist, and Conflict for one that may not be promoted, or where
    nothing is recorded now.
    """
    refuse_unrecorded(memory, 'learn')
    check_spatial(context)
    text, truncated = truncate_text(argument, text)
    vector = memory.embed_passage(text)
    if category:  # it is known, whatever the words are
        inferred = replace(classify(text), category=category)
    else:
        inferred = classify_text(memory, text, vector)
    if states_limits(context):
        inferred = make_constraint(inferred)
    verdicts = NO_VERDICTS
    if promoted is None and 'sense' not in context:  # neither corrects anything
        verdicts = judge_statement(memory, text, collection, vector)
    with memory.db.write() as connection:
        inherited = sessions.inherit(connection, session_id, dict(context))
        inherited = mark_context(connection, inherited, None, stamp)
        writer = find_writer(memory.caller, inherited)
        record = make_record(
            'fact',
            text,
            inferred,
            inherited,
            memory.clock(),
            writer,
            collection=collection,
            session_id=session_id,
            stamp=stamp,
            stamp_is_local=stamp_is_local,
        )
        if promoted is not None:
            stored = _promote(memory, connection, promoted, record, vector)
            if inferred.may_be_rule:
                keep_possible_rule(connection, stored, record)
            return Learned(text, stored, None, False, inferred, None, truncated)
        kept = store_fact(
            memory, connection, record, vector, verdicts, may_be_rule=inferred.may_be_rule
        )
        is_new = isinstance(kept.stored, int)
        if event and (is_new or (kept.observed is not None and not kept.retried)):
            events.insert_said(connection, kept.memory_id, record, event)
        return Learned(
            text, kept.stored, kept.observed, kept.retried, inferred, kept.correction, truncated
        )


def _promote(
    memory: Memory,
    connection: Connection,
    promoted: int,
    record: Record,
    vector: TextVectors | None,
) -> int:
    """Store a fact that confirms a memory; a fact of no higher authority is superseded by it."""
    source = memories.get_active(connection, promoted)
    if is_quoted(record):
        raise InvalidArgument('with from, context must not have sense: a topic promotes nothing')
    writer = memory.caller
    if not may_change(source, writer):
        raise Conflict(
            f'mem_{promoted} stands on the authority {source.authority} already, and '
            f'{writer.authority} is lower; nothing was changed'
        )
    usable = memory.match_embedder(connection) is not None
    record = replace(record, context={**record.context, 'from': f'mem_{promoted}'})
    memory_id = memories.insert(connection, record, vector if usable else None)
    if source.type == 'fact':
        now, reason = record.created_at, f'promoted to memory {memory_id}'
        line = memories.retire(connection, promoted, 'superseded', writer, reason, now, memory_id)
        observations.adopt(connection, memory_id, promoted, line)
    return memory_id


def find_writer(caller: Writer, context: Mapping[str, Any]) -> Writer:
    """Return who stands behind a text of a context: the caller, unless a topic said it."""
    actor = find_actor(context)
    return caller.relay('observed', actor) if 'sense' in context else caller.state(actor)


def update(
    memory: Memory, memory_id: int, text: str, context: Mapping[str, Any], token: str = ''
) -> Updated:
    """
    Give an active memory new text, and a new context unless that is empty.

    With a token it is the memory of that preview.
    Raise InvalidArgument for an empty text, NotFound or Conflict for a memory that is not active,
    and Conflict where it stands on a higher authority: the update is then a proposal.
    """
    change = prepare_update(memory, text, context)
    with memory.db.write() as connection:
        if token:
            stated = [text, dict(context)]
            memory_id = redeem(connection, memory, 'update', token, memory_id, stated)
        old = memories.get_active(connection, memory_id)
        now, writer = memory.clock(), find_writer(memory.caller, context)
        refused = propose(
            connection, old, 'update', writer, now, content=change.text, context=context
        )
        if refused is None:
            return apply_update(memory, connection, old, change, writer, now)
    raise refused


def prepare_update(memory: Memory, text: str, context: Mapping[str, Any]) -> Update:
    """Classify and embed a new text before the transaction; raise InvalidArgument or Conflict."""
    refuse_unrecorded(memory, 'update')
    check_spatial(context)
    text, truncated = truncate_text('new_content', text)
    vector = memory.embed_passage(text)
    inferred = classify_text(memory, text, vector)
    if states_limits(context):
        inferred = make_constraint(inferred)
    return Update(text, truncated, context, inferred, vector)


def apply_update(
    memory: Memory, connection: Connection, old: Record, change: Update, writer: Writer, at: int
) -> Updated:
    """Rewrite an active memory in the caller's transaction; the writer may change it."""
    kept, inferred = old.context, change.inferred
    if change.context:
        kept = sessions.inherit(connection, old.session_id, dict(change.context))
        kept = mark_context(connection, kept, old.frame_id, None)
    new = replace(
        old,
        content=change.text,
        category=inferred.category,
        confidence=inferred.confidence,
        tags=inferred.tags,
        scope_files=inferred.scope_files,
        context=kept,
        strategy_name=infer_strategy(kept, inferred.category, old.actor_id),
        updated_at=at,
        last_accessed=at,
    )
    usable = memory.match_embedder(connection) is not None
    line = memories.rewrite(connection, old, new, change.vector if usable else None, writer)
    if not is_same_text(old.content, new.content):
        observations.end(connection, old.id, line)
        replacements.end_all(connection, old.id, line)
    elif change.context:
        observations.age(connection, old.id, line)
    observations.index(connection, old.id)
    if inferred.may_be_rule:
        keep_possible_rule(connection, old.id, new)
    return Updated(old, new, inferred, change.truncated)


def is_same_text(one: str, other: str) -> bool:
    """Say whether a text only words another anew, so that what observed that still holds."""
    return duplicate_key(one) == duplicate_key(other) and not names_another(one, other)


def truncate_text(argument: str, text: str) -> tuple[str, int]:
    """Return a text of at most 300 characters and how many were cut; refuse an empty one."""
    if not is_storable(text):
        raise InvalidArgument(f'{argument} contains a NUL or an unpaired surrogate')
    kept, gone = cut(text, MAX_LENGTH)
    if not kept:
        raise InvalidArgument(
            f'{argument} is empty ({format_value(text)}); pass 1 to {MAX_LENGTH} characters'
        )
    return kept, gone
