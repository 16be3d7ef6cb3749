"""The sections of the system's status: errors, performance, and what may be improved."""

from __future__ import annotations

from typing import Any

from robot_memory.core.clock import format_instant
from robot_memory.core.errors import Unavailable
from robot_memory.lifecycle.no_record import get_withheld
from robot_memory.memory import Memory
from robot_memory.metrics.registry import ErrorSeverity, Timing
from robot_memory.status.summary import measure_free_bytes
from robot_memory.storage.admin.advice import LITTLE_ROOM, upkeep
from robot_memory.storage.indexes import other_vectors, vectors
from robot_memory.storage.source import LARGE_LOG
from robot_memory.storage.tables import counts

_MB = 1e6
_MOST_WAITING = 100_000
_MUCH_FREE = 0.25
_WORTH_FREEING = 10e6
_GRAVE = (ErrorSeverity.CRITICAL, ErrorSeverity.HIGH)


def report_errors(memory: Memory) -> dict[str, Any]:
    """Return how many errors there were since the start, the latest first; how extensions do."""
    registry = memory.registry
    by_operation = registry.group_errors(lambda operation, _, __: operation)
    return {
        'total': sum(by_operation.values()),
        'by_code': registry.group_errors(lambda _, code, __: code),
        'by_severity': registry.group_errors(lambda _, __, severity: severity.value),
        'by_operation': by_operation,
        'latest': [
            {
                'time': format_instant(failure.time),
                'operation': failure.operation,
                'code': failure.code,
                'message': failure.message,
                'severity': failure.severity.value,
            }
            for failure in registry.list_failures()
        ],
        'extensions': [
            {
                'name': one.name,
                'kind': one.kind,
                'version': one.version,
                'failures_in_a_row': one.failures,
                'last_error': one.last_error,
                'disabled': one.disabled,
            }
            for one in memory.extensions.loaded
        ],
    }


def report_performance(memory: Memory) -> dict[str, Any]:
    """Return timings since the start, the caches, the model, and what the process takes."""
    registry = memory.registry
    operations = registry.get_operation_timings()
    embedder = memory.embedder.get_if_loaded()
    second = memory.vectorizer.get_second()
    room = measure_free_bytes(memory)
    return {
        'uptime_s': round(registry.uptime, 1),
        'tools': {
            name: _format_timing(found) for name, found in registry.get_request_timings().items()
        },
        'operations': {name: _format_timing(found) for name, found in operations.items()},
        'all_tools': _format_timing(registry.get_total_timing()),
        'query_cache': {
            'hits': registry.get_count('query_cache_hits'),
            'misses': registry.get_count('query_cache_misses'),
            'hit_ratio': registry.compute_hit_ratio('query_cache'),
        },
        'withheld': get_withheld(memory),
        'embedder': {
            'model': embedder.name if embedder else None,
            'state': memory.embedder.state,
            'reason': memory.embedder.reason,
            'breaker': memory.vectorizer.breaker.state,
            'background_breaker': memory.vectorizer.background.state,
            'second_model': second.name if second else None,
            'second_state': memory.second.state,
            'query_ms': _format_timing(operations.get('embed_query', Timing()))['mean_ms'],
        },
        'rss_mb': measure_resident_megabytes(),
        'store_mb': round(counts.bytes_of(memory.db.path) / _MB, 1),
        'disk_free_mb': None if room is None else round(room / _MB, 1),
    }


def report_optimization(memory: Memory) -> list[dict[str, str]]:
    """Return what was measured that something can be done about, and the command that does it."""
    try:
        with memory.db.read() as connection:
            waiting = vectors.count_missing(connection, _MOST_WAITING)
            if memory.vectorizer.get_second() is not None:
                waiting = max(waiting, other_vectors.count_missing(connection, _MOST_WAITING))
            file = upkeep(connection, memory.db.path)
    except Unavailable as error:
        return [{'measured': str(error), 'command': f'ls -l {memory.db.path.parent}'}]
    room = measure_free_bytes(memory)
    limit = memory.settings.store_limit_mb
    grave = sum(
        number
        for (_, _, severity), number in memory.registry.get_error_counts().items()
        if severity in _GRAVE
    )
    model = memory.embedder
    breakers = [memory.vectorizer.breaker.state, memory.vectorizer.background.state]
    found = [
        (
            file.log > LARGE_LOG,
            f'the WAL has {_format_megabytes(file.log)}',
            'robot-memory maintain',
        ),
        (
            file.free > max(_WORTH_FREEING, _MUCH_FREE * file.file),
            f'{_format_megabytes(file.free)} of {_format_megabytes(file.file)} in the file are '
            'free pages',
            'robot-memory maintain',
        ),
        (
            bool(waiting) and model.state != 'loading',
            f'{"at least " * (waiting == _MOST_WAITING)}{waiting} memories have no vector',
            'robot-memory index',
        ),
        (
            model.state == 'failed',
            f'the embedding model cannot be loaded: {model.reason}',
            'robot-memory index --verbose',
        ),
        (
            breakers != ['closed'] * 2,
            f'the embedding model fails repeatedly: circuit breaker {breakers[0]}, in the '
            f'background {breakers[1]}',
            'robot-memory index --verbose',
        ),
        (
            room is not None and room < LITTLE_ROOM,
            f'{_format_megabytes(room or 0)} free on the disk of {memory.db.path}',
            f'df {memory.db.path.parent}',
        ),
        (
            bool(clock := memory.timekeeper.describe_suspicion()),
            clock,
            'robot-memory clock',
        ),
        (
            bool(limit) and file.file > limit * _MB,
            f'the file has {_format_megabytes(file.file)}, store_limit_mb is {limit:g}',
            'robot-memory maintain',
        ),
        (
            bool(grave),
            f'{grave} internal errors since the start; the log has their tracebacks',
            'robot-memory sage-system-status --no-include-performance',
        ),
    ]
    return [
        {'measured': measured, 'command': command} for holds, measured, command in found if holds
    ]


def measure_resident_megabytes() -> float | None:
    """Return the memory that this process takes, as far as the system tells (Linux)."""
    try:
        with open('/proc/self/status', encoding='ascii') as status:
            (kilobytes,) = (line.split()[1] for line in status if line.startswith('VmRSS:'))
    except (OSError, ValueError):
        return None
    return round(int(kilobytes) * 1024 / _MB, 1)


def _format_timing(timing: Timing) -> dict[str, float]:
    return {
        'count': timing.count,
        'mean_ms': round(timing.mean * 1000, 3),
        'max_ms': round(timing.max * 1000, 3),
        'p99_ms': round(timing.p99 * 1000, 3),
    }


def _format_megabytes(size: float) -> str:
    return f'{size / _MB:.1f} MB'
