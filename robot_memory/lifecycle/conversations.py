"""Exchanges of words: stored as turns, what a person states in them as facts."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from robot_memory.core.authority import Writer
from robot_memory.core.places import check_spatial
from robot_memory.core.records import INHERITED, Record, Session, is_human, make_record
from robot_memory.embedding.text_vectors import TextVectors
from robot_memory.lifecycle.classification import (
    embed_to_judge,
    select_statements,
    takes_back,
)
from robot_memory.lifecycle.corrections import find_retracted
from robot_memory.lifecycle.maps import mark_context
from robot_memory.lifecycle.no_record import refuse_unrecorded
from robot_memory.lifecycle.sessions import get_or_start_session
from robot_memory.lifecycle.stored_facts import store_fact
from robot_memory.lifecycle.verdicts import NO_VERDICTS, Verdicts, judge_statement
from robot_memory.memory import Memory
from robot_memory.storage import Connection
from robot_memory.storage.tables import audit, memories, meta, sessions, turns
from robot_memory.text.categories import PROTECTED, Classification, classify
from robot_memory.text.relations import hints_at_change
from robot_memory.text.retractions import LONGEST, read_denied
from robot_memory.text.statements import Statement, drop_now, extract_statements, list_sentences

MAX_TURN = 100_000
"""Characters of a turn."""
ACTORS = {'user': 'operator', 'assistant': 'robot'}
"""The actor of a role if none is given."""
_AUTHORITIES = {'user': 'person', 'assistant': 'robot'}
"""The authority of what each side says, whoever relays it."""
_EMBED_AT_ONCE = 1000
"""
Characters of an exchange whose turns are embedded at once where no worker runs.

