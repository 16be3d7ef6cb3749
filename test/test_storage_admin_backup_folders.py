"""The folders of backups that a store notes: which disk lay there, and taking one off the list."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from narrowing import require
from robots import Robot
from test_tools_erase import erase

from robot_memory.core.authority import Writer
from robot_memory.core.errors import Conflict, NotFound
from robot_memory.storage.admin import backup, backup_folders


@pytest.fixture
def robot(open_robot: Callable[..., Robot], tmp_path: Path) -> Robot:
    """A robot with facts, of which a backup was made in a folder."""
    place = str(tmp_path / 'backups')
    robot = open_robot(resident=False, python_role='operator', backup_folder=place)
    for name in ('zwetschge', 'marmalade', 'quince', 'medlar'):
        robot.learn(f'the {name} cup')
    robot.learn('the red door')
    back_up(robot)
    return robot


def back_up(robot: Robot) -> Path:
    plan = require(backup.plan_of(robot.memory.settings))
    return backup.back_up_now(robot.memory.db, plan, robot.memory.clock())


def drop(robot: Robot, place: Path, role: str = 'operator') -> str:
    db, writer = robot.memory.db, Writer.of_role('cli', 'anna', role)
    held = len(backup.backups(place, db.path.stem))
    return backup_folders.drop_folder(db, place, held, writer, robot.memory.clock())


def test_a_folder_that_was_deleted_is_missed_until_somebody_takes_it_off_the_list(
    robot: Robot, tmp_path: Path
) -> None:
    place = tmp_path / 'backups'
    shutil.rmtree(place)
    assert require(erase(robot, memory_ids=[1]).receipt)['holds'] is None
    with pytest.raises(Conflict, match='requires the role operator'):
        drop(robot, place, role='planner')
    with pytest.raises(NotFound, match=f'folders that are: {place}'):
        drop(robot, tmp_path / 'elsewhere')
    assert drop(robot, place) == str(place)
    told = robot.rows("SELECT actor, detail FROM audit WHERE action = 'backup_folder_dropped'")
    assert [(who, json.loads(detail)['folder']) for who, detail in told] == [
        ('cli:anna', str(place))
    ]
    receipt = require(erase(robot, memory_ids=[2]).receipt)
    assert (receipt['holds'], receipt['still_holding']) == (True, [])
    back_up(robot)
    receipt = require(erase(robot, memory_ids=[3]).receipt)
    assert (receipt['holds'], len(receipt['rewritten'])) == (True, 1)
    with pytest.raises(Conflict, match='has 1 backups, which erasures search'):
        drop(robot, place)


def test_a_backup_made_while_the_disk_was_away_does_not_stand_for_those_on_it(
    robot: Robot, tmp_path: Path
) -> None:
    place, disk = tmp_path / 'backups', tmp_path / 'disk'
    place.rename(disk)
    below = back_up(robot)
    receipt = require(erase(robot, memory_ids=[1]).receipt)
    assert receipt['holds'] is None and receipt['rewritten'] == [str(below)]
    (away,) = receipt['still_holding']
    assert away.startswith(f'{place}: backups were made there on 1 more disks')
    assert '--drop-folder DIR' in receipt['to_finish']
    place.rename(tmp_path / 'below')
    disk.rename(place)  # mounted again: what is below is out of reach
    receipt = require(erase(robot, memory_ids=[2]).receipt)
    assert receipt['holds'] is None and len(receipt['still_holding']) == 1
    assert drop(robot, place) == f'the disks that were there before ({place})'
    receipt = require(erase(robot, memory_ids=[3]).receipt)
    assert receipt['holds'] is True
    shutil.rmtree(place)
    (tmp_path / 'below').rename(place)
    receipt = require(erase(robot, memory_ids=[4]).receipt)
    assert receipt['holds'] is None
    assert 'not the folder where backups were made' in receipt['still_holding'][0]


def test_a_folder_with_backups_that_lost_its_mark_stays_searched(
    robot: Robot, tmp_path: Path
) -> None:
    place = tmp_path / 'backups'
    (place / f'.{robot.memory.db.path.stem}.mark').unlink()
    assert drop(robot, place) == f'the disks that were there before ({place})'
    with pytest.raises(Conflict, match='has 1 backups, which erasures search'):
        drop(robot, place)
    receipt = require(erase(robot, memory_ids=[1]).receipt)
    assert (receipt['holds'], len(receipt['rewritten'])) == (True, 1)


def test_a_disk_that_is_mounted_elsewhere_is_searched_there(robot: Robot, tmp_path: Path) -> None:
    place = tmp_path / 'backups'
    (tmp_path / 'backups').rename(tmp_path / 'other')
    place.mkdir()
    plan = replace(require(backup.plan_of(robot.memory.settings)), folder=tmp_path / 'other')
    assert require(erase(robot, memory_ids=[1]).receipt)['holds'] is None
    backup.back_up_now(robot.memory.db, plan, robot.memory.clock())
    receipt = require(erase(robot, memory_ids=[2]).receipt)
    assert receipt['holds'] is True and len(receipt['rewritten']) == 2
    shutil.rmtree(place)
    assert require(erase(robot, memory_ids=[3]).receipt)['holds'] is True


@pytest.mark.parametrize('is_away', [True, False])
def test_a_folder_that_an_earlier_release_noted_is_told_from_an_empty_one(
    robot: Robot, tmp_path: Path, is_away: bool
) -> None:
    place = tmp_path / 'backups'
    with robot.memory.db.write() as connection:
        connection.execute("DELETE FROM meta WHERE key = 'backup_marks'")
    (place / f'.{robot.memory.db.path.stem}.mark').unlink()
    if is_away:
        place.rename(tmp_path / 'disk')
    back_up(robot)
    receipt = require(erase(robot, memory_ids=[1]).receipt)
    assert receipt['holds'] is (None if is_away else True)
