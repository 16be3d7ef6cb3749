"""Which of two memories that contradict each other is newer or stands higher; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from robot_memory.core.authority import is_higher
from robot_memory.core.records import Links, Record, is_human
from robot_memory.search.query import Hit
from robot_memory.text import token_sets, tokenizer

_MOST = 2
"""Tokens that two texts may differ in, on each side: 'blue', '15 N'."""
_SHARED = 0.5
_LATER = 3_600_000_000
_ASKED_FOR = re.compile(
    r'^(?:please|can|could|would|will|bring|give|hand|fetch|put|take|go|move|pick)\b'
    r'|^i (?:put|took|placed)\b|^(?:请|帮|把|给我|拿)|[?？]\s*$|吗'
)
"""What is done once: to do it otherwise another time corrects nothing."""
_OF_MYSELF = re.compile(r'\b(?:i|me|my|mine|we|us|our|ours)\b|[我咱]')
_NEAR = 0.8
"""How good the newer one must be beside the older, to stand before it."""


def mark_contradictions(
    records: Mapping[int, Record], hits: Sequence[Hit], question: str
) -> tuple[dict[int, int], dict[int, int]]:
    """Return what `find_contradictions` and `find_overruled` do, without what a link settles."""
    shown = list(records.values())
    newer = find_contradictions(shown, hits, question)
    newer = {old: new for old, new in newer.items() if not records[old].links.is_linked}
    return newer, find_overruled(shown, question)


def find_contradictions(
    records: Sequence[Record], hits: Sequence[Hit], question: str
) -> dict[int, int]:
    """
    Return by its id what each record that has a newer version was replaced by.

    Two records are versions of one if they say the same but for one thing that the question does
    not name, in different sessions or an hour apart: 'the red cup is Anna's', 'the blue cup is
    Anna's', asked which is hers. What protects, what a robot said, what was asked for, and what
    two people want each for themselves replaces nothing.
    """
    if not _are_apart(records):
        return {}
    asked = token_sets.make_token_set(question)
    scores = {hit.id: hit.score for hit in hits}
    found: dict[int, int] = {}
    newest_first = sorted(
        filter(_may_be_corrected, _read_statements(records)),
        key=lambda each: (-each.record.updated_at, -each.record.id),
    )
    places = {each.record.id: place for place, each in enumerate(newest_first)}
    for new, old in _pair_close(newest_first):
        if (
            places[new.record.id] < places[old.record.id]
            and old.record.id not in found
            and _may_correct(new.record, old.record)
            and not is_higher(old.record.authority, new.record.authority)
            and _differ_in_one_thing(new, old, asked)
            and scores[new.record.id] >= _NEAR * scores[old.record.id]
            and (new.record.actor_id == old.record.actor_id or not _are_wishes(new, old))
        ):
            found[old.record.id] = new.record.id
    return found


def find_overruled(records: Sequence[Record], question: str) -> dict[int, int]:
    """
    Return by its id which record of a higher authority each record contradicts.

    They say the same but for one thing that the question does not name. Rules count, too: what a
    visitor says beside a limit that an operator stated is marked.
    """
    if len({record.authority for record in records}) < 2:
        return {}
    asked = token_sets.make_token_set(question)
    found: dict[int, int] = {}
    for low, high in _pair_close(_read_statements(records)):
        if (
            low.record.id not in found
            and is_higher(high.record.authority, low.record.authority)
            and not _ASKED_FOR.search(low.folded)
            and _differ_in_one_thing(low, high, asked)
        ):
            found[low.record.id] = high.record.id
    return found


@dataclass(frozen=True)
class _Statement:
    """Hold a record with its folded text and its tokens."""

    record: Record
    folded: str
    tokens: frozenset[str]


def _read_statements(records: Sequence[Record]) -> list[_Statement]:
    return [
        _Statement(
            record, tokenizer.fold(record.content), token_sets.make_token_set(record.content)
        )
        for record in records
    ]


def _pair_close(statements: Sequence[_Statement]) -> Iterator[tuple[_Statement, _Statement]]:
    """
    Yield in order, both ways round, the pairs of statements that may differ in one thing only.

    Of any three tokens of such a statement the other has one, so only those that share one of its
    three rarest are compared.
    """
    holders: dict[str, list[int]] = {}
    for place, each in enumerate(statements):
        for token in each.tokens:
            holders.setdefault(token, []).append(place)
    for place, each in enumerate(statements):
        rarest = sorted(each.tokens, key=lambda token: len(holders[token]))[: _MOST + 1]
        near = {other for token in rarest for other in holders[token]}
        for other in sorted(near - {place}):
            if _differ_little(each.tokens, statements[other].tokens):
                yield each, statements[other]


def _differ_little(one: frozenset[str], other: frozenset[str]) -> bool:
    """Say whether each has a token or two that the other lacks, and they share half of theirs."""
    shared = len(one & other)
    least, most = sorted((len(one), len(other)))
    return shared < least and most - shared <= _MOST and shared >= _SHARED * most


def _are_apart(records: Sequence[Record]) -> bool:
    """Say whether any two records are of different sessions, or an hour apart."""
    times = [record.updated_at for record in records]
    sessions = {record.session_id for record in records}
    return len(sessions) > 1 or (len(times) > 1 and max(times) - min(times) >= _LATER)


def _may_be_corrected(statement: _Statement) -> bool:
    """Say whether a record tells of a state that may be another one later."""
    from robot_memory.text.categories import PROTECTED  # its tables are read when it is imported

    return (
        statement.record.category not in PROTECTED
        and statement.record.role != 'assistant'
        and not _ASKED_FOR.search(statement.folded)
    )


def _may_correct(new: Record, old: Record) -> bool:
    """Say whether one was said late enough after the other to correct it, not to go on."""
    return new.session_id != old.session_id or new.updated_at - old.updated_at >= _LATER


def _differ_in_one_thing(new: _Statement, old: _Statement, asked: frozenset[str]) -> bool:
    """Say whether two close texts are the same but for one thing that was not asked for."""
    one, other = new.tokens - old.tokens, old.tokens - new.tokens
    return (
        asked.isdisjoint(one | other)
        and _is_one_thing(one, new.folded)
        and _is_one_thing(other, old.folded)
    )


def _are_wishes(new: _Statement, old: _Statement) -> bool:
    """Say whether a person says either of himself or herself."""
    return any(
        is_human(each.record.actor_id)
        and (each.record.category == 'preference' or _OF_MYSELF.search(each.folded))
        for each in (new, old)
    )


def _is_one_thing(tokens: frozenset[str], folded: str) -> bool:
    """Say whether so few tokens, each said once in a text, may stand for one thing in it."""
    return 0 < len(tokens) <= _MOST and all(
        folded.count(token.replace(tokenizer.POINT, '.')) <= 1 for token in tokens
    )


def find_absent(hits: Iterable[Hit], records: Mapping[int, Record]) -> dict[int, float]:
    """Return what replaces hits or disagrees with them and is not among them, as they score."""
    found: dict[int, float] = {}
    for hit in hits:
        links = records[hit.id].links
        for other in (*filter(None, [links.replaced_by]), *links.disagrees):
            if other not in records:
                found[other] = max(found.get(other, 0.0), hit.score)
    return found


def put_beside(
    hits: Sequence[Hit], added: Iterable[Hit], records: Mapping[int, Record]
) -> list[Hit]:
    """Return hits with each of some more before the first that it replaces or disagrees with."""
    placed = list(hits)
    for hit in added:
        beside = next(
            place for place, one in enumerate(placed) if _are_linked(records[one.id].links, hit.id)
        )
        placed.insert(beside, hit)
    return placed


def _are_linked(links: Links, other: int) -> bool:
    return links.replaced_by == other or other in links.disagrees


def find_current(records: Mapping[int, Record]) -> dict[int, int]:
    """
    Return by its id what stands before each record that was replaced or is the less strict rule.

    Of two that disagree that is the stricter: of upper limits the smaller, of lower ones the
    larger, else the newer.
    """
    found = {}
    for memory_id, record in records.items():
        if record.links.replaced_by in records:
            found[memory_id] = record.links.replaced_by
        for other in record.links.disagrees:
            if other in records and other > memory_id:
                from robot_memory.text.relations import is_stricter

                newer = is_stricter(records[other].content, record.content)
                found[memory_id if newer else other] = other if newer else memory_id
    return {old: new for old, new in found.items() if new is not None}


def put_first(hits: Sequence[Hit], found: Mapping[int, int]) -> list[Hit]:
    """Return hits in their order, but each that stands before another right before that."""
    order = list(hits)
    for old, new in found.items():
        places = {hit.id: place for place, hit in enumerate(order)}
        if places[new] > places[old]:
            hit = order.pop(places[new])
            order.insert(places[old], replace(hit, score=order[places[old]].score))
    return order
