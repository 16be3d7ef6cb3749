"""docs/tutorial-skills.md: its commands work, and the robot gets better as it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tutorials import PAGE_OF_SKILLS, ROOT, SECTIONS_OF_SKILLS, need_build, run, steps_of

STEPS = [
    step
    for name in ('Learn', 'Ask', 'Limit', 'Clean up')
    for step in steps_of(name, sections=SECTIONS_OF_SKILLS)
]


def test_learning_asking_and_limiting_go_as_the_page_says(tmp_path: Path) -> None:
    need_build()
    folder = tmp_path / 'tutorial'
    folder.mkdir()
    run(STEPS, folder, {})
    assert not folder.exists()


def test_the_robot_of_the_page_gets_better_and_one_without_a_memory_does_not(
    tmp_path: Path,
) -> None:
    ran = subprocess.run(
        [sys.executable, ROOT / 'examples/learn_to_push.py', '--plot', tmp_path / 'push.png'],
        env={**os.environ, 'ROBOT_MEMORY_DB': str(tmp_path / 'memory.db')},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    curves = [
        [int(number) for number in found.split(', ')]
        for found in re.findall(r'good of each 20: ([\d, ]+)', ran.stdout)
    ]
    learned, guessed = curves
    assert len(learned) == len(guessed) == 5
    assert sum(learned[2:]) >= 45, 'three quarters of the last 60, and some'
    assert sum(guessed[2:]) <= 30
    assert (tmp_path / 'push.png').stat().st_size > 1000


def test_every_command_of_the_page_is_run() -> None:
    set_up = steps_of('Set up', sections=SECTIONS_OF_SKILLS)
    assert set_up == steps_of('Set up')
    assert PAGE_OF_SKILLS.count('```bash') == len(STEPS) + len(set_up)
    assert PAGE_OF_SKILLS.count('```text') == sum(bool(step.printed) for step in STEPS)
