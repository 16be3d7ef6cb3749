"""Facts in a transaction: a new one is inserted, of a known one an observation is kept."""

from __future__ import annotations

from dataclasses import dataclass, replace

from robot_memory.core.authority import THE_STORE, is_higher
from robot_memory.core.records import Record, find_speaker, is_quoted, may_state_rule
from robot_memory.embedding.text_vectors import TextVectors
from robot_memory.lifecycle.corrections import Correction, link_correction, reinstate
from robot_memory.lifecycle.verdicts import Verdicts
from robot_memory.memory import Memory
from robot_memory.search.neighbours import open_neighbours
from robot_memory.storage import Connection
from robot_memory.storage.indexes import duplicates
from robot_memory.storage.indexes.duplicates import CROSS_ENCODER, Duplicate, Reading
from robot_memory.storage.tables import audit, memories, observations, rule_conditions
from robot_memory.text.categories import PROTECTED


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

    Of what `may_be_rule`, planners are told as of a rule that may apply. `verdicts` say which
    known ones its text corrects or restates, as `judge_statement` read them. Saying a known text
    again adds an observation and is an access, but for a retry. Where it comes from a higher
    authority than the known one, that takes over the text and the context.
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
    before = None if known is None else memories.get_active(connection, known.existing_id)
    restates = known is not None and known.method == CROSS_ENCODER
    makes_rule = before is not None and restates and _makes_rule(before, record)
    if known is None or before is None or (makes_rule and not _may_take_over(before, record)):
        memory_id = memories.insert(connection, record, vector)
        corrected = link_correction(connection, memory_id, record, neighbours, verdicts)
        kept = Stored(memory_id, correction=corrected)
    else:
        kept = _keep_known(memory, connection, known, before, record, vector, is_new=makes_rule)
        if is_higher(record.authority, before.authority) and not kept.retried:
            # The word of a person corrects nothing of a planner; now it is the planner's own.
            memory_id = kept.memory_id
            corrected = link_correction(connection, memory_id, record, neighbours, verdicts)
            kept = replace(kept, correction=corrected)
    if may_be_rule:
        keep_possible_rule(connection, kept.memory_id, record, restates=restates)
    return kept


def _keep_known(
    memory: Memory,
    connection: Connection,
    known: Duplicate,
    before: Record,
    record: Record,
    vector: TextVectors | None,
    *,
    is_new: bool,
) -> Stored:
    """
    Store that a known fact was said again, unless the same call or recording said it.

    What `is_new` says more than the fact as it was `before`, so that it is no retry.
    """
    if _is_reimported(connection, before, record):
        return Stored(known)
    if not is_new:
        retried, earlier = observations.find_retry(connection, known.existing_id, record)
        if retried:
            return Stored(known, earlier, retried=True)
    memory.accesses.record([known.existing_id])
    reinstate(connection, known.existing_id, record)
    return Stored(known, _observe(connection, known.existing_id, before, record, vector))


def _is_reimported(connection: Connection, known: Record, said: Record) -> bool:
    """Say whether a text of a recording is known with its stamp: then it was not said again."""
    sense = said.context.get('sense')
    if said.stamp is None or not isinstance(sense, dict) or 'recording' not in sense:
        return False
    return known.stamp == said.stamp or observations.has_stamp(connection, known.id, said.stamp)


def _observe(
    connection: Connection, memory_id: int, old: Record, said: Record, vector: TextVectors | None
) -> int:
    """Store that a known text was said again; return the id of the observation."""
    is_better = is_higher(said.authority, old.authority) or _makes_rule(old, said)
    if said.writer is None or not (is_better and _may_take_over(old, said)):
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


def _makes_rule(old: Record, said: Record) -> bool:
    """Say whether a text is a rule, and the known one is none."""
    return said.category in PROTECTED and old.category not in PROTECTED


def _may_take_over(old: Record, said: Record) -> bool:
    """Say whether a text may take the place of a known one that says the same."""
    is_own = said.writer is not None and not is_quoted(said) and old.strategy_name != 'persona'
    return is_own and not is_higher(old.authority, said.authority)


def keep_possible_rule(
    connection: Connection, memory_id: int, record: Record, *, restates: bool = False
) -> None:
    """
    Have planners told of what may be a rule, though a memory has it as none; not of evidence.

    A text that `restates` that memory says the same in other words.
    """
    if may_state_rule(record):
        kept = memories.get(connection, [memory_id])[memory_id]
        if kept.content == record.content or restates:  # other duplicates may have other words
            rule_conditions.put(connection, memory_id, kept, may_be_rule=True)
