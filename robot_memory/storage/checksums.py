"""
Checksums of pages, by SQLite's own shim of the file system (cksumvfs).

A store has 8 reserved bytes at the end of each page: the shim writes a checksum there when a page
is written into the file, and compares it when it is read from there. Pages in the log (-wal) have
none: SQLite checks the log's own checksums when it recovers it. Whoever brings the log into the
file without the shim leaves pages that look damaged, so that every connection that may do so is
opened here. The shim is opened by its name and privately: other users of SQLite in the process
keep the VFS that they have.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import apsw
import apsw.sqlite_extra

from robot_memory.storage.page_file import RESERVED
from robot_memory.storage.private_library import PrivateLibrary

VFS = 'cksmvfs'
_PAGES = 2048
"""Pages of a copy between two looks at whether to stop."""
_CREATE = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE


def _find() -> Path:
    found = apsw.sqlite_extra.path('cksumvfs')
    if found is None:
        raise OSError('this apsw comes without cksumvfs (its wheels have it)')
    return Path(found)


class _Shim(PrivateLibrary):
    def _open(self) -> tuple[ctypes.CDLL, ctypes.c_void_p]:
        before = apsw.vfs_names()[0]
        try:
            return super()._open()
        finally:
            apsw.set_default_vfs(before)  # the shim makes itself the default


_SHIM = _Shim('cksumvfs', 'sqlite3_cksumvfs_init', _find)


def load() -> None:
    """Open the shim; raise Unavailable where it cannot be had."""
    _SHIM.load()


def connect(name: str | Path, flags: int = _CREATE, vfs: str = VFS) -> apsw.Connection:
    """
    Open a store, or a copy of one, by the shim or a `vfs` over it.

    Raise Unavailable where the shim cannot be had.
    """
    load()
    return apsw.Connection(str(name), flags=flags, vfs=vfs)


def name_read_only(path: Path) -> str:
    """Return the name by which a connection attaches a store that it only reads."""
    load()
    return f'file:{quote(str(path.absolute()))}?mode=ro&vfs={VFS}'


def name_frozen(path: Path) -> str:
    """Return the name by which the file of a store is read without its log and without locks."""
    return f'{name_read_only(path)}&immutable=1'


def are_kept(connection: apsw.Connection) -> bool:
    """Say whether the pages of a store have checksums."""
    return connection.reserve_bytes() == RESERVED


def reserve_if_empty(connection: apsw.Connection) -> None:
    """Have the pages of a file that is still empty have checksums, from the first one on."""
    if not connection.pragma('page_count'):
        connection.reserve_bytes(reserve=RESERVED)


def copy(
    source: apsw.Connection, target: apsw.Connection, stopped: Callable[[], bool] = lambda: False
) -> bool:
    """
    Copy a store into a file that is empty; say whether it was not stopped.

    The caller's transaction of `source` holds the snapshot, so that others' writes do not begin
    the copy anew.
    """
    if are_kept(source):
        # The shim adds checksums once it has seen a first page with room for them. A copy that
        # outgrows the cache is written from its second page on, and pages that came from the log
        # of the source would be without.
        target.pragma('page_size', source.pragma('page_size'))
        reserve_if_empty(target)
        target.pragma('user_version', 1)
    with target.backup('main', source, 'main') as made:
        while not made.done:
            made.step(_PAGES)
            if stopped():
                return False
    target.pragma('journal_mode', 'delete')
    return True


def write_anew(connection: apsw.Connection) -> None:
    """Write a whole store anew, with checksums; raise an error of SQLite where it cannot be."""
    connection.reserve_bytes(reserve=RESERVED)
    connection.execute('VACUUM')
