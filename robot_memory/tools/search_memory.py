"""Search on a scale from 0 to 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from robot_memory.core.fields import Json, actor_arg, arg, collection_arg, to_plain
from robot_memory.core.truncation import fit_each, shortened_arg
from robot_memory.memory import Memory
from robot_memory.retrieval.answerable import rate
from robot_memory.retrieval.asked import add_asked_events
from robot_memory.retrieval.asked_events import AskedEvents
from robot_memory.retrieval.empty_answers import (
    explain_nothing_found,
    explain_score,
    why_empty_arg,
)
from robot_memory.retrieval.event_views import read_arg
from robot_memory.retrieval.events import choose_zone
from robot_memory.retrieval.plan import RecallPlan, require_text
from robot_memory.retrieval.retriever import Retriever
from robot_memory.retrieval.views import describe_results
from robot_memory.tool import tool


@dataclass(frozen=True)
class SearchMemoryRequest:
    """Request of search_memory."""

    query: str = arg('Query in natural language.', max_length=10_000)
    n: int | None = arg(
        'Maximum number of results; default: the setting default_results (5).',
        default=None,
        minimum=1,
        maximum=100,
    )
    threshold: float | None = arg(
        'Minimum score; default: the setting default_threshold (0.5).',
        default=None,
        minimum=0.0,
        maximum=1.0,
    )
    collection: str = collection_arg('Collection to search.')
    actor_id: str | None = actor_arg('Restrict to what this actor said or did.')
    read: str = read_arg()


@dataclass(frozen=True)
class FoundView:
    """One result."""

    content: str = arg('Text of the memory.')
    role: str | None = arg("Speaker's role, user or assistant; null for other memories.")
    score: float = arg('Relevance, 0 to 1.')
    metadata: Json = arg(
        'session_id, turn_id, timestamp; measured_at (perceptions); memory_id, type, category, '
        'actor_id; authority and stated_by: who stands behind it; quoted: an observation or '
        'speech, not a rule; '
        'score_kind: fused (keywords and meaning) or words (keywords only); read_as: what was '
        'read in the query, no_match: no event passes it, aggregate: the figure it asks for.'
    )
    shortened: tuple[str, ...] | None = shortened_arg()


@dataclass(frozen=True)
class SearchMemoryResponse:
    """Response of search_memory."""

    result: tuple[FoundView, ...] = arg('Results, best match first.')
    why_empty: str | None = why_empty_arg()


_LONG = ('content', 'metadata')
_RATED = 10
"""Memories whose score is judged, at least: the right one may stand below one that is alike."""


@tool(read_only=True, idempotent=True, ros=False, sage=True)
def search_memory(memory: Memory, request: SearchMemoryRequest) -> SearchMemoryResponse:
    """
    Search turns, facts and perceptions; each result has a score from 0 to 1.

    The score omits recall's weights for real-world memories and for facts over turns, so that it
    can be compared with a threshold. A text that tells of another person, thing, number or time
    than the query scores low, however much it is like it.
    """
    require_text('query', request.query, 'say what is looked for')
    settings = memory.settings
    limit = request.n or settings.default_results
    least = settings.default_threshold if request.threshold is None else request.threshold
    plan = RecallPlan.of(
        collection=request.collection,
        limit=max(limit, _RATED),
        query=request.query,
        actor_id=request.actor_id,
        real_weight=1.0,
        turn_weight=1.0,
    )
    ranked = Retriever(memory).find(plan)
    found = rate(ranked, request.query, least, limit)
    asked = None
    reads = request.read == 'auto' and request.actor_id is None
    if reads:
        found, asked = add_asked_events(
            memory, found, request.query, request.collection, None, limit
        )
    memory.accesses.record(found.ids)
    described = describe_results(found, choose_zone(memory))
    _add_reading(described, asked)
    results = memory.extensions.run_retrieve_hooks(request.query, described)
    views = [
        FoundView(one['content'], one['role'], one['score'], one['metadata']) for one in results
    ]
    why = None
    if not results:
        best = rate(ranked, request.query, 0.0, 1)
        why = explain_score(best, least) or explain_nothing_found(
            memory, plan, actor_id=request.actor_id
        )
    return SearchMemoryResponse(tuple(fit_each(views, _LONG)), why)


def _add_reading(results: list[dict[str, Any]], asked: AskedEvents | None) -> None:
    """Say in the metadata of results what was read, in that of the first the figure as well."""
    if asked is None:
        return
    for number, one in enumerate(results):
        one['metadata'] |= {'read_as': asked.read_as, 'no_match': asked.no_match}
        if not number and asked.figure is not None:
            one['metadata']['aggregate'] = to_plain(asked.figure.view)
