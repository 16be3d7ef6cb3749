"""sqlite-vec: distances of vectors in SQL."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import apsw

from robot_memory.core.dependencies import describe_missing
from robot_memory.core.errors import Unavailable
from robot_memory.storage.private_library import PrivateLibrary

_SUFFIXES = ('', '.so', '.dylib', '.dll')


def _find() -> Path:
    """
    Return the file of the library, where `sqlite_vec.loadable_path` says, less its ending.

    Without importing the package: it imports numpy, which a search for words does not need.
    """
    spec = find_spec('sqlite_vec')
    if spec is None or spec.origin is None:
        missing = ModuleNotFoundError("No module named 'sqlite_vec'", name='sqlite_vec')
        raise Unavailable(describe_missing(missing))
    path = os.path.join(os.path.dirname(spec.origin), 'vec0')
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