Where one runs it embeds them, but for what is compared with known facts at once.
"""
_JUDGED = 40
"""Sentences of a turn, the first, that are judged by meaning; those after them by their words."""
_JUDGED_PASSING = 3
"""Sentences that seem to hold for the moment, and are judged whether they correct a fact."""
_AUTO_SAVE = 'auto_save'
_HIGH_IMPORTANCE = 0.9
"""Minimum confidence of what has high importance."""


class _Stated(NamedTuple):
    """Hold the number of a turn, from 0, a sentence of it, and its vector."""

    turn: int
    statement: Statement
    vector: TextVectors | None


@dataclass(frozen=True)
class Utterance:
    """Hold what one side said; `actor_id` is None if it is unknown."""

    role: str
    text: str
    actor_id: str | None = None


@dataclass(frozen=True)
class Exchange:
    """Name what was stored: the ids of turns in order, and of statements, new or known."""

    session: Session
    event_id: str
    first_turn: int
    turns: tuple[int, ...]
    statements: tuple[int, ...]


def store_exchange(
    memory: Memory,
    said: Sequence[Utterance],
    metadata: Mapping[str, Any],
    session_id: str | None,
    collection: str | None,
) -> Exchange:
    """
    Store utterances as turns of one event, in one transaction.

    Without a `session_id` they belong to the newest open session, of the collection if one is
    named; if none is open, one is started. What a person states is stored as a fact, too. Raise
    NotFound for an unknown session, Conflict for one that has ended, for a plug-in's veto, or
    where nothing is recorded now.
    """
    refuse_unrecorded(memory, 'save_conversation')
    check_spatial(metadata)
    said, metadata = _run_save_hooks(memory, said, metadata)
    vectors, stated, passing = _find_statements(memory, said)
    whole = _find_retractions(memory, said, vectors)
    judged = [*stated, *passing, *whole]
    verdicts = _judge_statements(memory, judged, session_id, collection)
    # What seems to hold for the moment only, "I take it with milk now", may correct what lasts.
    stated += [one for one in passing if verdicts[one.statement.text].surely_corrects]
    event_id = str(metadata.get('event_id') or f'event-{secrets.token_hex(8)}')
    now = memory.clock()
    with memory.db.write() as connection:
        session = get_or_start_session(memory, connection, session_id, collection)
        inherited = sessions.inherit(connection, session.id, {})
        said_there = mark_context(connection, {**inherited, **metadata}, None, None)
        usable = memory.match_embedder(connection) is not None
        first = turns.next_number(connection, session.id)
        records = [
            _make_turn(
                turn,
                memory.caller,
                session,
                event_id,
                said_there,
                first + number,
                now,
                states=_states_by_words(turn.role, turn.actor_id, turn.text),
            )
            for number, turn in enumerate(said)
        ]
        turn_ids = [
            memories.insert(connection, record, vector if usable else None)
            for record, vector in zip(records, vectors, strict=True)
        ]
        stated = _put_retractions(connection, stated, whole, records, verdicts)
        fact_ids = [
            _store_statement(
                memory,
                connection,
                records[number],
                statement,
                vector,
                verdicts.get(statement.text, NO_VERDICTS),
            )
            for number, statement, vector in stated
        ]
        sessions.update(connection, replace(session, updated_at=now, saved_at=None))
    return Exchange(session, event_id, first, tuple(turn_ids), tuple(fact_ids))


def _run_save_hooks(
    memory: Memory, said: Sequence[Utterance], metadata: Mapping[str, Any]
) -> tuple[Sequence[Utterance], Mapping[str, Any]]:
    """Return utterances and metadata as the plug-ins changed them; raise Veto."""
    sides = {turn.role: turn.text for turn in said}
    found = memory.extensions.run_save_hooks(
        {'user': '', 'assistant': '', **sides, 'metadata': dict(metadata)}, MAX_TURN
    )
    return [replace(turn, text=found[turn.role]) for turn in said], found['metadata']


def is_auto_save_on(memory: Memory, connection: Connection) -> bool:
    """Return whether agents are served context and reminded to save."""
    known = meta.get_switch(connection, _AUTO_SAVE)
    return memory.settings.auto_save if known is None else known


def set_auto_save(memory: Memory, on: bool) -> None:
    """Switch that on or off for every process; the store remembers it."""
    with memory.db.write() as connection:
        meta.set_switch(connection, _AUTO_SAVE, on)
        detail = {_AUTO_SAVE: on}
        audit.record(connection, None, 'set', memory.caller, '', detail, memory.clock())


def get_turn_metadata(record: Record) -> dict[str, Any]:
    """Return the metadata that a turn was stored with, without what it inherits."""
    return {name: value for name, value in record.context.items() if name not in INHERITED}


def _find_statements(
    memory: Memory, said: Sequence[Utterance]
) -> tuple[list[TextVectors | None], list[_Stated], list[_Stated]]:
    """
    Return the vectors of turns, None for those that are made later, and what persons state.

    Then what else they say that has words of change and would state something without 'now'.
    """
    sentences = {
        number: list_sentences(turn.text)
        for number, turn in enumerate(said)
        if _is_of_person(turn.role, turn.actor_id)
    }
    judged = [one.statement.text for found in sentences.values() for one in found[:_JUDGED]]
    if memory.is_resident:
        whole = [said[number].text for number in sentences if len(said[number].text) <= LONGEST]
    else:
        is_short = sum(len(turn.text) for turn in said) <= _EMBED_AT_ONCE
        whole = [turn.text for turn in said if is_short]
    texts = list(dict.fromkeys([*whole, *judged]))
    made = None
    if texts:
        made = memory.vectorizer.embed_passages(texts, by_first=memory.is_resident)
    known = {} if made is None else dict(zip(texts, made, strict=True))
    stated, passing = [], []
    for number, found in sentences.items():
        vectors = [known.get(one.statement.text) for one in found]
        kept = select_statements(memory, found, vectors)
        selected = {statement.text for statement in kept}
        rest = [one.statement for one in found if one.statement.text not in selected]
        stated += [_Stated(number, one, known.get(one.text)) for one in kept]
        passing += [
            _Stated(number, one, known.get(one.text)) for one in rest if hints_at_change(one.text)
        ]
    changed = [
        one for one in passing[:_JUDGED_PASSING] if _lasts_but_for_now(memory, one.statement.text)
    ]
    return [known.get(turn.text) for turn in said], stated, changed


def _find_retractions(
    memory: Memory, said: Sequence[Utterance], vectors: Sequence[TextVectors | None]
) -> list[_Stated]:
    """
    Return the turns of persons, whole, that may take back what was said just before.

    "Not Tuesday. Wednesday." says nothing by itself, nor do its parts.
    """
    return [
        _Stated(number, Statement(turn.text, classify(turn.text)), vector)
        for number, (turn, vector) in enumerate(zip(said, vectors, strict=True))
        if _is_of_person(turn.role, turn.actor_id)
        and (read_denied(turn.text) or takes_back(memory, turn.text, vector))
    ]


def _put_retractions(
    connection: Connection,
    stated: Sequence[_Stated],
    whole: Sequence[_Stated],
    records: Sequence[Record],
    verdicts: Mapping[str, Verdicts],
) -> list[_Stated]:
    """Return what is stated, but of a turn that takes back a fact just stored the whole of it."""
    taken = [
        one
        for one in whole
        if find_retracted(
            connection,
            records[one.turn],
            retracts=verdicts.get(one.statement.text, NO_VERDICTS).retracts,
        )
    ]
    turns_taken = {one.turn for one in taken}
    rest = [one for one in stated if one.turn not in turns_taken]
    return sorted([*rest, *taken], key=lambda one: one.turn)


def _lasts_but_for_now(memory: Memory, text: str) -> bool:
    """Say whether a text would state what lasts if it did not say 'now'."""
    lasting = drop_now(text)
    if lasting == text:
        return False
    found = list_sentences(lasting)
    made = [embed_to_judge(memory, one.statement.text) for one in found]
    return bool(select_statements(memory, found, made))


def _judge_statements(
    memory: Memory,
    stated: Sequence[_Stated],
    session_id: str | None,
    collection: str | None,
) -> dict[str, Verdicts]:
    """Return by the text of each statement which known facts it corrects, as far as judged."""
    if not stated:
        return {}
    with memory.db.read() as connection:
        if session_id is None:
            session = sessions.find_open(connection, collection)
        else:
            session = sessions.get_open(connection, session_id)
    place = session.collection if session else collection or 'default'
    return {
        statement.text: judge_statement(memory, statement.text, place, vector)
        for _, statement, vector in stated
    }


def _make_turn(
    said: Utterance,
    caller: Writer,
    session: Session,
    event_id: str,
    context: Mapping[str, Any],
    number: int,
    now: int,
    *,
    states: bool,
) -> Record:
    found = _classify_text(said.text, states=states)
    writer = caller.relay(_AUTHORITIES[said.role], said.actor_id)
    record = make_record('turn', said.text, found, dict(context), now, writer)
    return replace(
        record,
        collection=session.collection,
        session_id=session.id,
        actor_id=said.actor_id or ACTORS[said.role],
        event_id=event_id,
        strategy_name='episodic',
        role=said.role,
        turn_id=number,
        confidence=_rate_confidence(record),
    )


def classify_turn(turn: Record) -> Classification:
    """Return what the present rules infer from a stored turn."""
    states = _states_by_words(turn.role, turn.actor_id, turn.content)
    return _classify_text(turn.content, states=states)


def _states_by_words(role: str | None, actor_id: str | None, text: str) -> bool:
    """Say whether a person's turn states anything, by its words alone."""
    return _is_of_person(role, actor_id) and bool(extract_statements(text))


