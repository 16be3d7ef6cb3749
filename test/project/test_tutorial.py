"""docs/tutorial.md: its commands work in a terminal, and print what it says."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from tutorials import PAGE, SECTIONS, fits, need_build, programs_of, run, steps_of


def test_teaching_importing_and_asking_go_as_the_page_says(tmp_path: Path) -> None:
    need_build()
    (built, *set_up), *others = (
        step.commands.splitlines() for step in steps_of('Set up', 'Teach', 'Feel', 'Ask')
    )
    assert built == 'make build' and set_up[0] == '. scripts/env'
    assert set_up[-1] == 'export ROBOT_MEMORY_DB=$PWD/log/tutorial/memory.db'
    assert all(
        command.split()[0] in ('robot-memory', 'python') for step in others for command in step
    )
    if find_spec('rclpy'):
        pytest.skip('where ROS 2 is, ros/project/test_live_tutorial.py runs them beside the node')
    run(steps_of('Teach', 'Feel', 'Ask'), tmp_path, {})
    assert (tmp_path / 'contact.png').stat().st_size > 1000


def test_nothing_is_left_when_the_tutorial_has_cleaned_up(tmp_path: Path) -> None:
    need_build()
    folder = tmp_path / 'tutorial'
    folder.mkdir()
    (cleaning,) = steps_of('Clean up')
    run([cleaning], folder, {})
    assert not folder.exists()


def test_every_command_and_program_of_the_page_is_run() -> None:
    assert list(SECTIONS) == [
        *('Set up', 'Teach', 'Feel', 'Ask', 'Replay', 'See', 'Plan', 'Clean up')
    ]
    assert PAGE.count('```bash') == len(steps_of(*SECTIONS))
    assert PAGE.count('```python') == len(programs_of('Replay', 'See', 'Plan'))
    assert PAGE.count('```text') == sum(bool(step.printed) for step in steps_of(*SECTIONS))


def test_what_the_page_does_not_say_is_not_taken_for_what_it_says() -> None:
    assert fits('a ... c\n...\nd', 'a  b c\nd\n')
    assert not fits('a ... c', 'a b d')
    assert not fits('a', 'a b')
