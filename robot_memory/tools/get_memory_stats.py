"""The operator's glance at the memory."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from robot_memory.core.fields import arg
from robot_memory.core.zones import to_local
from robot_memory.memory import Memory
from robot_memory.retrieval.events import choose_zone, count_since
from robot_memory.status.summary import TYPES
from robot_memory.storage.tables import counts
from robot_memory.tool import tool


@dataclass(frozen=True)
class GetMemoryStatsRequest:
    """Ask for nothing in particular."""


@dataclass(frozen=True)
class GetMemoryStatsResponse:
    """Response of get_memory_stats."""

    total: int = arg('Number of active memories: turns, facts and perceptions.')
    today: int = arg('Number of active memories stored since local midnight.')
    this_week: int = arg('Number of active memories stored since Monday, local midnight.')
    size: str = arg('Size of the database and its WAL, human-readable.')
    size_mb: float = arg('Size in megabytes (10^6 bytes).')
    sessions: int = arg('Number of sessions, open and ended.')
    avg_turns_per_session: float = arg('Mean number of turns per session that has turns.')
    measured_today: int = arg('Number of events measured since local midnight.')
    measured_this_week: int = arg('Number of events measured since Monday, local midnight.')


@tool(read_only=True, idempotent=True, sage=True)
def get_memory_stats(memory: Memory, request: GetMemoryStatsRequest) -> GetMemoryStatsResponse:
    """Count memories (total, today, this week), sessions and turns, and report the store size."""
    with memory.db.read() as connection:
        zone = choose_zone(memory)
        today, week = _find_midnights(memory.timekeeper.read_now(connection), zone)
        types = counts.by_type(connection)
        stored_today, stored_this_week = (
            counts.active_since(connection, instant) for instant in (today, week)
        )
        sessions = counts.sessions(connection).total()
        talked = counts.talked(connection)
    megabytes = counts.bytes_of(memory.db.path) / 1e6
    return GetMemoryStatsResponse(
        total=types.total(),
        today=stored_today,
        this_week=stored_this_week,
        size=f'{megabytes:.1f} MB',
        size_mb=round(megabytes, 1),
        sessions=sessions,
        avg_turns_per_session=round(types[TYPES['conversation']] / max(talked, 1), 1),
        measured_today=count_since(memory, today, zone),
        measured_this_week=count_since(memory, week, zone),
    )


def _find_midnights(now: int, zone: ZoneInfo) -> tuple[int, int]:
    """Return in microseconds when today and this week began in a zone."""
    today = to_local(now, zone).date()
    monday = today - timedelta(days=today.weekday())
    began = [datetime.combine(day, time(), zone) for day in (today, monday)]
    return round(began[0].timestamp() * 1e6), round(began[1].timestamp() * 1e6)
