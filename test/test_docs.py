"""The documents name files that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob('*.md'), *ROOT.glob('docs/**/*.md')])
NAMED = re.compile(r'`((?:[\w.-]+/)*[\w-]+\.(?:py|toml|md))`')


@pytest.mark.parametrize('page', PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_page_names_files_that_are_there(page: Path) -> None:
    for name in NAMED.findall(page.read_text(encoding='utf-8')):
        homes = (ROOT, ROOT / 'robot_memory', page.parent)
        assert any((home / name).exists() for home in homes), f'{page.name}: there is no {name}'
