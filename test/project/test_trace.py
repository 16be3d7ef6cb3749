"""The path of a recall through the files: it may become shorter, and is not to grow again."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ('options', 'mode', 'moves', 'climbs'),
    [(['--no-model'], 'bm25_only', 70, 16), ([], 'hybrid', 74, 17)],
    ids=['no model', 'both models'],
)
def test_a_recall_moves_between_no_more_files_than_before(
    options: list[str], mode: str, moves: int, climbs: int
) -> None:
    """Print the trace as a developer does, and read what docs/recall.md says of two words."""
    script = [sys.executable, 'scripts/trace_recall.py', *options]
    ran = subprocess.run(script, cwd=ROOT, capture_output=True, text=True, check=True)
    found = re.search(r'^query \((\w+)\): .* (\d+) moves, (\d+) climbs', ran.stdout, re.M)
    assert found, ran.stdout
    if found[1] != mode:
        pytest.skip(f'a query is {found[1]} here, since the embedding model is not set up')
    assert int(found[2]) <= moves
    assert int(found[3]) <= climbs
