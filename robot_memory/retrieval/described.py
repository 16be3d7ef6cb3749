"""Which memories a description may mean, for what changes them."""

from __future__ import annotations

from robot_memory.core.errors import NotFound
from robot_memory.core.json_text import format_value
from robot_memory.core.records import Record
from robot_memory.memory import Memory
from robot_memory.retrieval.plan import RecallPlan
from robot_memory.retrieval.retriever import Retriever

_CANDIDATES = 5


def find_described(memory: Memory, description: str, collection: str) -> list[Record]:
    """Return the active memories that a description may mean, the likeliest first."""
    plan = RecallPlan.of(collection=collection, limit=_CANDIDATES, query=description)
    found = Retriever(memory).find(plan)
    if not found.hits:
        raise NotFound(
            f'no memory of collection {format_value(collection)} is like description '
            f'{format_value(description)}; recall and query_records return ids'
        )
    return [found.records[hit.id] for hit in found.hits]
