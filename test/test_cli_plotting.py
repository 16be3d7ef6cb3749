"""The plot command draws the events of every kind in a window, and says what it leaves out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from robots import Robot
from test_cli import Cli
from test_retrieval_linked_events import stretch
from test_tools_query_events import SECOND, T0, see

pytest.importorskip('matplotlib', reason='plots need matplotlib')

__all__ = ['stretch']


@pytest.fixture
def cli(tmp_path: Path, robot: Robot) -> Cli:
    """A command line on the store of the robot."""
    made = Cli(tmp_path)
    made.environment['ROBOT_MEMORY_DB'] = str(robot.memory.db.path)
    return made


def test_events_of_every_kind_are_drawn(cli: Cli, stretch: dict[str, Any]) -> None:
    told = cli.json('plot', '--since', '2026-02-25', '--width', '900')
    kinds = {'push', 'motion', 'stop', 'picture', 'later', 'unknown', 'stranger'}
    assert {stretch[kind] for kind in kinds} < {*told['events']}
    assert len(told['events']) == len(told['memories']) + 1  # the session is no memory
    with Image.open(cli.folder / told['path']) as picture:
        assert picture.size[0] == 900
    day = ('--since', '2026-02-25T11:43', '--until', '2026-02-25T11:43:30')
    kolkata = ('--force', '--time-zone', 'Asia/Kolkata')
    assert stretch['later'] not in cli.json('plot', *day, *kolkata)['events']  # 06:14:20 UTC
    pushes = ('--where', '{"kind": "contact"}', '--force')
    told = cli.json('plot', '--since', '2026-02-25', *pushes)
    assert told['events'] == [stretch['push'], stretch['later']]


def test_what_is_left_out_is_said_and_the_strongest_are_drawn(cli: Cli, robot: Robot) -> None:
    ids = [see(robot, at=T0 + n * SECOND, peak_force=float(n)) for n in range(12)]
    stop = see(robot, 'fault', T0, label='stop')
    run = cli('plot', '--since', '2026-02-01', '--limit', '6', '--json')
    told = json.loads(run.stdout)
    assert set(told['events']) == {stop, *ids[-5:]}
    assert told['notes'] == ['showing 6 of 13 events: the 5 strongest contact of 12']
    assert told['notes'][0] in run.stderr


def test_a_window_is_said_in_words(cli: Cli, robot: Robot) -> None:
    see(robot, at=T0, peak_force=3.0)
    assert 'no events in that time range' in cli.failed('plot', '--since', 'yesterday')
    assert 'since must be a time' in cli.failed('plot', '--since', 'at tea time')


def test_a_skill_is_drawn_with_its_situations(cli: Cli, robot: Robot) -> None:
    for number in range(24):
        robot.record_outcome(
            'strike',
            ('brass disc', 'wooden block')[number % 2],
            params={'speed': '1 m/s'},
            results={'slide': '40 cm'},
            success=('true', 'false', 'unknown')[number % 3],
        )
    run = cli('plot', '--skill', 'strike', '--width', '900', '--json')
    told = json.loads(run.stdout)
    assert (told['skill'], told['trials']) == ('strike', 24)
    assert told['notes'] == ['success of 8 trials unknown']
    assert told['notes'][0] in run.stderr
    with Image.open(cli.folder / told['path']) as picture:
        assert picture.size[0] == 900
        assert picture.size[1] > 3 * 200
    assert 'skills: strike' in cli.failed('plot', '--skill', 'pour', '--force')
    assert '--skill' in cli.failed('plot', '--skill', 'strike', '--since', 'yesterday')
    assert (cli.folder / 'skill.png').is_file()