def _is_of_person(role: str | None, actor_id: str | None) -> bool:
    return role == 'user' and is_human(actor_id or ACTORS['user'])


def _classify_text(text: str, *, states: bool) -> Classification:
    found = classify(text[:2000])
    if found.category in PROTECTED and not states:
        found = replace(found, category='observation')  # small talk and answers rule nothing
    return found


def _store_statement(
    memory: Memory,
    connection: Connection,
    turn: Record,
    statement: Statement,
    vector: TextVectors | None,
    verdicts: Verdicts,
) -> int:
    """
    Store a statement of a turn as a fact; return its id.

    One that is known already is as recent as if it were new.
    """
    context = {**turn.context, 'actor_id': turn.actor_id, 'event_id': turn.event_id}
    writer = turn.writer or memory.caller.relay(turn.authority)
    record = make_record('fact', statement.text, statement.found, context, turn.created_at, writer)
    record = replace(
        record,
        collection=turn.collection,
        session_id=turn.session_id,
        confidence=_rate_confidence(record),
    )
    kept = store_fact(
        memory, connection, record, vector, verdicts, may_be_rule=statement.found.may_be_rule
    )
    if isinstance(kept.stored, int):
        return kept.memory_id
    if memories.get_active(connection, kept.memory_id).authority == record.authority:
        turns.confirm_statement(connection, kept.memory_id, writer, record.created_at)
    return kept.memory_id


def _rate_confidence(record: Record) -> float:
    important = record.context.get('importance') == 'high'
    return max(record.confidence, _HIGH_IMPORTANCE) if important else record.confidence
