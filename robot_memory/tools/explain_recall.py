"""Say why recall found what it found."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

from robot_memory.core.fields import Json, arg, collection_arg
from robot_memory.core.truncation import fit_each, shortened_arg
from robot_memory.memory import Memory
from robot_memory.retrieval.empty_answers import explain_nothing_found, why_empty_arg
from robot_memory.retrieval.event_views import NO_MATCH, READ_AS, read_arg
from robot_memory.retrieval.evidence import REPLACED_BY, REPLACES, view_links
from robot_memory.retrieval.plan import RecallPlan
from robot_memory.retrieval.relevance import find_matched
from robot_memory.retrieval.retriever import Found, Retriever
from robot_memory.tool import tool
from robot_memory.tools.recall import MIN_CONFIDENCE, RecallRequest, find_answer


@dataclass(frozen=True)
class ExplainRecallRequest:
    """Request of explain_recall."""

    query: str = arg('Query in natural language.', max_length=10_000)
    collection: str = collection_arg('Collection to search.')
    n: int = arg('Maximum number of memories.', default=5, minimum=1, maximum=100)
    min_confidence: float = arg(
        'Minimum confidence.', default=MIN_CONFIDENCE, minimum=0.0, maximum=1.0
    )
    session_id: str | None = arg('Restrict to this session.', default=None)
    context_filter: Json | None = arg(
        'Conditions on the context, as in recall.', default=None, shape='object', typed='filter'
    )
    read: str = read_arg()


@dataclass(frozen=True)
class ModelShare:
    """What the meaning adds to a score, by one model."""

    model: str = arg('Name of the embedding model.')
    share: float = arg('Part of the score.')


@dataclass(frozen=True)
class ExplainedMemory:
    """One memory that recall finds, and the parts of its score."""

    memory_id: int = arg('Memory id for show.')
    content: str = arg('Text of the memory.')
    kind: str = arg('fact, perception or turn.')
    category: str = arg('One of the 11 categories.')
    confidence: float = arg('Confidence, 0 to 1.')
    score: float = arg('Fused score: the sum of words, models and around.')
    words: float = arg('Part of the score that the words add.')
    models: tuple[ModelShare, ...] = arg('Parts of the score that the meaning adds.')
    around: float = arg('Part of the score for what was said around a turn.')
    coverage: float = arg('How much of the query the words cover, 0 to 1.')
    matched: tuple[str, ...] = arg('Terms of the query that the memory holds.')
    factor: float = arg(
        'Factor in all parts: of the real world, of turns, of what a named person said.'
    )
    placed_by: str = arg(
        'What decides its place: score; event: it passes what was read in the query; link: it '
        'replaces or contradicts the next; filter: it passes, and fills a narrow answer.'
    )
    replaces: int | None = arg(REPLACES, default=None, omitted=True)
    replaced_by: int | None = arg(REPLACED_BY, default=None, omitted=True)
    shortened: tuple[str, ...] | None = shortened_arg()


@dataclass(frozen=True)
class FadedMemory:
    """One memory that has decayed below min_confidence."""

    memory_id: int = arg('Memory id for show.')
    content: str = arg('Text of the memory.')
    confidence: float = arg('Confidence, 0 to 1.')
    shortened: tuple[str, ...] | None = shortened_arg()


@dataclass(frozen=True)
class ExplainRecallResponse:
    """Response of explain_recall."""

    memories: tuple[ExplainedMemory, ...] = arg('Memories as recall orders them.')
    mode: str = arg('Retrieval mode: hybrid, bm25_only, vec_only or filter.')
    models: tuple[str, ...] = arg('Embedding models that were asked.')
    faded: tuple[FadedMemory, ...] = arg(
        'Memories that would be in this answer, but have decayed below min_confidence.'
    )
    read_as: str | None = arg(READ_AS, default=None, omitted=True)
    no_match: bool | None = arg(NO_MATCH, default=None, omitted=True)
    why_empty: str | None = why_empty_arg()


@tool(read_only=True, idempotent=True, planner=False)
def explain_recall(memory: Memory, request: ExplainRecallRequest) -> ExplainRecallResponse:
    """
    Return why recall finds each memory: the parts of its score, and what has decayed.

    Call it to see why an answer is as it is; recall answers in less.

    Memories, order and scores are those of recall with the same arguments. score is the sum of
    words, of the share of each model, and of around, within 1e-6. No access is recorded.
    """
    asked_for = RecallRequest(**asdict(request))
    plan, _, found, asked, _ = find_answer(memory, asked_for)
    events = {one.memory_id for one in asked.events} if asked else set()
    with memory.db.read() as connection:
        matched = find_matched(connection, plan, found.ids)
    explained = [
        _explain(found, place, events, matched.get(hit.id, ()))
        for place, hit in enumerate(found.hits)
    ]
    faded = _find_faded(memory, plan) if found.faded else []
    why = None
    if not found.hits and not (asked and (asked.events or asked.figure)):
        why = explain_nothing_found(
            memory, plan, session_id=request.session_id, conditions=request.context_filter
        )
    return ExplainRecallResponse(
        tuple(fit_each(explained, ('content',))),
        found.mode,
        found.models,
        tuple(fit_each(faded, ('content',))),
        read_as=asked.read_as if asked else None,
        no_match=(asked.no_match or None) if asked else None,
        why_empty=why,
    )


def _explain(
    found: Found, place: int, events: set[int | None], matched: tuple[str, ...]
) -> ExplainedMemory:
    hit, parts = found.hits[place], found.hits[place].parts
    record, links = found.records[hit.id], view_links(found.records[hit.id])
    factor = parts.factor * parts.weight if parts else 1.0
    by_model = parts.meanings if parts else ()
    return ExplainedMemory(
        memory_id=hit.id,
        content=record.content,
        kind=record.type,
        category=record.category,
        confidence=round(record.confidence, 6),
        score=hit.score,
        words=factor * parts.words if parts else 0.0,
        models=tuple(
            ModelShare(model, factor * share)
            for model, share in zip(found.models, by_model, strict=False)
        ),
        around=parts.factor * parts.around if parts else 0.0,
        coverage=hit.coverage,
        matched=matched,
        factor=factor,
        placed_by=_name_reason(found, place, events),
        replaces=links.get('replaces'),
        replaced_by=links.get('replaced_by'),
    )


def _name_reason(found: Found, place: int, events: set[int | None]) -> str:
    hit, rest = found.hits[place], found.hits[place + 1 :]
    if hit.parts is None:
        linked = {*found.newer.values(), *found.contradicts.values()}
        if hit.id in events:
            return 'event'
        return 'link' if hit.score or hit.id in linked else 'filter'
    return 'link' if rest and rest[0].parts and hit.score < rest[0].score else 'score'


def _find_faded(memory: Memory, plan: RecallPlan) -> list[FadedMemory]:
    """Return what a search that knows no decay finds and that has decayed too far."""
    assert plan.unfaded is not None
    unfaded = replace(plan, where=plan.unfaded, unfaded=None, fills=False)
    found = Retriever(memory).find(unfaded)
    records = [found.records[hit.id] for hit in found.hits]
    return [
        FadedMemory(one.id, one.content, round(one.confidence, 6))
        for one in records
        if one.confidence < plan.min_confidence
    ]
