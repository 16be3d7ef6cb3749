"""The tutorials' pages, taken apart: commands, programs, and what they say is printed."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from waiting import HANG_SECONDS

ROOT = Path(__file__).resolve().parents[1]
_SECTION = re.compile(r'^## \d+\. ([\w ]+)\n(.*?)(?=^## |\Z)', re.M | re.DOTALL)
PAGE = (ROOT / 'docs/tutorial.md').read_text(encoding='utf-8')
SECTIONS = dict(_SECTION.findall(PAGE))
PAGE_OF_SKILLS = (ROOT / 'docs/tutorial-skills.md').read_text(encoding='utf-8')
SECTIONS_OF_SKILLS = dict(_SECTION.findall(PAGE_OF_SKILLS))
_STEP = re.compile(r'```bash\n(.*?)```(?:\n\n```text\n(.*?)```)?', re.DOTALL)
_PROGRAM = re.compile(r'\*\*(log/tutorial/\w+\.py)\*\*:\n\n```python\n(.*?)```', re.DOTALL)
_BETWEEN = '\x1e'


class Step(NamedTuple):
    """Commands that are typed in one go, and what the page says that they print."""

    commands: str
    printed: str


def steps_of(*names: str, sections: Mapping[str, str] = SECTIONS) -> list[Step]:
    """Return the steps of sections."""
    return [Step(*found) for name in names for found in _STEP.findall(sections[name])]


def programs_of(*names: str) -> dict[str, str]:
    """Return the programs of sections by their paths."""
    return {path: text for name in names for path, text in _PROGRAM.findall(SECTIONS[name])}


def need_build() -> None:
    """Skip where scripts/env cannot run."""
    if not Path(os.environ.get('ROBOT_MEMORY_BUILD', ROOT), '.venv/mode').exists():
        pytest.skip('scripts/env needs `make build`, which was not run in this tree')


def fits(wanted: str, printed: str) -> bool:
    """Say whether a text is the wanted one; there `...` is any text, and white space is one."""
    parts = [re.escape(' '.join(part.split())) for part in wanted.split('...')]
    return re.fullmatch('.*'.join(parts), ' '.join(printed.split())) is not None


def run(steps: Iterable[Step], folder: Path, environment: Mapping[str, str]) -> list[str]:
    """
    Run steps as one terminal does, and assert that they succeed and print what the page says.

    Return what each printed.

    Notes on stderr are left out: whether the model was loaded in time depends on the machine.
    What the page has in log/tutorial/ is in `folder`; it has the store memory.db.
    """
    steps = list(steps)
    lines = ['set -e', '. scripts/env']
    for step in steps:
        lines += [step.commands.replace('log/tutorial', str(folder)), f"printf '{_BETWEEN}'"]
    ran = subprocess.run(
        ['bash', '-c', '\n'.join(lines)],
        cwd=ROOT,
        env={**os.environ, 'ROBOT_MEMORY_DB': str(folder / 'memory.db'), **environment},
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    told = ran.stdout.split(_BETWEEN)
    for step, printed in zip(steps, told, strict=False):
        if step.printed:
            assert fits(step.printed, printed), (
                f'{step.commands}printed\n{printed}where the page has\n{step.printed}'
            )
    return told
