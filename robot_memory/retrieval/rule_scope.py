"""
Which rules hold in any task, said by meaning where their words leave that open.

A rule about the robot itself ("ease into every motion") has no condition, and words that no table
knows would be read as one. docs/decisions/rule-scope.md says why, and what it reaches.
"""

from __future__ import annotations

from collections.abc import Sequence

from robot_memory.embedding.kept_ratings import load_rule_scopes
from robot_memory.memory import Memory
from robot_memory.storage import Connection
from robot_memory.storage.indexes import vectors
from robot_memory.storage.tables import memories
from robot_memory.storage.tables.rule_conditions import Row
from robot_memory.text.rules.conditions import Condition, Judged, is_guess, names_known

KNOWN_LEAD = 0.5
"""By how much more a rule must pass where a table knows what its condition names."""
GUESS_LEAD = 0.5
"""By how much a rule may fail whose condition is a guess, and yet not be known not to apply."""


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

    What was unknown is met, and what was known not to be met is unknown: they disagree. Where the
    condition is a guess, the meaning decides, and must be far from it to leave the rule out.
    """
    if rating is None or judged.truth is True:
        return judged
    guessed = is_guess(condition)
    if rating >= (KNOWN_LEAD if names_known(condition) else 0):
        is_met = guessed or judged.truth is None
        return Judged(True, ('always',)) if is_met else Judged(None, judged.why)
    if guessed and judged.truth is False and rating >= -GUESS_LEAD:
        return Judged(None, judged.why)
    return judged
