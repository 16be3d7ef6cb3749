"""How the memory is: in short for a watchdog, and in numbers for Prometheus."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, SummaryMetricFamily
from prometheus_client.metrics_core import Metric

from robot_memory.core.clock import format_instant
from robot_memory.core.no_record import Withheld
from robot_memory.core.version import get_version
from robot_memory.memory import Memory
from robot_memory.metrics.registry import Timing
from robot_memory.storage.admin.advice import measure_room
from robot_memory.storage.indexes import vectors
from robot_memory.storage.tables import counts, sizes

CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'
"""What `metrics` returns."""
TYPES = {'conversation': 'turn', 'fact': 'fact', 'perception': 'perception'}
"""The document's names of the types of memories, and ours."""
_MOST_WAITING = 100_000
"""As far as waiting vectors are counted for a metric."""


def check_health(memory: Memory) -> dict[str, Any]:
    """
    Say whether the memory can be read; never raise, and tell nothing that is kept in it.

    `memory_count` is None where the store cannot be read.
    """
    count: int | None = None
    cache = 'inactive'
    try:
        memory.db.refuse_removed()
        with memory.db.read() as connection:
            cache = memory.cache_state(connection)
            count = counts.by_type(connection).total()
        database = 'connected'
    except Exception:
        database = 'unavailable'
    return {
        'status': 'unhealthy' if count is None else 'healthy',
        'timestamp': format_instant(memory.clock()),
        'memory_count': count,
        'database': database,
        'cache_status': cache,
        'version': get_version(),
    }


def render_metrics(memory: Memory) -> str:
    """Return the figures in Prometheus's text format 0.0.4; no scrape counts rows."""
    collected = CollectorRegistry(auto_describe=False)
    collected.register(_Figures(memory))
    return generate_latest(collected).decode()


