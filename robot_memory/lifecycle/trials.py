"""Trials of skills: stored with what they tell of the world, never as duplicates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from robot_memory.background.skills import SkillCopy, SkillKey
from robot_memory.background.trial_units import check_units
from robot_memory.core.authority import THE_STORE, Writer
from robot_memory.core.errors import Conflict
from robot_memory.core.json_text import format_value
from robot_memory.core.records import make_record
from robot_memory.core.trials import CHANGE, TRIAL, Trial, digest_body
from robot_memory.embedding.quantisation import Vector
from robot_memory.embedding.text_vectors import TextVectors
from robot_memory.lifecycle.no_record import refuse_unrecorded
from robot_memory.memory import Memory
from robot_memory.skills.model import Noticed
from robot_memory.storage import Connection
from robot_memory.storage.tables import (
    events,
    folding,
    memories,
    sessions,
    situations,
    trial_uses,
    trials,
)
from robot_memory.text.categories import PROTECTED, classify

_MODALITY = 'proprioceptive'


@dataclass(frozen=True)
class Recorded:
    """
    Name the memory of a trial, and say how many of the skill there are by then.

    `surprise` is in standard deviations, None where nothing could be predicted; `change` is the
    memory that tells that the world has changed. A call that was `repeated` stored nothing.
    """

    memory_id: int
    trials: int
    surprise: float | None
    change: int | None
    repeated: bool = False


@dataclass(frozen=True)
class Report:
    """
    Hold a trial as it is reported; `stamp` is in nanoseconds.

    `world` is real or sim, '' for that of the session. `origin` says where a tap has it from; a
    repeated report may have another.
    """

    trial: Trial
    collection: str = 'default'
    session_id: str | None = None
    stamp: int | None = None
    stamp_is_local: bool = False
    world: str = ''
    origin: Mapping[str, Any] = field(default_factory=dict)


def record(memory: Memory, report: Report) -> Recorded:
    """
    Store a trial; with the key of one that is stored, answer what that one answered.

    Raise InvalidArgument for a figure whose unit does not fit those of the skill, NotFound for a
    session or a used memory that does not exist, and Conflict for the key of another trial, or
    where nothing is recorded now.
    """
    trial = _seal(report)
    if trial.key is not None:
        with memory.db.read() as connection:
            known = _find_known(connection, report.collection, trial)
        if known is not None:
            return known
    refuse_unrecorded(memory, 'record_outcome')
    sentence = memory.vectorizer.embed_form(trial.describe())
    vector = memory.skills.embed(trial.situation)
    try:
        with memory.db.write() as connection:
            known = _find_known(connection, report.collection, trial)
            return known or _record(memory, connection, report, trial, vector, sentence)
    except BaseException:
        memory.skills.drop(report.collection, trial.skill)
        raise
    finally:
        memory.folder.note_stored()


def _seal(report: Report) -> Trial:
    if report.trial.key is None:
        return report.trial
    more = {
        'session_id': report.session_id,
        'stamp': report.stamp,
        'world': report.world,
        'robot': report.trial.robot,
    }
    return replace(report.trial, body=digest_body(report.trial, more))


def _find_known(connection: Connection, collection: str, trial: Trial) -> Recorded | None:
    """Return what the trial with the same key answered; raise Conflict where that was another."""
    found = None if trial.key is None else trials.find_by_key(connection, collection, trial.key)
    if found is None:
        return None
    memory_id, body = found
    if body != trial.body:
        raise Conflict(
            f'key {format_value(trial.key)} is that of another trial, memory {memory_id}; nothing '
            'was stored: give each trial a key of its own, and repeat a call unchanged'
        )
    known = trials.get(connection, memory_id)
    assert known is not None
    number = trials.count(connection, collection, known.skill, memory_id)
    return Recorded(memory_id, number, known.surprise, known.change, repeated=True)


def _record(
    memory: Memory,
    connection: Connection,
    report: Report,
    trial: Trial,
    vector: Vector | None,
    sentence: TextVectors | None,
) -> Recorded:
    context = _make_context(report, trial)
    for name, of_session in sessions.inherit(connection, report.session_id, {}).items():
        own = context.get(name, {})
        context[name] = {**of_session, **own} if isinstance(of_session, dict) else own
    world = context.setdefault('env', {}).setdefault('sim_or_real', 'real')
    trial = replace(trial, simulated=world == 'sim')
    _check_used(connection, trial)
    copy = memory.skills.open(connection, SkillKey(report.collection, trial.skill))
    with copy.lock:
        check_units(copy, trial)
        writer = memory.caller.state(None)
        counts = writer.authority in trial_uses.COUNTED
        noticed = Noticed(None, None)
        if counts:
            noticed = copy.record(trial, _choose_vector(copy, trial, vector))
        change = _tell_change(memory, connection, report, copy, trial, noticed)
        surprise = None if noticed.surprise is None else round(noticed.surprise, 4)
        trial = replace(trial, surprise=surprise, change=change)
        context[TRIAL] = trial.write()
        memory_id = _insert(
            memory, connection, report, trial.describe(), context, writer, sentence
        )
        if vector is not None:
            situations.put_vector(connection, trial.situation, copy.model, vector)
        if counts:
            key = copy.key
            copy.adopt(connection, trials.make_row(connection, memory_id, trial, context))
            if change is not None:
                state = copy.describe_state()
                trials.put_state(connection, *key[:2], len(copy.rows), memory_id, state)
                copy.state_last = memory_id
    memory.skills.note_recorded(copy)
    number = len(copy.rows) + copy.left_out + (not counts)
    return Recorded(memory_id, number, surprise, change)


def _make_context(report: Report, trial: Trial) -> dict[str, Any]:
    context: dict[str, Any] = {
        'sense': {**report.origin, 'detector': TRIAL, 'kind': trial.skill},
        'params': trial.list_figures(),
    }
    if report.world:
        context['env'] = {'sim_or_real': report.world}
    if trial.success is not None:
        context['task'] = {'success': trial.success}
    if trial.robot is not None:
        context['robot'] = {'id': trial.robot}
    return context


def _choose_vector(copy: SkillCopy, trial: Trial, vector: Vector | None) -> Vector | None:
    if not trial.situation:
        return None
    return copy.make_vector(vector, situations.digest(trial.situation))


def _check_used(connection: Connection, trial: Trial) -> None:
    found = memories.get(connection, trial.memory_ids) if trial.memory_ids else {}
    for memory_id in trial.memory_ids:
        if memory_id not in found:
            raise folding.explain_missing(connection, memory_id)


def _insert(
    memory: Memory,
    connection: Connection,
    report: Report,
    text: str,
    context: Mapping[str, Any],
    writer: Writer,
    sentence: TextVectors | None,
) -> int:
    """Store a perception with its event; return its id."""
    found = classify(text, is_rule=False)
    if found.category in PROTECTED:
        found = replace(found, category='observation', tags=('observation', *found.tags[1:]))
    now = memory.clock()
    made = make_record(
        'perception',
        text,
        found,
        dict(context),
        now,
        writer,
        collection=report.collection,
        session_id=report.session_id,
        perception_type=_MODALITY,
        strategy_name='episodic',
        stamp=report.stamp,
        stamp_is_local=report.stamp_is_local,
    )
    usable = memory.match_embedder(connection) is not None
    memory_id = memories.insert(connection, made, sentence if usable else None)
    events.insert(connection, memory_id, made, None)
    return memory_id


def _tell_change(
    memory: Memory,
    connection: Connection,
    report: Report,
    copy: SkillCopy,
    trial: Trial,
    noticed: Noticed,
) -> int | None:
    """Store that the world has changed, if a trial told so; return the memory that says it."""
    change = noticed.change
    if change is None:
        return None
    if change.back is None:
        said = 'predictions fail: the world has changed'
    else:
        said = 'the world has changed back: earlier trials hold again'
    where = f' for situations like "{trial.situation}"' if trial.situation else ''
    since = copy.rows[change.begin].memory_id if change.begin < len(copy.rows) else None
    first = f' (since mem_{since})' if since is not None else ''
    context = {
        'sense': {'detector': CHANGE, 'kind': trial.skill},
        'change': {'skill': trial.skill, 'since': since, 'back': change.back is not None},
        'env': {'sim_or_real': 'sim' if trial.simulated else 'real'},
    }
    text = f'{trial.skill}:{where} {said}{first}'
    sentence = memory.vectorizer.embed_form(text)
    return _insert(memory, connection, report, text, context, THE_STORE, sentence)
