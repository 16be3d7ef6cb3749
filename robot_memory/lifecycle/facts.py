"""Facts: learned once, by whoever says them, and corrected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from robot_memory.core.authority import THE_STORE, Writer, is_higher
from robot_memory.core.errors import Conflict, InvalidArgument
from robot_memory.core.json_text import format_value, is_storable
from robot_memory.core.places import check_spatial
from robot_memory.core.records import (
    Record,
    find_actor,
    find_speaker,
    infer_strategy,
    is_quoted,
    is_rule_giver,
    make_record,
)
from robot_memory.embedding.text_vectors import TextVectors
from robot_memory.lifecycle.authority import may_change, propose
from robot_memory.lifecycle.classification import classify_text
from robot_memory.lifecycle.corrections import Correction, link_correction, reinstate
from robot_memory.lifecycle.described import redeem
from robot_memory.lifecycle.maps import mark_context
from robot_memory.lifecycle.no_record import refuse_unrecorded
from robot_memory.lifecycle.stated_limits import make_constraint, states_limits
from robot_memory.lifecycle.verdicts import NO_VERDICTS, Verdicts, judge_statement
from robot_memory.memory import Memory
from robot_memory.search.neighbours import open_neighbours
from robot_memory.storage import Connection
from robot_memory.storage.indexes import duplicates
from robot_memory.storage.indexes.duplicates import CROSS_ENCODER, Duplicate, Reading
from robot_memory.storage.tables import (
    audit,
    events,
    memories,
    observations,
    replacements,
    rule_conditions,
    sessions,
)
from robot_memory.text.categories import PROTECTED, Classification, classify
from robot_memory.text.duplicate_keys import duplicate_key, names_another
from robot_memory.text.tokenizer import cut

MAX_LENGTH = 300
"""Characters of a fact; a longer text is truncated at a word boundary."""


@dataclass(frozen=True)
class Learned:
    """
    Name the new memory, or the known one that it duplicates; `truncated` is in characters.

    `observed` is the observation of a known one; a call that was `retried` added none.
    """

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
            _keep_possible_rule(connection, stored, record, inferred)
            return Learned(stored, None, False, inferred, None, truncated)
        kept = store_fact(
            memory, connection, record, vector, verdicts, may_be_rule=inferred.may_be_rule
        )
        is_new = isinstance(kept.stored, int)
        restates = isinstance(kept.stored, Duplicate) and kept.stored.method == CROSS_ENCODER
        _keep_possible_rule(connection, kept.memory_id, record, inferred, restates=restates)
        if event and (is_new or (kept.observed is not None and not kept.retried)):
            events.insert_said(connection, kept.memory_id, record, event)
        return Learned(
            kept.stored, kept.observed, kept.retried, inferred, kept.correction, truncated
        )


def _keep_possible_rule(
    connection: Connection,
    memory_id: int,
    record: Record,
    inferred: Classification,
    *,
    restates: bool = False,
) -> None:
    """
    Have planners told of what may be a rule, though a memory has it as none; not of quotes.

    A text that `restates` that memory says the same in other words.
    """
    if inferred.may_be_rule and is_rule_giver(record):
        kept = memories.get(connection, [memory_id])[memory_id]
        if kept.content == record.content or restates:  # other duplicates may have other words
            rule_conditions.put(connection, memory_id, kept, may_be_rule=True)


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


@dataclass(frozen=True)
class Stored:
    """
    Name a new fact and what it corrects, or the known one that it duplicates and its observation.

    A call that was `retried` added no observation: it is that of the call before, or none.
    """

    stored: int | Duplicate
    observed: int | None = None
    retried: bool = False
    correction: Correction | None = None

    @property
    def memory_id(self) -> int:
        """Return the memory that says it."""
        return self.stored if isinstance(self.stored, int) else self.stored.existing_id


def store_fact(
    memory: Memory,
    connection: Connection,
    record: Record,
    vector: TextVectors | None,
    verdicts: Verdicts,
    *,
    may_be_rule: bool,
) -> Stored:
    """
    Store a fact in the caller's transaction, unless it is known.

    `verdicts` say which known ones its text corrects or restates, as `judge_statement` read them.
    Saying a known text again adds an observation and is an access, but for a retry. Where it comes
    from a higher authority than the known one, that takes over the text and the context.
    """
    vector = vector if memory.match_embedder(connection) is not None else None
    neighbours = open_neighbours(
        connection,
        record.collection,
        None if vector is None else vector.first,
        memory.embedder.get_if_loaded(),
        memory.resident_index,
    )
    reading = Reading(
        record.category in PROTECTED,
        may_be_rule,
        verdicts.list_restated(),
        verdicts.list_distinct(),
    )
    known = duplicates.find(
        connection,
        record.collection,
        record.content,
        find_speaker(record),
        is_quoted(record),
        memory.settings.duplicate_jaccard,
        memory.settings.duplicate_cosine,
        neighbours,
        reading,
    )
    if known is None:
        memory_id = memories.insert(connection, record, vector)
        corrected = link_correction(connection, memory_id, record, neighbours, verdicts)
        return Stored(memory_id, correction=corrected)
    if _is_reimported(connection, known.existing_id, record):
        return Stored(known)
    retried, earlier = observations.find_retry(connection, known.existing_id, record)
    if retried:
        return Stored(known, earlier, retried=True)
    memory.accesses.record([known.existing_id])
    reinstate(connection, known.existing_id, record)
    return Stored(known, _observe(connection, known.existing_id, record, vector))


def _is_reimported(connection: Connection, memory_id: int, said: Record) -> bool:
    """Say whether a text of a recording is known with its stamp: then it was not said again."""
    sense = said.context.get('sense')
    if said.stamp is None or not isinstance(sense, dict) or 'recording' not in sense:
        return False
    stamp = memories.get_active(connection, memory_id).stamp
    return stamp == said.stamp or observations.has_stamp(connection, memory_id, said.stamp)


def _observe(
    connection: Connection, memory_id: int, said: Record, vector: TextVectors | None
) -> int:
    """Store that a known text was said again; return the id of the observation."""
    old = memories.get_active(connection, memory_id)
    higher = is_higher(said.authority, old.authority)
    if said.writer is None or is_quoted(said) or old.strategy_name == 'persona' or not higher:
        writer = said.writer or THE_STORE
        line = audit.record(connection, memory_id, 'observed', writer, '', {}, said.updated_at)
        newer = not is_higher(old.authority, said.authority)
        return observations.insert(connection, memory_id, old.content, said, line, newer=newer)
    # A near duplicate that a visitor said first must not stand in the place of a rule.
    new = replace(said, id=memory_id, last_accessed=said.updated_at)
    line = memories.rewrite(connection, old, new, vector, said.writer)
    observations.age(connection, memory_id, line)
    observations.index(connection, memory_id)
    return observations.insert(connection, memory_id, new.content, old, line, newer=False)


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
    _keep_possible_rule(connection, old.id, new, inferred)
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
