"""Merging what one session said several times; pure functions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from robot_memory.core.records import Record, find_speaker, is_quoted, read_outcome
from robot_memory.text import token_sets
from robot_memory.text.categories import PROTECTED
from robot_memory.text.duplicate_keys import duplicate_key

MIN_RECORDS = 3
MAX_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Merge:
    """Say which memory takes the place of another, and how alike they are (0 to 1)."""

    kept: int
    superseded: int
    similarity: float


def may_merge(record: Record) -> bool:
    """Say whether the rules let a memory be merged."""
    return (
        record.type == 'fact'
        and record.category not in PROTECTED
        and record.confidence < MAX_CONFIDENCE
    )


_Kind = tuple[str, str, str, str | None, str | None, bool]


def _kind(record: Record) -> _Kind:
    """Return what memories that merge have in common."""
    how, is_said = read_outcome(record.context), is_quoted(record)
    key = duplicate_key(record.content)
    return record.collection, record.authority, key, find_speaker(record), how, is_said


def find_merges(records: Sequence[Record], bar: float) -> list[Merge]:
    """
    Return the merges of a session's records: the most confident of similar ones stays.

    Ties go to the one accessed most often, then to the newest. Texts that differ in a number, a
    unit or a negation say different things and both stay, as do those of different collections,
    of different authorities, what different people want, what came out differently, and what a
    topic said.
    """
    candidates = [record for record in records if may_merge(record)]
    if len(candidates) < MIN_RECORDS:
        return []
    candidates.sort(key=lambda r: (-r.confidence, -r.access_count, -r.created_at, -r.id))
    tokens = {record.id: token_sets.make_token_set(record.content) for record in candidates}
    kinds = {record.id: _kind(record) for record in candidates}
    holders: dict[tuple[_Kind, str], list[int]] = defaultdict(list)
    found = []
    for record in candidates:
        kind = kinds[record.id]
        shared = {kept for token in tokens[record.id] for kept in holders[kind, token]}
        best = max(
            (
                (token_sets.compute_jaccard(tokens[record.id], tokens[kept]), -kept)
                for kept in shared
            ),
            default=(0.0, 0),
        )
        if best[0] > bar:
            found.append(Merge(-best[1], record.id, best[0]))
        else:
            for token in tokens[record.id]:
                holders[kind, token].append(record.id)
    return found
