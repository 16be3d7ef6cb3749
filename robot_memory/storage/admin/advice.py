"""What may be done about the file, measured; it only reads."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import apsw

from robot_memory.storage.store_files import LOG, name_file


@dataclass(frozen=True)
class Upkeep:
    """Tell sizes in bytes: the file, the part of it that is free, and its log (WAL)."""

    file: int
    free: int
    log: int


def upkeep(connection: apsw.Connection, path: Path) -> Upkeep:
    """Measure the file."""
    page = connection.pragma('page_size')
    log = name_file(path, LOG)
    return Upkeep(
        file=page * connection.pragma('page_count'),
        free=page * connection.pragma('freelist_count'),
        log=log.stat().st_size if log.exists() else 0,
    )
