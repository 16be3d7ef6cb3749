"""Which files stand at the store's names: what is written to one that does not is lost."""

from __future__ import annotations

import os
from pathlib import Path

from robot_memory.storage.store_files import INDEX, LOG, SUFFIXES


class Watch:
    """
    Know the store's files since they were opened, by device and inode.

    While a connection of this process is open nobody removes the log (-wal) and its index (-shm)
    rightly, nor makes the index smaller: SQLite does so before the first and after the last
    connection of all, under a lock that each open one denies it.
    """

    def __init__(self, path: Path) -> None:
        """Note which files stand at the names now."""
        real = os.path.realpath(path)
        self.names = tuple(Path(f'{real}{suffix}') for suffix in SUFFIXES)
        """All files that SQLite keeps for the store; not each is there at any time."""
        found = _status(index := f'{real}{INDEX}')
        self._index = _File(index, found.st_size if found else 0)
        self._files = (_File(str(path), 1), _File(f'{real}{LOG}', 0), self._index)

    def changed(self) -> str:
        """Return the name of a file that was removed, replaced or emptied, '' where none was."""
        for file in self._files:
            if not file.is_whole():
                return file.name
        return ''

    def is_replaced(self) -> bool:
        """Say whether others stand at the names now, or what cannot be used."""
        return any(file.is_there() and not file.is_whole() for file in self._files)

    def is_cut(self) -> bool:
        """Say whether the log's index was made smaller: to read from it ends the process."""
        return self._index.is_cut()


class Unwatched(Watch):
    """Stand in for the watch of a store whose files are not read any more."""

    def changed(self) -> str:
        """Return '': nothing is read from the files."""
        return ''

    def is_replaced(self) -> bool:
        """Return False."""
        return False

    def is_cut(self) -> bool:
        """Return False."""
        return False


class Frozen(Unwatched):
    """Watch a file that is read without locks: who writes to it makes what is read wrong."""

    def __init__(self, path: Path) -> None:
        """Note the file's state."""
        super().__init__(path)
        self._state = self._read_state()

    def changed(self) -> str:
        """Return the name of the file where it is not what it was."""
        return '' if self._read_state() == self._state else str(self.names[0])

    def is_cut(self) -> bool:
        """Say whether it is not what it was: it may not be read any more."""
        return bool(self.changed())

    def _read_state(self) -> object:
        states = [_status(str(name)) for name in self.names[:2]]
        return [one and (one.st_ino, one.st_size, one.st_mtime_ns) for one in states]


class _File:
    """One file as it was when the store was opened."""

    def __init__(self, name: str, least: int) -> None:
        self.name = name
        self._least = least
        self._known = identify(name)

    def is_there(self) -> bool:
        return _status(self.name) is not None

    def is_whole(self) -> bool:
        found = _status(self.name)
        if found is None or self._known is None:
            return found is None and self._known is None
        return (found.st_dev, found.st_ino) == self._known and found.st_size >= self._least

    def is_cut(self) -> bool:
        found = _status(self.name)
        same = found is not None and (found.st_dev, found.st_ino) == self._known
        return same and found is not None and found.st_size < self._least


def identify(name: str | Path) -> tuple[int, int] | None:
    """Return device and inode of the file that a name leads to, None where to nothing."""
    found = _status(name)
    return None if found is None else (found.st_dev, found.st_ino)


def _status(name: str | Path) -> os.stat_result | None:
    """Return what a name leads to, None where to nothing."""
    try:
        return os.stat(name)
    except OSError:
        return None


def make_watch(path: Path, name: str, *, is_frozen: bool) -> Watch:
    """Return what watches the files of a store that is opened by a name, which may be another."""
    if is_frozen:
        return Frozen(path)
    return Watch(path) if name == str(path) else Unwatched(path)
