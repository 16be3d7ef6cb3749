"""
Another file in the place of a store: the whole of it or nothing, wherever the process ends.

The new file first waits beside the store, whole and on the disk. From then on the replacement is
decided: where the process ends before it is done, who opens the store next completes it. The old
file is kept with its log: one that is left beside another file would be written into that.
"""

from __future__ import annotations

import logging
import os
import shutil
from contextlib import closing, suppress
from itertools import chain, count
from pathlib import Path

import apsw

from robot_memory.core.errors import Unavailable
from robot_memory.core.files import hold_file, keep_file, sync_folder
from robot_memory.storage import checksums
from robot_memory.storage.lock_owners import name_users
from robot_memory.storage.store_files import INDEX, JOURNAL, LOG, name_file

logger = logging.getLogger(__name__)


class InUse(Unavailable):
    """Another process has the store open."""


def replace_store(path: Path, new: Path) -> Path | None:
    """
    Put a whole file in the place of a store; return where the old one is kept, if there was one.

    Raise InUse where another process has the store open; then nothing is changed.
    """
    path = path.resolve()  # a link to a store stays a link to it
    with hold_file(_name_lock(path), wait=True):
        if path.exists():
            _copy_owner(path, new)
        keep_file(new, _name_waiting(path))
        return _complete(path)


def complete_replacement(path: Path) -> None:
    """
    Complete what an interrupted process began, before a store is opened.

    Where another process has gone on with the old file meanwhile, that stays, which is logged.
    """
    path = path.resolve()
    if not _name_waiting(path).exists():
        return
    with hold_file(_name_lock(path), wait=True):
        if not _name_waiting(path).exists():  # another process has done it meanwhile
            return
        try:
            kept = _complete(path)
        except InUse as error:
            logger.warning('an interrupted restore is given up: %s; run it again', error)
        else:
            logger.warning(
                'completed an interrupted restore of %s; the old file is %s', path, kept
            )


def list_replaced(path: Path) -> list[Path]:
    """Return the files that others took the place of."""
    path = path.resolve()
    found = path.parent.glob(f'{path.name}.before-restore*')
    return sorted(file for file in found if not file.name.endswith((LOG, INDEX, JOURNAL)))


def _name_waiting(path: Path) -> Path:
    return path.with_name(f'.{path.name}.replacing')


def _name_lock(path: Path) -> Path:
    return path.with_name(f'.{path.name}.replacing.lock')


def _complete(path: Path) -> Path | None:
    """Move the old file aside, its log first, and the new one to its place."""
    waiting, kept = _name_waiting(path), None
    if path.exists():
        try:
            _refuse_users(path)
        except InUse:
            waiting.unlink()
            sync_folder(path.parent)
            raise
        kept = _choose_name(path)
        for suffix in (LOG, JOURNAL, ''):
            if name_file(path, suffix).exists():
                name_file(path, suffix).rename(name_file(kept, suffix))
    name_file(path, INDEX).unlink(missing_ok=True)
    waiting.rename(path)
    sync_folder(path.parent)
    return kept


def _refuse_users(path: Path) -> None:
    """
    Raise InUse where another process has the store open.

    SQLite gives a connection that wants a store for itself its log as well; one that is damaged
    may not be opened at all, and then only the locks of others tell of them.
    """
    is_busy = False
    with suppress(apsw.Error), closing(checksums.connect(path, apsw.SQLITE_OPEN_READWRITE)) as old:
        old.pragma('locking_mode', 'exclusive')
        try:
            old.execute('SELECT 1 FROM sqlite_schema LIMIT 1').fetchall()
        except apsw.BusyError:
            is_busy = True
    users = name_users(path)
    if is_busy or users:
        raise InUse(
            f'{path} is in use by {users or "another process"}; end that first, nothing was '
            'changed'
        )


def _choose_name(path: Path) -> Path:
    """Return a name that no file has; the log may have it already, of an interrupted move."""
    ends = chain([''], (f'-{number}' for number in count(2)))
    names = (path.with_name(f'{path.name}.before-restore{end}') for end in ends)
    return next(name for name in names if not name.exists())


def _copy_owner(path: Path, new: Path) -> None:
    """Have a new file belong to whom the old one belongs to, as far as this process may."""
    shutil.copymode(path, new)
    status = path.stat()
    with suppress(PermissionError):
        os.chown(new, status.st_uid, status.st_gid)
