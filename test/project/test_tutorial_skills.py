"""docs/tutorial-skills.md: its commands work, and the robot gets better as it says."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from tutorials import PAGE_OF_SKILLS, SECTIONS_OF_SKILLS, need_build, run, steps_of

LEARNING = steps_of('Learn', sections=SECTIONS_OF_SKILLS)
STEPS = [
    step
    for name in ('Ask', 'Limit', 'Clean up')
    for step in steps_of(name, sections=SECTIONS_OF_SKILLS)
]


@pytest.fixture(scope='module')
def learned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder in which the robot of the page has learned, and what it printed; only to read."""
    need_build()
    folder = tmp_path_factory.mktemp('learned') / 'tutorial'
    folder.mkdir()
    return folder, ''.join(run(LEARNING, folder, {}))


def test_asking_and_limiting_go_as_the_page_says(
    learned: tuple[Path, str], tmp_path: Path
) -> None:
    folder = tmp_path / 'tutorial'
    shutil.copytree(learned[0], folder)
    run(STEPS, folder, {})
    assert not folder.exists()


def test_the_robot_of_the_page_gets_better_and_one_without_a_memory_does_not(
    learned: tuple[Path, str],
) -> None:
    folder, printed = learned
    curves = [
        [int(number) for number in found.split(', ')]
        for found in re.findall(r'good of each 20: ([\d, ]+)', printed)
    ]
    learning, guessing = curves
    assert len(learning) == len(guessing) == 5
    assert sum(learning[2:]) >= 45, 'three quarters of the last 60, and some'
    assert sum(guessing[2:]) <= 30
    assert (folder / 'push.png').stat().st_size > 1000


def test_every_command_of_the_page_is_run() -> None:
    set_up = steps_of('Set up', sections=SECTIONS_OF_SKILLS)
    assert set_up == steps_of('Set up')
    assert PAGE_OF_SKILLS.count('```bash') == len(LEARNING + STEPS) + len(set_up)
    assert PAGE_OF_SKILLS.count('```text') == sum(bool(step.printed) for step in LEARNING + STEPS)
