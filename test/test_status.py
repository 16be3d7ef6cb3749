"""How the memory is: health, metrics, the operator's figures, the status of the system."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from narrowing import require
from prometheus_client.parser import text_string_to_metric_families
from robots import MovableClock, Robot, fill, fill_and_forget

from robot_memory.core.clock import DAY, format_instant
from robot_memory.core.errors import NotFound, RobotMemoryError, Unavailable
from robot_memory.core.fields import to_plain
from robot_memory.embedding import BackgroundEmbedder
from robot_memory.status import summary

HEALTH = ['status', 'timestamp', 'memory_count', 'database', 'cache_status', 'version']
TYPES = ('fact', 'perception', 'turn')


def families(robot: Robot) -> dict[tuple[Any, ...], float]:
    """Return what a scrape says: samples by name and labels."""
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(summary.render_metrics(robot.memory))
        for sample in family.samples
    }


def test_health_has_the_keys_of_the_document_in_their_order(
    robot: Robot, clock: MovableClock
) -> None:
    fill_and_forget(robot)
    told = summary.check_health(robot.memory)
    assert list(told) == HEALTH
    assert told['status'] == 'healthy'
    assert told['database'] == 'connected'
    assert told['cache_status'] == 'active'
    assert told['timestamp'] == format_instant(clock.now)
    assert re.fullmatch(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z', told['timestamp'])
    assert told['memory_count'] == robot.query_records().total_count
    assert re.fullmatch(r'\d+\.\d+\.\d+', told['version'])


def test_health_of_a_closed_store_is_told_and_not_raised(robot: Robot) -> None:
    robot.close()
    told = summary.check_health(robot.memory)
    assert list(told) == HEALTH
    assert (told['status'], told['database']) == ('unhealthy', 'unavailable')
    assert told['memory_count'] is None


def test_a_store_whose_file_was_removed_is_unhealthy(robot: Robot) -> None:
    robot.learn('kept in a file that goes')
    robot.memory.db.path.unlink()
    assert summary.check_health(robot.memory)['status'] == 'unhealthy'
    assert families(robot)['robot_memory_up',] == 0


def test_health_and_metrics_tell_nothing_that_is_kept(robot: Robot) -> None:
    robot.learn('the code of the door is 4711')
    with pytest.raises(NotFound):
        robot.forget(4712, 'a secret reason')
    text = json.dumps(summary.check_health(robot.memory)) + summary.render_metrics(robot.memory)
    assert '4711' not in text
    assert 'secret' not in text
    assert str(robot.memory.db.path) not in text


def test_metrics_have_the_names_and_labels_of_the_document(robot: Robot) -> None:
    fill_and_forget(robot)
    robot.recall('cup')
    found = families(robot)
    active = {
        type: robot.query_records(where={'type': type}, limit=1).total_count for type in TYPES
    }
    assert found['sage_memory_total', ('type', 'conversation')] == active['turn'] > 0
    assert found['sage_memory_total', ('type', 'fact')] == active['fact'] > 0
    assert found['sage_memory_total', ('type', 'perception')] == active['perception'] > 0
    assert found['sage_api_requests_total', ('method', 'save_conversation')] == 4
    assert found['sage_api_requests_total', ('method', 'recall')] == 1
    low = found['sage_response_time_seconds', ('quantile', '0.5')]
    assert 0 < low <= found['sage_response_time_seconds', ('quantile', '0.99')]
    assert found['sage_cache_hit_ratio',] == 0


def test_every_metric_has_a_help_and_a_type_line(robot: Robot) -> None:
    fill_and_forget(robot)
    text = summary.render_metrics(robot.memory)
    helped = re.findall(r'^# HELP (\w+) \S', text, re.MULTILINE)
    typed = dict(re.findall(r'^# TYPE (\w+) (\w+)$', text, re.MULTILINE))
    assert helped == list(typed)
    assert len(helped) == len(set(helped))
    names = {re.split(r'[ {]', line)[0] for line in text.splitlines() if line[0] != '#'}
    for name in names:
        assert name in typed or re.sub('_(sum|count)$', '', name) in typed
    assert typed['sage_api_requests_total'] == 'counter'
    assert typed['sage_memory_total'] == 'gauge'
    assert typed['sage_response_time_seconds'] == 'summary'


def test_metrics_count_errors_by_code(robot: Robot) -> None:
    for _ in range(3):
        with pytest.raises(RobotMemoryError):
            robot.learn('')
    name = 'robot_memory_errors_total'
    labels = (('code', 'invalid_argument'), ('operation', 'learn'), ('severity', 'low'))
    key = (name, *labels)
    assert families(robot)[key] == 3


def test_a_scrape_of_a_store_that_cannot_be_read_still_tells_of_the_calls(robot: Robot) -> None:
    robot.learn('something')
    robot.close()
    found = families(robot)
    assert found['robot_memory_up',] == 0
    assert found['sage_api_requests_total', ('method', 'learn')] == 1


def test_the_hit_ratio_is_that_of_the_questions(
    open_robot: Callable[..., Robot], tiny_embedders: dict[int, BackgroundEmbedder]
) -> None:
    robot = open_robot('', embedder=tiny_embedders[8])
    robot.embed_all()
    robot.learn('the red cup is on the shelf')
    for query in ('red cup', 'red cup', 'red cup', 'blue plate'):
        assert robot.recall(query).mode in ('hybrid', 'vec_only')
    assert families(robot)['sage_cache_hit_ratio',] == 0.5


def test_neither_health_nor_metrics_read_rows_of_memories(robot: Robot) -> None:
    """What a scrape asks is answered by the kept counts and by short indexes alone."""
    fill_and_forget(robot)
    asked = []
    with robot.memory.db.read() as connection:
        connection.trace_v2(1, lambda event: asked.append(event['sql']))
    summary.check_health(robot.memory)
    summary.render_metrics(robot.memory)
    with robot.memory.db.read() as connection:
        connection.trace_v2(0, None)
        selected = [sql for sql in asked if sql.startswith('SELECT')]
        assert selected
        for sql in selected:
            assert not re.search(r'FROM memories\b', sql)
            explained = connection.execute(f'EXPLAIN QUERY PLAN {sql}'.replace('?', '1'))
            plan = [step for *_, step in explained]
            assert not [step for step in plan if 'indexed' in step and 'USING' not in step], sql


STATS = 'total today this_week size size_mb sessions avg_turns_per_session'.split()


def test_the_operators_figures_have_the_keys_of_the_document(robot: Robot) -> None:
    fill_and_forget(robot)
    found = to_plain(robot.get_memory_stats())
    assert list(found)[: len(STATS)] == STATS
    assert found['total'] == robot.query_records().total_count
    assert found['today'] == found['this_week'] == found['total']
    assert found['sessions'] == 2
    path = robot.memory.db.path
    size = sum(
        file.stat().st_size for file in path.parent.glob('memory.db*') if 'shm' not in file.name
    )
    assert found['size_mb'] == round(size / 1e6, 1) > 0
    assert found['size'] == f'{found["size_mb"]:.1f} MB'
    assert found['avg_turns_per_session'] == 8.0


@pytest.fixture(params=['UTC', 'America/New_York', 'Asia/Shanghai'])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The robot's time zone."""
    monkeypatch.setenv('TZ', request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


def test_today_and_this_week_begin_at_local_midnight(
    robot: Robot, clock: MovableClock, zone: Any
) -> None:
    now = datetime.fromtimestamp(clock.now / 1e6)
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    monday = midnight - timedelta(days=now.weekday())
    last = clock.now
    moments = [midnight, midnight - timedelta(seconds=1), monday, monday - timedelta(seconds=1)]
    clock.now = round(min(moments).timestamp() * 1e6)
    for number, moment in enumerate(sorted(moments)):
        clock.forward(seconds=moment.timestamp() - clock.now / 1e6)
        robot.learn(f'learned at moment {number}')
    clock.forward(seconds=(last - clock.now) / 1e6)
    found = robot.get_memory_stats()
    stored = [moment.timestamp() for moment in moments]
    assert found.today == sum(one >= midnight.timestamp() for one in stored)
    assert found.this_week == sum(one >= monday.timestamp() for one in stored) == 3


def test_what_was_forgotten_since_counts_neither_today_nor_this_week(
    robot: Robot, clock: MovableClock
) -> None:
    robot.learn('old and still known')
    clock.now += 30 * DAY
    robot.learn('new and still known')
    robot.forget(require(robot.learn('new and wrong').memory_id), 'wrong')
    found = robot.get_memory_stats()
    assert (found.total, found.today, found.this_week) == (2, 1, 1)


def test_a_store_without_sessions_has_no_turns_a_session(robot: Robot) -> None:
    found = robot.get_memory_stats()
    assert (found.total, found.sessions, found.avg_turns_per_session) == (0, 0, 0)


SECTIONS = ('errors', 'performance', 'optimization')
CAPABILITIES = """
    auto_context_injection auto_save conversation_tracking advanced_session_management
    memory_analysis smart_prompts error_handling performance_optimization
""".split()


def test_all_sections_are_there_unless_they_are_not_asked_for(robot: Robot) -> None:
    assert set(SECTIONS) < set(to_plain(robot.sage_system_status()))
    for section in SECTIONS:
        found = to_plain(robot.sage_system_status(**{f'include_{section}': False}))
        assert section not in found
        assert set(SECTIONS) - {section} < set(found)


def fail_often(robot: Robot) -> dict[str, Any]:
    """Have twelve calls refused, and return what the status says of errors."""
    for number in range(12):
        with pytest.raises(NotFound):
            robot.forget(1000 + number, 'x')
    return require(robot.sage_system_status().errors)


def test_the_errors_of_the_status_are_counted(robot: Robot) -> None:
    found = fail_often(robot)
    assert found['total'] == 12
    assert found['by_code'] == {'not_found': 12}
    assert found['by_severity'] == {'low': 12}
    assert found['by_operation'] == {'forget': 12}


def test_the_latest_ten_errors_are_shown_newest_first(robot: Robot) -> None:
    latest = fail_often(robot)['latest']
    assert len(latest) == 10
    assert set(latest[0]) == {'time', 'operation', 'code', 'message', 'severity'}
    assert '1011' in latest[0]['message']


def test_the_performance_of_the_status_is_measured(robot: Robot) -> None:
    robot.learn('the red cup')
    robot.recall('cup')
    found = robot.sage_system_status().performance
    for tool in ('learn', 'recall'):
        timing = require(found)['tools'][tool]
        assert timing['count'] == 1
        assert 0 < timing['mean_ms'] == timing['max_ms'] == timing['p99_ms']
    assert require(found)['rss_mb'] > 1
    assert require(found)['disk_free_mb'] > 0
    assert require(found)['store_mb'] > 0
    assert require(found)['embedder']['state'] == 'off'
    assert require(found)['embedder']['breaker'] == 'closed'


def test_advice_is_given_for_what_was_measured_and_names_a_command(
    open_robot: Callable[..., Robot], tiny_embedders: dict[int, BackgroundEmbedder]
) -> None:
    robot = open_robot('', embedder=tiny_embedders[8], resident=False)
    assert robot.sage_system_status().optimization == []
    fill(robot, 3)
    (advice,) = require(robot.sage_system_status().optimization)
    assert advice == {'measured': '3 memories have no vector', 'command': 'robot-memory index'}
    robot.embed_all()
    assert robot.sage_system_status().optimization == []


def test_a_status_of_a_store_that_cannot_be_read_says_so(robot: Robot) -> None:
    robot.close()
    found = robot.sage_system_status()
    assert found.status == 'unhealthy'
    assert 'is closed' in require(found.optimization)[0]['measured']
    with pytest.raises(Unavailable):
        robot.get_memory_stats()


def test_the_eight_capabilities_are_told_and_those_that_are_switched_off_are_not_had(
    open_robot: Callable[..., Robot],
) -> None:
    found = open_robot().sage_system_status().capabilities
    assert list(found) == CAPABILITIES
    assert found['conversation_tracking'] is True
    assert found['error_handling'] is True
    off = open_robot(name='off', auto_save=False).sage_system_status().capabilities
    assert (off['auto_save'], off['auto_context_injection']) == (False, False)
    assert off['smart_prompts'] == found['smart_prompts']
