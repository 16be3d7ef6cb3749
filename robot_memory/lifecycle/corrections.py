"""Corrections: a new fact that replaces a known one, or disagrees with it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from robot_memory.core.authority import THE_STORE, is_higher
from robot_memory.core.records import Record, find_speaker, is_quoted, is_simulated
from robot_memory.lifecycle.authority import may_change, propose_replacement
from robot_memory.lifecycle.verdicts import LEAST, NEAREST, Verdicts
from robot_memory.storage import Connection
from robot_memory.storage.indexes.duplicates import Neighbours
from robot_memory.storage.indexes.filters import active_in, equal
from robot_memory.storage.tables import memories, replacements
from robot_memory.text import token_sets
from robot_memory.text.categories import PROTECTED
from robot_memory.text.relations import are_limits, corrects, may_correct
from robot_memory.text.retractions import read_denied
from robot_memory.text.rules.dangers import names_danger

_JUST_NOW, _LATEST = 600_000_000, 5
"""Microseconds after which nothing is taken back by "not that one", and how many facts may be."""


@dataclass(frozen=True)
class Correction:
    """Name the memory that a new one replaces, or disagrees with until a proposal is decided."""

    replaced_id: int
    settled: bool
    proposal: int | None = None


def link_correction(
    connection: Connection,
    memory_id: int,
    said: Record,
    neighbours: Neighbours,
    verdicts: Verdicts,
) -> Correction | None:
    """
    Let a new fact replace the known one that it corrects, in the caller's transaction.

    Rules, what may harm somebody, and what stands on a higher authority are not replaced: both
    then disagree, and a proposal waits for an operator. None where it corrects nothing.
    """
    if is_quoted(said):
        return None
    old = None
    if verdicts.found or may_correct(said.content):
        old = _find_corrected(connection, memory_id, said, neighbours, verdicts)
    old = old or find_retracted(connection, said, memory_id, retracts=verdicts.retracts)
    if old is None:
        return None
    new = replace(said, id=memory_id)
    writer = new.writer or THE_STORE
    is_rule = not PROTECTED.isdisjoint((old.category, new.category))
    is_rule = is_rule or are_limits(old.content, new.content)
    harms = names_danger(old.content) or verdicts.tells_danger(old.id, old.content)
    if may_change(old, writer) and not (is_rule or harms):
        replacements.replace(connection, memory_id, old.id, writer, new.created_at)
        return Correction(old.id, True)
    proposal, line = propose_replacement(connection, old, new, writer)
    replacements.insert(connection, memory_id, old.id, line, settled=False)
    return Correction(old.id, False, proposal)


def reinstate(connection: Connection, memory_id: int, said: Record) -> None:
    """Let a known memory that was replaced, and is stated again, replace what replaced it."""
    current = replacements.find_current(connection, memory_id)
    if current is None or is_quoted(said) or said.writer is None:
        return
    higher = memories.get_active(connection, current)
    if not is_higher(higher.authority, said.authority):
        replacements.replace(connection, memory_id, current, said.writer, said.updated_at)


def _find_corrected(
    connection: Connection,
    memory_id: int,
    new: Record,
    neighbours: Neighbours,
    verdicts: Verdicts,
) -> Record | None:
    """Return the likeliest fact, or nearest, that a new one corrects and nothing replaces."""
    near = verdicts.sort(_list_near(connection, new, neighbours))
    texts = memories.read_statements(connection, new.collection, [near_id for near_id, _ in near])
    likely = [
        near_id
        for near_id, similarity in near
        if near_id in texts
        and near_id != memory_id
        and _corrects(new.content, near_id, texts[near_id], similarity, verdicts)
    ]
    known = memories.get(connection, likely) if likely else {}
    for old in (known[near_id] for near_id in likely):
        if (
            _are_of_one_person(old, new)
            and (is_simulated(new.context) == 1) == (is_simulated(old.context) == 1)
            and replacements.find_current(connection, old.id) is None
        ):
            return old
    return None


def find_retracted(
    connection: Connection, said: Record, memory_id: int | None = None, *, retracts: bool
) -> Record | None:
    """
    Return the fact, just stored, that a text takes back without saying in full of what it speaks.

    One of the last ten minutes, and of the session where both have one: the latest that has what
    the text says was wrong ("not Tuesday"), of the last few; else, where the text `retracts` by
    its meaning, the latest.
    """
    denied = read_denied(said.content)
    if not (retracts or denied):
        return None
    where = active_in(said.collection) & equal('type', 'fact')
    latest = [
        old
        for old in memories.list_newest(connection, where, _LATEST + 1)
        if old.id != memory_id
        and not is_quoted(old)
        and old.created_at >= said.created_at - _JUST_NOW
        and (None in (old.session_id, said.session_id) or old.session_id == said.session_id)
    ]
    named = (old for old in latest if denied and denied <= token_sets.make_token_set(old.content))
    old = next(named, latest[0] if latest and retracts else None)
    return None if old and replacements.find_current(connection, old.id) else old


def _corrects(
    text: str, memory_id: int, known: str, similarity: float, verdicts: Verdicts
) -> bool:
    """Say whether a text corrects that of a known fact: as it was judged, else by words."""
    judged = verdicts.tell(memory_id, known)
    return corrects(known, text, similarity) if judged is None else judged


def _list_near(
    connection: Connection, new: Record, neighbours: Neighbours
) -> list[tuple[int, float]]:
    """Return the memories near a new one with their similarity: by meaning, else by words."""
    if neighbours.has_meaning:
        return neighbours.find_nearest(NEAREST, LEAST)
    tokens = token_sets.make_token_set(new.content)
    terms = sorted({token_sets.find_index_term(token) for token in tokens})
    ids = neighbours.find_sharing(terms, len(terms) - max(2, len(terms) // 3))
    found = [
        (known_id, token_sets.compute_jaccard(tokens, token_sets.make_token_set(text)))
        for known_id, text in memories.read_statements(
            connection, new.collection, ids[:NEAREST]
        ).items()
    ]
    return sorted(found, key=lambda pair: (-pair[1], pair[0]))


def _are_of_one_person(old: Record, new: Record) -> bool:
    """Say whether neither is the wish of a person that the other is not of."""
    wishes = {find_speaker(old), find_speaker(new)} - {None}
    if not wishes:
        return True
    return old.actor_id == new.actor_id
