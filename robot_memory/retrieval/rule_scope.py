"""
What meaning says of rules: which hold in any task, and which are like a task.

A rule about the robot itself ("ease into every motion") has no condition, and words that no table
knows would be read as one. docs/decisions/rule-scope.md says why, and what it reaches.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robot_memory.embedding.kept_ratings import load_rule_scopes
from robot_memory.embedding.vectorizer import QueryVector
from robot_memory.memory import Memory
from robot_memory.storage import Connection
from robot_memory.storage.indexes import vectors
from robot_memory.storage.tables import memories
from robot_memory.storage.tables.rule_conditions import Row
from robot_memory.text.rules.conditions import (
    Condition,
    Judged,
    is_explicit,
    is_guess,
    names_known,
)

KNOWN_LEAD = 0.5
"""By how much more a rule must pass where a table knows what its condition names."""
SURE_LEAD = 0.6
"""By how much a rule must pass to hold in any task against what its words say."""
GUESS_LEAD = 0.5
"""By how much a rule may fail whose condition is a guess, and yet not be known not to apply."""
ALIKE = 1.2
"""By how many standard deviations a rule that is like a task is more so than the others."""
_FEWEST = 8
"""Rules of which it can be said which are more like a task than the others."""


def find_alike(
    memory: Memory,
    connection: Connection,
    rows: Sequence[Row],
    asked: QueryVector | None,
    least: float = ALIKE,
) -> list[int]:
    """
    Return the ids of the rules that are like a task, by their vectors, more than the others are.

    By `least` standard deviations; the most alike stands first. How like a rule is to all other
    rules is taken off: some are like anything. Empty where the rules are few, or have no vectors
    of the model that `asked` is of.
    """
    embedder = memory.match_embedder(connection)
    if asked is None or embedder is None or embedder.name != asked.model:
        return []
    made = vectors.fetch(connection, [row.memory_id for row in rows])
    if len(made) < _FEWEST:
        return []
    known = np.array([*made.values()], np.float32)
    like_task, like_rules = known @ asked.vector, known @ known.mean(axis=0)
    centred = (like_task - like_task.mean()) - (like_rules - like_rules.mean())
    bar = least * centred.std()
    found = {one: by for one, by in zip(made, centred.tolist(), strict=True) if by >= bar}
    return sorted(found, key=lambda one: -found[one])


def rate_rules(memory: Memory, connection: Connection, rows: Sequence[Row]) -> dict[int, float]:
    """
    Return by id how surely rules hold in any task by their meaning: 0 and more where they do.

    Without the model that the classifier knows none is rated.
    """
    embedder = memory.match_embedder(connection)
    if embedder is None or not rows:
        return {}
    scopes = load_rule_scopes()
    if embedder.name != scopes.model:
        return {}
    rated = scopes.get([row.content_hash for row in rows])
    left = [row.memory_id for row in rows if row.content_hash not in rated]
    if left:
        made = vectors.fetch(connection, left)
        records = memories.get(connection, list(made))
        hashes = {row.memory_id: row.content_hash for row in rows}
        rated |= scopes.rate(
            {hashes[one]: (record.content, made[one]) for one, record in records.items()}
        )
    return {row.memory_id: rated[row.content_hash] for row in rows if row.content_hash in rated}


def widen(judged: Judged, condition: Condition, rating: float | None) -> Judged:
    """
    Return what is judged of a rule's words, where it holds in any task by its meaning.

    What was unknown is met, but for who is near, what is mounted, where and when, which no other
    reading of a rule takes away. What was known not to be met is unknown, for they disagree, or
    met where the meaning is sure. Where the condition is a guess, the meaning decides, and must be
    far from it to leave the rule out.
    """
    if rating is None or judged.truth is True:
        return judged
    guessed = is_guess(condition)
    if not guessed and is_explicit(condition):
        return judged
    if rating >= (KNOWN_LEAD if names_known(condition) else 0):
        is_met = guessed or judged.truth is None or rating >= SURE_LEAD
        return Judged(True, ('always',)) if is_met else Judged(None, judged.why)
    if guessed and judged.truth is False and rating >= -GUESS_LEAD:
        return Judged(None, judged.why)
    return judged
