"""What may be done about the file, measured; it only reads."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import apsw

from robot_memory.core.files import measure_file
from robot_memory.storage.store_files import LOG, name_file

LITTLE_ROOM = 1e9
"""Bytes of a disk below which it is nearly full."""


@dataclass(frozen=True)
class Upkeep:
    """Tell sizes in bytes: the file, the part of it that is free, and its log (WAL)."""

    file: int
    free: int
    log: int


def upkeep(connection: apsw.Connection, path: Path) -> Upkeep:
    """Measure the file."""
    page = connection.pragma('page_size')
    return Upkeep(
        file=page * connection.pragma('page_count'),
        free=page * connection.pragma('freelist_count'),
        log=measure_file(name_file(path, LOG)),
    )


def measure_room(folder: Path) -> int | None:
    """Return the bytes that a user may write to the disk of a folder; None where it is gone."""
    try:
        disk = os.statvfs(folder)
    except OSError:
        return None
    return disk.f_bavail * disk.f_frsize
