"""sqlite-vec: distances of vectors in SQL."""

from __future__ import annotations

import os
from pathlib import Path

import apsw
import sqlite_vec

from robot_memory.storage.private_library import PrivateLibrary

_SUFFIXES = ('', '.so', '.dylib', '.dll')


def _find() -> Path:
    """Return the file of the library; sqlite_vec leaves out what its name ends with."""
    path = sqlite_vec.loadable_path()
    for suffix in _SUFFIXES:
        if os.path.isfile(path + suffix):
            return Path(path + suffix)
    raise OSError(f'no file at {path}')


_LIBRARY = PrivateLibrary('sqlite-vec', 'sqlite3_vec_init', _find)


def load() -> None:
    """Open the library; raise Unavailable where it cannot be had."""
    _LIBRARY.load()


def load_vectors(connection: apsw.Connection) -> None:
    """Give a connection the functions of sqlite-vec; raise Unavailable where it cannot have."""
    _LIBRARY.enter(connection)
