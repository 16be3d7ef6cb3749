"""The files that SQLite keeps for a store, and stores that are needed for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from robot_memory.core.errors import Unavailable
from robot_memory.core.files import measure_file, sync_folder

LOG, INDEX, JOURNAL = '-wal', '-shm', '-journal'
SUFFIXES = ('', LOG, INDEX, JOURNAL)
"""What stands behind the name of a store in the names of its files."""


def name_file(path: Path, suffix: str) -> Path:
    """Return the name of a file that SQLite keeps for a store."""
    return path.with_name(f'{path.name}{suffix}')


def has_log(path: Path) -> bool:
    """Say whether a log (-wal) with anything in it lies beside a store."""
    return measure_file(name_file(path, LOG)) > 0


def copy_with_log(path: Path, copy: Path) -> None:
    """Copy the file of a store and its log, as far as they are there; raise Unavailable."""
    import subprocess  # here: few copy a store

    for suffix in ('', LOG):
        source = name_file(path, suffix)
        if source.exists():
            # A process of its own: closing a descriptor here would drop SQLite's locks.
            command = ['cp', '--reflink=auto', '--', str(source), str(name_file(copy, suffix))]
            ran = subprocess.run(command, capture_output=True, text=True, check=False)
            if ran.returncode:
                raise Unavailable(f'cannot copy {source}: {ran.stderr.strip()}')


def remove_store(path: Path) -> None:
    """Remove a store, as far as it is there, with all of its files."""
    for suffix in SUFFIXES:
        name_file(path, suffix).unlink(missing_ok=True)


def remove_stores(folder: Path, pattern: str) -> None:
    """Remove the stores of a folder whose names match a pattern, with all of their files."""
    for suffix in SUFFIXES:
        for path in folder.glob(f'{pattern}{suffix}'):
            path.unlink(missing_ok=True)


@contextmanager
def hold_scratch(path: Path) -> Iterator[Path]:
    """
    Give a name that no file has, and leave nothing of the name behind.

    A process that was killed may have left files of the name. SQLite would roll the journal among
    them back into the next file of the name: none of them may be there when the name is used.
    """
    remove_store(path)
    try:
        yield path
    finally:
        remove_store(path)
        sync_folder(path.parent)  # so that no power cut brings back what they held
