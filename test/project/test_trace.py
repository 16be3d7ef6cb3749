"""The path of a recall through the files: it may become shorter, and is not to grow again."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

MOVES, CLIMBS = 63, 16
"""What docs/recall.md says of a query of two words without a model."""


def test_a_recall_moves_between_no_more_files_than_before() -> None:
    """Print the trace as a developer does, and read the line of the plain query."""
    script = [sys.executable, 'scripts/trace_recall.py', '--no-model']
    ran = subprocess.run(script, cwd=ROOT, capture_output=True, text=True, check=True)
    found = re.search(r'^query \(bm25_only\): .* (\d+) moves, (\d+) climbs', ran.stdout, re.M)
    assert found, ran.stdout
    assert int(found[1]) <= MOVES
    assert int(found[2]) <= CLIMBS
