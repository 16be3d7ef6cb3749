"""Which recordings a store has completely: by their content and how they were imported."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from robot_memory.core.version import get_version
from robot_memory.memory import Memory
from robot_memory.storage.tables import meta

_BLOCK = 1 << 16
_SAMPLES = 16
_WHOLE = 32 << 20
"""Bytes up to which all of a file is read: a tenth of a second."""


def compute_key(files: list[Path], plan: Any) -> str:
    """
    Return the identity of an import: size and content of each file, the plan and the release.

    Of files over 32 MB it has samples, the first and the last 64 kB and blocks between them, so
    that large ones cost milliseconds.
    """
    digest = hashlib.sha256(f'{get_version()} {plan!r}'.encode())
    for path in files:
        size = path.stat().st_size
        digest.update(f'{size} '.encode())
        with path.open('rb') as file:
            if size <= _WHOLE:
                while block := file.read(_BLOCK):
                    digest.update(block)
                continue
            last = max(0, size - _BLOCK)
            for number in range(_SAMPLES):
                file.seek(last * number // (_SAMPLES - 1))
                digest.update(file.read(_BLOCK))
    return f'import.{digest.hexdigest()}'


def find_completed(memory: Memory, key: str) -> dict[str, Any] | None:
    """Return the figures of an import that was completed; None where there was none."""
    with memory.db.read() as connection:
        value = meta.get(connection, key)
    return None if value is None else json.loads(value)


def note_completed(memory: Memory, key: str, figures: dict[str, Any]) -> None:
    """Note that an import was completed."""
    with memory.db.write() as connection:
        meta.put(connection, key, json.dumps(figures))
