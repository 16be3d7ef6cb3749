"""The files of the repository, and what they import."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = [
    path
    for folder in ('robot_memory', 'sage_mcp', 'scripts', 'bench', 'test', 'launch')
    for path in sorted((ROOT / folder).rglob('*'))
    if path.is_file()
    and path.suffix not in ('.pyc', '.cpp')
    and '.cache' not in path.relative_to(ROOT).parts
]
"""Checkouts of other commits, which the bench compares with, are no sources."""


def importers(library: str) -> Iterator[str]:
    """Yield the sources that import a library, in code or in the text of a program."""
    pattern = re.compile(rf'\b(import|from)\s+{library}\b')
    for path in SOURCES:
        content = path.read_bytes()  # most are no text, or do not name it
        if library.encode() in content and pattern.search(content.decode(errors='replace')):
            yield str(path.relative_to(ROOT))
