"""
Loading of SQLite extensions, privately: no other SQLite library of the process shares them.

An extension has one global variable, `sqlite3_api`, the table of the functions of the SQLite that
loaded it. SQLite opens extensions with RTLD_GLOBAL, so that all copies in a process (those of
Python's sqlite3, of another package) share the first one's variable, and each calls the functions
of whichever SQLite came last: a segmentation fault. So SQLite does not open ours. It is a copy
that only this module has a handle to, RTLD_LOCAL and with RTLD_DEEPBIND (its own symbols come
first); its entry point is called with the table that SQLite gives to any extension. That table is
had by letting SQLite load it once by a VFS that hands out this copy in place of opening a file.
"""

from __future__ import annotations

import ctypes
import logging
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from robot_memory.core.errors import Unavailable

logger = logging.getLogger(__name__)
_TABLE = 'sqlite3_api'


class PrivateLibrary:
    """Open an extension at its first use, and enter it into connections; any thread may."""

    def __init__(self, name: str, entry: str, find: Callable[[], Path]) -> None:
        """Take what users call it, its entry point, and what finds its file (or OSError)."""
        self.name = name
        self._entry = entry
        self._find = find
        self._lock = threading.Lock()
        self._loaded: tuple[ctypes.CDLL, ctypes.c_void_p] | None = None

    def load(self) -> None:
        """Open it and run its entry point once; raise Unavailable where it cannot be had."""
        with self._lock:
            if self._loaded is None:
                self._loaded = self._open()

    def enter(self, connection: apsw.Connection) -> None:
        """Give a connection the functions of the extension; raise Unavailable where it cannot."""
        self.load()
        assert self._loaded is not None
        library, table = self._loaded
        entry = getattr(library, self._entry)
        entry.argtypes = (ctypes.c_void_p, ctypes.POINTER(ctypes.c_char_p), ctypes.c_void_p)
        message = ctypes.c_char_p()
        code = entry(connection.sqlite3_pointer(), ctypes.byref(message), table)
        if code != apsw.SQLITE_OK:
            reason = (message.value or b'').decode(errors='replace')
            raise Unavailable(f'{self.name} does not work with this SQLite: {reason or code}')

    def _open(self) -> tuple[ctypes.CDLL, ctypes.c_void_p]:
        """Return the library, opened privately, and the table of apsw's SQLite."""
        flags = os.RTLD_NOW | os.RTLD_LOCAL | _deepbind()
        reason = ''
        for copied in (_in_memory, _in_folder, _in_place):
            try:
                if copied is _in_place:
                    logger.warning(
                        '%s is shared with other users in this process: %s', self.name, reason
                    )
                with copied(self._find()) as path:
                    library = ctypes.CDLL(path, mode=flags)
                return library, _read_table(library, self._entry)
            except (OSError, AttributeError, apsw.Error) as error:
                reason = reason or str(error)
        raise Unavailable(f'cannot load {self.name}: {reason}; reinstall it')


class _OpenedLibrary(apsw.VFS):
    """Give SQLite a library that is open already for any that it opens; it stays open."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        self.name = f'robot_memory-{library._handle:x}'
        super().__init__(self.name, '')

    def xDlOpen(self, filename: str) -> int:  # noqa: N802 - the name is SQLite's
        return self._library._handle

    def xDlSym(self, handle: int, symbol: str) -> int:  # noqa: N802
        return ctypes.cast(getattr(self._library, symbol), ctypes.c_void_p).value or 0

    def xDlClose(self, handle: int) -> None:  # noqa: N802
        pass


def _read_table(library: ctypes.CDLL, entry: str) -> ctypes.c_void_p:
    """Return the table of functions that apsw's SQLite gives to extensions."""
    opened = _OpenedLibrary(library)
    try:
        connection = apsw.Connection(':memory:', vfs=opened.name)
        try:
            connection.enable_load_extension(True)
            connection.load_extension('private', entry)
            return ctypes.c_void_p(ctypes.c_void_p.in_dll(library, _TABLE).value)
        finally:
            connection.close()
    finally:
        opened.unregister()


def _deepbind() -> int:
    """
    Return RTLD_DEEPBIND, 0 where it is not to be had.

    musl has none, and a process under AddressSanitizer is ended by its use. Without it a copy that
    another SQLite has opened before would be shared: raise Unavailable there.
    """
    everything = ctypes.CDLL(None)
    if hasattr(os, 'RTLD_DEEPBIND') and not hasattr(everything, '__asan_init'):
        return os.RTLD_DEEPBIND
    if hasattr(everything, _TABLE) and os.uname().sysname == 'Linux':
        raise Unavailable(
            'another SQLite in this process has loaded an extension, and this C library (no '
            'RTLD_DEEPBIND) cannot separate the two; open the memory first, or use a separate '
            'process'
        )
    return 0


@contextmanager
def _in_memory(source: Path) -> Iterator[str]:
    """
    Give the path of a new copy of the library that is in no folder.

    The dynamic linker knows libraries by their paths, so the number of the descriptor must not
    come again: it stays open. The dot keeps the path apart from that of others who do the same.
    """
    descriptor = os.memfd_create(source.name)
    with open(descriptor, 'wb', closefd=False) as copy:
        copy.write(source.read_bytes())
    yield f'/proc/self/fd/./{descriptor}'


@contextmanager
def _in_folder(source: Path) -> Iterator[str]:
    """Give the path of a new copy of the library, where there are none in memory."""
    with tempfile.TemporaryDirectory(prefix='robot_memory-') as folder:
        yield shutil.copy(source, os.path.join(folder, source.name))


@contextmanager
def _in_place(source: Path) -> Iterator[str]:
    """Give the path of the library itself, where there is room for no copy."""
    yield str(source)
