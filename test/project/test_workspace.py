"""docs/workspace.md: its packages are built beside ours by its own commands, and used."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / 'docs/workspace.md').read_text(encoding='utf-8')
COMMANDS = re.findall(r'```bash\n(.*?)```', PAGE, re.DOTALL)
FILES = re.findall(r'`~/cell_ws/(src/[^`]+)`:\n\n```\w+\n(.*?)```', PAGE, re.DOTALL)


def test_packages_beside_ours_are_built_and_used_by_the_pages_own_commands(
    tmp_path: Path,
) -> None:
    pytest.importorskip('rclpy', reason='no ROS 2 here')
    if not (ROOT / 'install/local_setup.bash').exists():
        pytest.skip('scripts/env needs `make build`, which was not run in this tree')
    workspace = tmp_path / 'cell_ws'
    for name, text in FILES:
        path = workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding='utf-8')
    script = 'set -em\n' + ''.join(COMMANDS).replace('~/robot_memory', f"'{ROOT}'").replace(
        '~/cell_ws', f"'{workspace}'"
    )
    ran = subprocess.run(
        ['bash', '-c', script],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, 'ROBOT_MEMORY_DB': str(tmp_path / 'memory.db')},
        timeout=600,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert '2 packages finished' in ran.stdout
    assert 'The red cup needs 12 N of grip force' in ran.stdout.splitlines()


def test_the_page_shows_every_file_of_its_two_packages() -> None:
    assert {name.split('/')[1] for name, _ in FILES} == {'cell_msgs', 'cell_app'}
    assert len(FILES) == 7
