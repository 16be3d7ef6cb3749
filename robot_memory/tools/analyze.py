"""Look back at a window of the memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from robot_memory.analysis import graph, sentiment, sequences, times, topics
from robot_memory.analysis.window import Analysis, Window
from robot_memory.core.clock import DAY, format_instant, parse_instant
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import Json, arg, collection_arg
from robot_memory.core.json_text import format_value
from robot_memory.core.records import Record
from robot_memory.embedding.quantisation import Vector
from robot_memory.memory import Memory
from robot_memory.storage import Connection
from robot_memory.storage.indexes import vectors
from robot_memory.storage.indexes.filters import ACTIVE, Where, compile_filter, equal
from robot_memory.storage.tables import memories, sessions
from robot_memory.tool import tool

_ALIKE = 0.5
"""Calibrated similarity from which two records are about the same."""
_SESSIONS = 10_000

ANALYSES: dict[str, tuple[Callable[[Window], Analysis], tuple[dict[str, Any], ...]]] = {
    'TOPIC_CLUSTERING': (topics.analyse, ({},)),
    'TEMPORAL_PATTERNS': (times.analyse, ({},)),
    'INTERACTION_FLOW': (sequences.analyse, ({'type': 'turn'}, {'type': 'perception'})),
    'KNOWLEDGE_GRAPH': (graph.analyse, ({},)),
    'SENTIMENT_ANALYSIS': (
        sentiment.analyse,
        ({'type': 'turn'}, {'type': {'$ne': 'turn'}, 'task.success': {'$in': [True, False]}}),
    ),
}
"""The analyses, and the kinds of records that each reads: the newest of each kind."""


@dataclass(frozen=True)
class AnalyzeRequest:
    """Request of analyze."""

    analysis_type: str = arg(
        'TOPIC_CLUSTERING, TEMPORAL_PATTERNS, INTERACTION_FLOW, KNOWLEDGE_GRAPH or '
        'SENTIMENT_ANALYSIS; case-insensitive.',
        max_length=100,
    )
    start: str | None = arg(
        'Start of the window, ISO 8601, UTC unless it has an offset; empty: unbounded.',
        default=None,
        typed='instant',
    )
    end: str | None = arg(
        'End of the window, a date includes the whole day; empty: now.',
        default=None,
        typed='instant',
    )
    days: int = arg(
        'Length of the window in days, counted back from its end; 0: use start.',
        default=0,
        minimum=0,
        maximum=36_500,
    )
    collection: str | None = collection_arg('Collection; empty: all.', default=None)
    session_id: str | None = arg('Restrict to this session.', default=None)
    limit: int = arg(
        'Maximum number of records, newest first; results.window reports how many were omitted.',
        default=10_000,
        minimum=1,
        maximum=100_000,
    )


@dataclass(frozen=True)
class AnalyzeResponse:
    """Response of analyze."""

    analysis_type: str = arg('Analysis type.')
    timestamp: str = arg('Time of the analysis, UTC, ISO 8601.', typed='instant')
    results: Json = arg(
        'Results with record ids; window: records read; cannot_say: questions the data cannot '
        'answer.'
    )
    insights: tuple[str, ...] = arg('Notable findings, each with its record ids.')
    recommendations: tuple[str, ...] = arg('Recommended actions, each with its record ids.')


@tool(read_only=True, idempotent=True, long=True)
def analyze(memory: Memory, request: AnalyzeRequest) -> AnalyzeResponse:
    """
    Analyze a window of records: topics, times, turn flow, associations, sentiment and outcome.

    Every claim cites its records (mem_12). Questions that the records cannot answer are listed in
    results.cannot_say.
    """
    name = request.analysis_type.strip().upper()
    if name not in ANALYSES:
        raise InvalidArgument(
            f'analysis_type must be one of {", ".join(ANALYSES)}, '
            f'not {format_value(request.analysis_type)}'
        )
    analyse, kinds = ANALYSES[name]
    with memory.db.read() as connection:
        now = memory.timekeeper.read_now(connection)
        start, end = _span(request, now)
        if request.session_id is not None:
            sessions.get(connection, request.session_id)
        span = _where(request, start, end)
        records, total = _read(connection, span, kinds, request.limit)
        found = [
            session
            for session in sessions.list_started(connection, start, end, _SESSIONS)
            if (request.collection is None or session.collection == request.collection)
            and request.session_id in (None, session.id)
        ]
        window = Window(records, found)
        if analyse is topics.analyse:
            window = Window(records, found, *_vectors(memory, connection, records))
    analysis = analyse(window)
    stated = {
        'start': None if request.start is None and not request.days else format_instant(start),
        'end': format_instant(min(end, now)),
        'records_read': len(records),
        'records_in_window': total,
        'left_out': total - len(records),
    }
    return AnalyzeResponse(
        name,
        format_instant(now),
        {**analysis.results, 'window': stated},
        analysis.insights,
        analysis.recommendations,
    )


def _span(request: AnalyzeRequest, now: int) -> tuple[int, int]:
    """Return the first and the last instant of the window."""
    end = now if request.end is None else _instant('end', request.end)
    if request.end is not None and len(request.end.strip()) <= len('2026-03-09'):
        end += DAY - 1
    if not request.days:
        start = 0 if request.start is None else _instant('start', request.start)
    elif request.start is None:
        start = end - request.days * DAY
    else:
        raise InvalidArgument(
            f'start ({format_value(request.start)}) and days ({request.days}) both set the start '
            'of the window; pass only one of them'
        )
    if start > end:
        raise InvalidArgument(
            f'the window ends at {format_instant(end)}, before its start at '
            f'{format_instant(start)}; start must not be after end'
        )
    return start, end


def _instant(name: str, text: str) -> int:
    try:
        return parse_instant(text)
    except (ValueError, OverflowError):
        raise InvalidArgument(
            f'{name} must be an ISO 8601 date or time, e.g. 2026-03-09 or 2026-03-09T10:30:00Z, '
            f'not {format_value(text)}'
        ) from None


def _where(request: AnalyzeRequest, start: int, end: int) -> Where:
    where = ACTIVE
    if request.start or request.end or request.days:
        span = {'$gte': format_instant(start), '$lte': format_instant(end)}
        where &= compile_filter('window', {'created_at': span})
    if request.collection is not None:
        where &= equal('collection', request.collection)
    if request.session_id is not None:
        where &= equal('session_id', request.session_id)
    return where


def _read(
    connection: Connection, span: Where, kinds: Sequence[dict[str, Any]], limit: int
) -> tuple[list[Record], int]:
    """Return the newest records of each kind, the oldest first, and how many there are."""
    found: list[Record] = []
    total = 0
    for kind in kinds:
        where = span & compile_filter('analysis', kind)
        listed = memories.list_newest(connection, where, limit)
        total += memories.count(connection, where) if len(listed) == limit else len(listed)
        found += listed
    return sorted(found, key=lambda record: (record.created_at, record.id)), total


def _vectors(
    memory: Memory, connection: Connection, records: Sequence[Record]
) -> tuple[dict[int, Vector], float]:
    """Return the vectors of records, and the cosine from which two are about the same."""
    embedder = memory.match_embedder(connection)
    if embedder is None:
        return {}, 1.0
    found = vectors.fetch(connection, [record.id for record in records])
    return found, embedder.calibration.to_cosine(_ALIKE)
