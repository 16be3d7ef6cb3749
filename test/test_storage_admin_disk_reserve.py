"""Forgetting, erasing and maintaining on a disk that is full."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from robots import MovableClock, Robot
from small_disks import run_on_small_disk

SCRIPT = """
import sys
from pathlib import Path
from robots import MovableClock, Robot
from small_disks import fill_disk
from robot_memory.core.errors import Unavailable
from robot_memory.core.settings import Settings
from robot_memory.memory import Memory

folder, verb, reserve = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
is_resident = sys.argv[4:] == ['resident']
settings = Settings(
    db_path=str(folder / 'memory.db'), model='none', python_role='operator', disk_reserve=reserve
)
clock = MovableClock()
memory = Memory(settings, resident=is_resident, clocks=clock)
robot = Robot(memory)
kept = memory.disk_reserve
for number in range(20):
    robot.learn(f'Shelf {number} holds part {number * 37}')
if not is_resident:
    clock.forward(seconds=61)
    kept.run()
print(memory.disk_reserve.size)
fill_disk(folder)
def attempt(call):
    try:
        call()
    except Unavailable as error:
        return 'full' if 'full' in str(error) else str(error)
    return 'done'
def erase():
    token = robot.erase(memory_ids=[3], reason='asked for').token
    assert robot.erase(token=token).status == 'erased'
def maintain():
    done = {step.name for step in robot.maintain(all=True).steps if step.done}
    assert done >= {'integrity', 'audit'}, done
verbs = {'forget': lambda: robot.forget(2, 'wrong'), 'erase': erase, 'maintain': maintain}
print(attempt(lambda: [robot.learn(f'Later {n} came box {n * 31}') for n in range(2000)]))
print(attempt(verbs[verb]))
print(memory.disk_reserve.size)
robot.close()
"""
MB = 1_000_000


@pytest.mark.parametrize('verb', ['forget', 'erase', 'maintain'])
def test_what_makes_room_finds_room(verb: str, tmp_path: Path) -> None:
    assert run_on_small_disk(tmp_path, verb, '3', script=SCRIPT) == [
        str(3 * MB),
        'full',
        'done',
        '0',
    ]


@pytest.mark.parametrize('verb', ['forget', 'erase', 'maintain'])
def test_what_makes_room_finds_room_as_soon_as_a_store_is_opened(
    verb: str, tmp_path: Path
) -> None:
    told = run_on_small_disk(tmp_path, verb, '32', 'resident', script=SCRIPT)
    size, *rest = told
    assert 3 * MB < int(size) <= 4 * MB, 'a quarter of the disk'
    assert rest == ['full', 'done', '0']


def test_without_a_reserve_a_full_disk_lets_nothing_be_forgotten(tmp_path: Path) -> None:
    assert run_on_small_disk(tmp_path, 'forget', '0', script=SCRIPT) == ['0', 'full', 'full', '0']


def test_it_is_kept_where_there_is_room_and_as_large_as_it_shall_be(
    open_robot: Callable[..., Robot], clock: MovableClock
) -> None:
    robot = open_robot(resident=False, disk_reserve=2)
    reserve = robot.memory.disk_reserve
    reserve.run()
    assert reserve.size == 0, 'a process that ends soon makes none'
    reserve.begin()
    assert reserve.size == 2 * MB
    reserve.path.unlink()
    clock.forward(seconds=61)
    reserve.run()
    assert reserve.size == 2 * MB
    reserve.release()
    assert reserve.size == 2 * MB, 'the disk is not full'
    for wanted in (1, 6, 0):
        clock.forward(seconds=61)
        object.__setattr__(robot.memory.settings, 'disk_reserve', wanted)
        reserve.run()
        assert reserve.size == wanted * MB


def test_a_long_running_process_makes_the_first_part_before_it_takes_a_write(
    open_robot: Callable[..., Robot], clock: MovableClock
) -> None:
    robot = open_robot(disk_reserve=9)
    reserve = robot.memory.disk_reserve
    assert reserve.size == 4 * MB
    clock.forward(seconds=61)
    reserve.run()
    assert reserve.size == 9 * MB
    robot.close()
    assert open_robot(disk_reserve=9).memory.disk_reserve.size == 9 * MB