class _Figures:
    """Collect the figures of a memory when Prometheus asks."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def describe(self) -> Iterable[Metric]:
        return ()

    def collect(self) -> Iterator[Metric]:
        yield from self._collect_calls()
        yield from self._collect_embedding()
        yield from self._collect_store()

    def _collect_calls(self) -> Iterator[Metric]:
        registry = self._memory.registry
        requests = CounterMetricFamily(
            'sage_api_requests', 'Tool calls through all interfaces.', labels=['method']
        )
        for tool, timing in registry.get_request_timings().items():
            requests.add_metric([tool], timing.count)
        yield requests
        times = registry.get_total_timing()
        yield _make_summary('sage_response_time_seconds', 'Duration of recent calls.', {(): times})
        yield _make_summary(
            'robot_memory_tool_seconds',
            'Duration of recent calls per tool.',
            {(('tool', tool),): timing for tool, timing in registry.get_request_timings().items()},
        )
        yield _make_summary(
            'robot_memory_operation_seconds',
            'Duration of timed operations other than tools.',
            {
                (('operation', name),): timing
                for name, timing in registry.get_operation_timings().items()
            },
        )
        errors = CounterMetricFamily(
            'robot_memory_errors',
            'Errors, including those caused by callers.',
            labels=['operation', 'code', 'severity'],
        )
        for (operation, code, severity), number in registry.get_error_counts().items():
            errors.add_metric([operation, code, severity.value], number)
        yield errors

        withheld = CounterMetricFamily(
            'robot_memory_withheld',
            'Messages and calls of which nothing was kept, by no-record zones and times.',
            labels=['reason'],
        )
        for reason in Withheld:
            withheld.add_metric([reason.label], registry.get_count(reason.counter))
        yield withheld

    def _collect_embedding(self) -> Iterator[Metric]:
        memory = self._memory
        hits, misses = (memory.registry.get_count(f'query_cache_{n}') for n in ('hits', 'misses'))
        yield _make_gauge(
            'sage_cache_hit_ratio',
            'Hit ratio of the query vector cache.',
            memory.registry.compute_hit_ratio('query_cache') or 0.0,
        )
        lookups = CounterMetricFamily(
            'robot_memory_query_cache_lookups',
            'Lookups in the query vector cache.',
            labels=['result'],
        )
        lookups.add_metric(['hit'], hits)
        lookups.add_metric(['miss'], misses)
        yield lookups
        yield _make_state_gauge(
            'robot_memory_model_state',
            'State of the embedding model.',
            memory.embedder.state,
            ('off', 'loading', 'ready', 'failed'),
        )
        for name, breaker, help in (
            (
                'embedder',
                memory.vectorizer.breaker,
                'Circuit breaker of the embedding model for queries.',
            ),
            (
                'background',
                memory.vectorizer.background,
                'Circuit breaker of the embedding model for background work.',
            ),
        ):
            yield _make_state_gauge(
                f'robot_memory_{name}_breaker',
                help,
                breaker.state,
                ('closed', 'open', 'half_open'),
            )

    def _collect_store(self) -> Iterator[Metric]:
        memory = self._memory
        try:
            memory.db.refuse_removed()
            with memory.db.read() as connection:
                types = counts.by_type(connection)
                waiting = vectors.count_missing(connection, _MOST_WAITING)
                sessions = counts.open_sessions(connection)
                used = {
                    'payloads': sizes.get_payloads(connection),
                    'perceptions': sizes.get_perceptions(connection),
                }
                folded = sizes.count_folded(connection)
            size, free = counts.bytes_of(memory.db.path), measure_free_bytes(memory)
        except Exception:
            yield _make_gauge('robot_memory_up', 'Whether the store is readable.', 0)
            return
        yield _make_gauge('robot_memory_up', 'Whether the store is readable.', 1)
        total = GaugeMetricFamily('sage_memory_total', 'Active memories.', labels=['type'])
        for name, type in TYPES.items():
            total.add_metric([name], types[type])
        yield total
        yield _make_gauge(
            'robot_memory_damaged_pages',
            'Pages of the store whose checksums do not match, of those checked so far.',
            len(memory.scrubber.damaged),
        )
        yield CounterMetricFamily(
            'robot_memory_indexes_rebuilt',
            'Damaged indexes that this process made anew from the rows.',
            value=memory.mender.made,
        )
        yield _make_gauge(
            'robot_memory_indexes_set_aside',
            'Groups of indexes that are damaged, which reads do without.',
            len(memory.mender.found),
        )
        yield _make_gauge(
            'robot_memory_damaged_parts',
            'Payload parts whose bytes are not those that were stored, of those checked so far.',
            len(memory.part_checker.damaged),
        )
        yield _make_gauge('robot_memory_store_bytes', 'Size of the database and its WAL.', size)
        content = GaugeMetricFamily(
            'robot_memory_content_bytes',
            'Size of what has a limit: payloads, perceptions.',
            labels=['content'],
        )
        for name, number in used.items():
            content.add_metric([name], number)
        yield content
        yield CounterMetricFamily(
            'robot_memory_folded', 'Perceptions of which only the event is left.', value=folded
        )
        yield _make_gauge(
            'robot_memory_disk_free_bytes', 'Free space on the disk of the store.', free or 0
        )
        yield _make_gauge(
            'robot_memory_vectors_waiting',
            f'Active memories without a vector, counted up to {_MOST_WAITING}.',
            waiting,
        )
        yield _make_gauge('robot_memory_sessions_open', 'Open sessions.', sessions)


def describe_damage(memory: Memory) -> str:
    """Return in words what of the store is known to be damaged, '' where nothing is."""
    return memory.mender.describe() or memory.scrubber.describe() or memory.part_checker.describe()


def measure_free_bytes(memory: Memory) -> int | None:
    """Return the room on the disk of the store for its user; None where the folder is gone."""
    return measure_room(memory.db.path.parent)


def _make_gauge(name: str, help: str, value: float) -> Metric:
    return GaugeMetricFamily(name, help, value=value)


def _make_state_gauge(name: str, help: str, now: str, states: Iterable[str]) -> Metric:
    """Return a gauge with a label `state` that is 1 for the present one."""
    family = GaugeMetricFamily(name, help, labels=['state'])
    for state in states:
        family.add_metric([state], float(state == now))
    return family


def _make_summary(
    name: str, help: str, timings: dict[tuple[tuple[str, str], ...], Timing]
) -> Metric:
    """Return timings by their labels; the quantiles are of the latest calls."""
    family = SummaryMetricFamily(name, help)
    for pairs, timing in timings.items():
        labels = dict(pairs)
        for quantile, value in (('0.5', timing.p50), ('0.99', timing.p99)):
            family.add_sample(name, {**labels, 'quantile': quantile}, value)
        family.add_sample(f'{name}_sum', labels, timing.total)
        family.add_sample(f'{name}_count', labels, timing.count)
    return family
