"""The query-events command: lines of text, JSON, and CSV."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from robots import Robot
from test_cli import Cli
from test_tools_query_events import T0, see

from robot_memory.core.settings import Settings
from robot_memory.memory import Memory

SECOND = 1_000_000_000
COUNT = 1100
"""Events of the store: more than a page."""


@pytest.fixture(scope='module')
def cli(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """A command line on a store of contacts, a second apart."""
    made = Cli(Path(tmp_path_factory.mktemp('events')))
    settings = Settings(db_path=str(made.db), model='none', durability='normal')
    with Memory(settings, resident=False) as memory:
        robot = Robot(memory)
        for number in range(COUNT):
            task = 'pour, slowly' if number % 2 else None
            see(robot, at=T0 + number * SECOND, peak_force=number / 100, task=task)
    return made


def rows(text: str) -> list[dict[str, Any]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_csv_has_a_column_for_every_figure(cli: Cli) -> None:
    arguments = ('--order-by', 'peak_force', '--descending', '--limit', '5')
    (first, *rest) = rows(cli.done('query-events', *arguments, '--csv'))
    assert len(rest) == 4
    assert (first['kind'], first['label'], first['task']) == ('contact', 'push', 'pour, slowly')
    assert float(first['peak_force [N]']) == (COUNT - 1) / 100
    assert first['impulse [N s]'] == ''
    told = cli.json('query-events', *arguments)
    assert [event['event_id'] for event in told['events']] == [
        int(row['event_id']) for row in (first, *rest)
    ]


def test_csv_of_all_pages_has_every_event_once(cli: Cli) -> None:
    found = rows(cli.done('query-events', '--csv', '--all'))
    assert len({row['event_id'] for row in found}) == len(found) == COUNT


def test_groups_are_lines_of_text_and_rows_of_csv(cli: Cli) -> None:
    by_task = ('--aggregate', 'count', 'mean', '--figure', 'peak_force', '--group-by', 'task')
    text = cli.done('query-events', *by_task)
    assert 'pour, slowly: 550 events, mean 5.5 N' in text
    assert '1100 events in 2 groups' in text
    found = rows(cli.done('query-events', *by_task, '--csv'))
    assert [(row['key'], row['count']) for row in found] == [('', '550'), ('pour, slowly', '550')]
    assert float(found[1]['mean [N]']) == pytest.approx(5.5)
    bins = ('--aggregate', 'histogram', '--figure', 'peak_force', '--bins', '5', '--csv')
    assert [row['count'] for row in rows(cli.done('query_events', *bins))] == ['220'] * 5


def test_the_zone_is_an_option_of_the_command_and_a_setting(cli: Cli) -> None:
    line, *_ = cli.done('query-events', '--limit', '1', '--time-zone', 'Asia/Tokyo').splitlines()
    assert '2026-02-25T15:13:20.000000+09:00  contact  push · 1 s · /wrench' in line
    told = cli.json('--time-zone', 'Asia/Kolkata', 'query-events', '--limit', '1')
    assert told['time_zone'] == 'Asia/Kolkata'
    assert 'IANA name' in cli.failed('--time-zone', 'Nowhere', 'query-events')
    assert 'all requires csv' in cli.failed('query-events', '--all')
