"""End an episode."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from robot_memory.core.fields import Json, arg
from robot_memory.lifecycle import sessions
from robot_memory.lifecycle.consolidation import Merge
from robot_memory.memory import Memory
from robot_memory.retrieval.evidence import OBSERVED, ObservedView, view_observed
from robot_memory.retrieval.related import find_related
from robot_memory.tool import tool


@dataclass(frozen=True)
class EndSessionRequest:
    """Request of end_session."""

    session_id: str = arg('Session id from start_session.', min_length=1)
    outcome_score: float | None = arg('How well it went.', default=None, minimum=0.0, maximum=1.0)


@dataclass(frozen=True)
class SessionSummary:
    """Contents of a session."""

    memory_count: int = arg('Number of memories in the session.')
    by_type: Json = arg('Number of memories per type.')
    by_category: Json = arg('Number of memories per category.')


@dataclass(frozen=True)
class Consolidated:
    """Result of consolidation."""

    merged_groups: int = arg('Number of groups of similar memories that were merged.')
    superseded_count: int = arg('Number of memories superseded by another.')
    compression_ratio: float = arg('Superseded memories divided by all memories of the session.')
    avg_similarity: float = arg('Mean Jaccard similarity of the merged memories, 0 to 1.')


@dataclass(frozen=True)
class RelatedMemory:
    """Related memory from another session."""

    id: int = arg('Memory id.')
    content: str = arg('Text of the memory.')
    _rrf_score: float = arg('Relevance to this session.')
    observed: ObservedView | None = arg(OBSERVED, default=None, omitted=True)


@dataclass(frozen=True)
class EndSessionResponse:
    """Response of end_session."""

    status: str = arg('Always ended.')
    session_id: str = arg('Session id.')
    summary: SessionSummary = arg('Contents of the session.')
    decayed_count: int = arg(
        'Number of unused memories in the collection whose confidence decayed.'
    )
    consolidated: Consolidated = arg('Result of consolidation.')
    related_memories: tuple[RelatedMemory, ...] = arg('Related memories from other sessions.')


@tool(core=True)
def end_session(memory: Memory, request: EndSessionRequest) -> EndSessionResponse:
    """
    End a session: apply decay, merge similar memories and return related ones.

    Call it when a task is done, with how well it went.

    Constraints, postmortems and gotchas neither decay nor are merged.
    """
    ended = sessions.end_session(memory, request.session_id, request.outcome_score)
    session, records = ended.session, ended.records
    return EndSessionResponse(
        'ended',
        session.id,
        SessionSummary(
            memory_count=len(records),
            by_type=dict(Counter(record.type for record in records)),
            by_category=dict(Counter(record.category for record in records)),
        ),
        ended.decayed,
        _view_merges(ended.merges, len(records)),
        tuple(
            RelatedMemory(record.id, record.content, round(score, 6), view_observed(record))
            for record, score in find_related(memory, session.id, session.collection, records)
        ),
    )


def _view_merges(merges: Sequence[Merge], total: int) -> Consolidated:
    return Consolidated(
        merged_groups=len({merge.kept for merge in merges}),
        superseded_count=len(merges),
        compression_ratio=round(len(merges) / total, 4) if merges else 0.0,
        avg_similarity=(
            round(sum(merge.similarity for merge in merges) / len(merges), 4) if merges else 0.0
        ),
    )
