"""How connections to a store are opened: to its file, or to what stands for it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import apsw

from robot_memory.storage import checksums
from robot_memory.storage.vector_extension import load_vectors

LARGE_LOG = 64_000_000
"""Bytes of a log (WAL) that are more than writing needs."""


@dataclass(frozen=True)
class Source:
    """
    Say by which name and flags connections are opened, and by the shim of checksums or without it.

    `reason` says why the store is served read-only, and is empty else; one that `waits_for_room`
    can be opened for writing once its disk has some. `folder` is a private one
    that is removed when the store is closed. A file that `is_frozen` is read without locks: nobody
    may write to it meanwhile.
    """

    name: str
    flags: int = apsw.SQLITE_OPEN_READWRITE
    has_checksums: bool = True
    reason: str = ''
    folder: Path | None = None
    is_frozen: bool = False
    waits_for_room: bool = False

    def connect(
        self,
        synchronous: str,
        busy: Callable[[int], bool] = lambda attempts: False,
        how: int = 0,
        vfs: str = checksums.VFS,
    ) -> apsw.Connection:
        """Open a connection that is ready to be used; `busy` says whether it waits for a lock."""
        if self.has_checksums:
            connection = checksums.connect(self.name, self.flags | how, vfs)
        else:
            connection = apsw.Connection(self.name, self.flags | how)
        try:
            connection.set_busy_handler(busy)  # the first pragma may wait for others already
            load_vectors(connection)
            # Statements are else compiled anew for each value that is bound where no index leads.
            connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
            connection.execute(f'PRAGMA synchronous = {synchronous}')
            connection.execute('PRAGMA foreign_keys = ON')
            connection.execute('PRAGMA cache_size = -16384')
            connection.execute('PRAGMA mmap_size = 0')
            connection.execute('PRAGMA secure_delete = ON')
            # A log that a slow reader made large is cut once it is written into the file.
            connection.execute(f'PRAGMA journal_size_limit = {LARGE_LOG}')
        except BaseException:
            connection.close()
            raise
        return connection

    @property
    def read_only_uri(self) -> str:
        """Return the name by which another connection attaches the store to read it."""
        if self.flags & apsw.SQLITE_OPEN_URI:
            return self.name
        return checksums.name_read_only(Path(self.name))

    def remove_copy(self) -> None:
        """Remove the private folder, if there is one."""
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
