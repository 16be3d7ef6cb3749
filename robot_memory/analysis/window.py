"""What the analyses look at, what they answer, and how they name what a claim rests on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone, tzinfo
from typing import Any

from robot_memory.core.clock import DAY, format_instant
from robot_memory.core.records import Record, Session
from robot_memory.embedding.quantisation import Vector
from robot_memory.text import tokenizer

MIN_FOR_TREND = 10
"""Records fewer than which no trend is told."""
_CITED = 5
_SHOWN = 160
_CHANGE = 1.5
_PALE = frozenset(
    'again also after all because before both more most need only very while'.split()
)
"""Words that a question may stand on, and a topic may not."""


@dataclass(frozen=True)
class Window:
    """
    Hold records and sessions, the oldest first, and vectors by record where there are some.

    Two texts with a cosine of `alike` or more are about the same. Hours and weekdays are those
    of `zone`; None is the computer's own.
    """

    records: Sequence[Record]
    sessions: Sequence[Session] = ()
    vectors: Mapping[int, Vector] = field(default_factory=dict)
    alike: float = 0.5
    zone: tzinfo | None = None


@dataclass(frozen=True)
class Analysis:
    """
    Hold what an analysis found.

    Each insight and recommendation names records; what the data cannot say stands in
    `results['cannot_say']`.
    """

    results: dict[str, Any]
    insights: tuple[str, ...] = ()
    recommendations: tuple[str, ...] = ()


def format_id(record: Record | int) -> str:
    """Return what query_records calls a record."""
    return f'mem_{record if isinstance(record, int) else record.id}'


def format_ids(records: Iterable[Record | int], most: int = _CITED) -> list[str]:
    """Return the names of the first records."""
    return [format_id(record) for record in list(records)[:most]]


def cite(records: Iterable[Record | int]) -> str:
    """Return the records that a claim rests on: 'mem_1, mem_2 and 7 more'."""
    cited = list(records)
    more = len(cited) - _CITED
    return ', '.join(format_ids(cited)) + (f' and {more} more' if more > 0 else '')


def make_example(record: Record) -> dict[str, str]:
    """Return a record as it stands among examples."""
    text, gone = tokenizer.cut(record.content, _SHOWN)
    return {'record_id': format_id(record), 'content': text + (' ...' if gone else '')}


def get_instant(record: Record) -> int:
    """Return when it was measured, where a calendar's clock measured it, else when it was kept."""
    return record.created_at if record.measured_at is None else record.measured_at


def sort_by_time(records: Iterable[Record]) -> list[Record]:
    """Return records in the order in which they happened."""
    return sorted(records, key=lambda record: (get_instant(record), record.id))


def to_local(instant: int, zone: tzinfo | None) -> datetime:
    """Return an instant on the clock of the wall."""
    return datetime.fromtimestamp(instant // 1_000_000, timezone.utc).astimezone(zone)


def format_day(instant: int) -> str:
    """Return the day of an instant, UTC."""
    return format_instant(instant)[:10]


def get_world(record: Record) -> str:
    """Return 'real', 'sim', or 'unknown' where the context does not tell."""
    env = record.context.get('env')
    world = env.get('sim_or_real') if isinstance(env, dict) else None
    return str(world) if world in ('real', 'sim') else 'unknown'


def extract_keywords(text: str) -> list[str]:
    """Return the words of a text that may name a topic: no stop words, no numbers."""
    start, _ = tokenizer.cut(text, 2000)
    return [
        term
        for term in tokenizer.extract_query_terms(start)[0]
        if len(term) > 1
        and term not in _PALE
        and not any(c.isdigit() or '\ue000' <= c <= '\uf8ff' for c in term)
    ]


def compare_halves(values: Sequence[tuple[int, float]]) -> dict[str, Any]:
    """Return the means of the earlier and the later half of (instant, value), and the trend."""
    ordered = [value for _, value in sorted(values, key=lambda pair: pair[0])]
    if len(ordered) < MIN_FOR_TREND:
        return {'trend': 'unknown', 'of': len(ordered)}
    middle = len(ordered) // 2
    earlier, later = (sum(half) / len(half) for half in (ordered[:middle], ordered[middle:]))
    change = later - earlier
    trend = 'steady' if abs(change) < 0.1 else 'rising' if change > 0 else 'falling'
    return {
        'trend': trend,
        'of': len(ordered),
        'earlier': round(earlier, 3),
        'later': round(later, 3),
    }


def measure_pace(instants: Sequence[int]) -> dict[str, Any]:
    """Return how many instants fall into each half of their span, and the trend over a day."""
    if len(instants) < MIN_FOR_TREND or max(instants) - min(instants) < DAY:
        return {'trend': 'unknown', 'of': len(instants)}
    middle = (min(instants) + max(instants)) / 2
    earlier = sum(instant < middle for instant in instants)
    later = len(instants) - earlier
    trend = 'steady'
    if later > earlier * _CHANGE:
        trend = 'rising'
    elif earlier > later * _CHANGE:
        trend = 'falling'
    return {'trend': trend, 'of': len(instants), 'earlier': earlier, 'later': later}
