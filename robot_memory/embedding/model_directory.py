"""Model directories in the cache: made whole or not at all, by whichever process is first."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from robot_memory.embedding.locate import MODEL_FILE

ABANDONED_AFTER = 3600.0
"""Seconds after which a half-made directory belongs to a process that was killed."""


def make_whole(directory: Path, fill: Callable[[Path], None]) -> None:
    """
    Make a model directory that `fill` writes, all of it or nothing.

    The files are made in a directory beside it that is renamed at the end; when another process
    was faster, its result stays. What killed processes left is removed.
    """
    directory.parent.mkdir(parents=True, exist_ok=True)
    for left in directory.parent.glob(f'.{directory.name}-*'):
        if time.time() - left.stat().st_mtime > ABANDONED_AFTER:
            shutil.rmtree(left, ignore_errors=True)
    making = Path(tempfile.mkdtemp(prefix=f'.{directory.name}-', dir=directory.parent))
    try:
        fill(making)
        making.chmod(0o755)
        try:
            making.rename(directory)
        except OSError:
            if not (directory / MODEL_FILE).exists():
                raise
    finally:
        shutil.rmtree(making, ignore_errors=True)
