"""The disk under the store: a preloaded library strikes at a call, and journals are replayed."""

from __future__ import annotations

import ctypes
import os
import random
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

SOURCE = Path(__file__).with_name('disk.cpp')
PASS, KILL, KILL_HALFWAY, FAIL, FULL = range(5)
SECTOR = 512
_HEAD = struct.Struct('<ciiqq')


def find_fast_folder() -> str | None:
    """Return a folder in memory where there is one: a round copies and removes stores."""
    return '/dev/shm' if os.access('/dev/shm', os.W_OK) else None


def build_library(folder: Path) -> Path | None:
    """Compile the library; None where there is no compiler."""
    compiler = shutil.which('g++')
    if compiler is None:
        return None
    library = folder / 'disk.so'
    flags = ['-shared', '-fPIC', '-O1', '-std=c++17', '-D_GNU_SOURCE']
    subprocess.run([compiler, *flags, '-o', str(library), str(SOURCE), '-lpthread'], check=True)
    return library


def start_preloaded(library: Path, arguments: list[str]) -> int:
    """Run a Python program with the library in its process; return how it ended."""
    command = [sys.executable, *arguments]
    return subprocess.call(command, env={**os.environ, 'LD_PRELOAD': str(library)})


class Disk:
    """Speak to the library in this process; raise OSError where it is not preloaded."""

    def __init__(self) -> None:
        """Find the library's functions."""
        library = ctypes.CDLL(None)
        if not hasattr(library, 'torture_watch'):
            raise OSError('disk.so is not preloaded')
        self._library = library
        library.torture_count.restype = ctypes.c_long
        library.torture_arm.argtypes = [ctypes.c_int, ctypes.c_long, ctypes.c_int, ctypes.c_int]
        library.torture_mark.argtypes = [ctypes.c_int64]

    def watch(self, folder: Path, journal: int = -1) -> None:
        """Count the calls on files below a folder from now on, and write them to a journal."""
        self._library.torture_watch(f'{folder.resolve()}/'.encode(), journal)

    def arm(self, mode: int, place: int, error: int = 0, *, reads: bool = False) -> None:
        """Strike at the n-th call from now on."""
        self._library.torture_arm(mode, place, error, reads)

    @property
    def count(self) -> int:
        """Return how many calls there were since the last `arm` or `watch`."""
        return int(self._library.torture_count())

    def mark(self, number: int) -> None:
        """Write into the journal that so many calls were answered."""
        self._library.torture_mark(number)


@dataclass(frozen=True)
class Event:
    """One call: its kind, what it was on, where, and what was written."""

    kind: str
    path: str
    other: str
    offset: int
    data: bytes


def read_journal(path: Path) -> list[Event]:
    """Return the calls of a journal in their order."""
    raw = path.read_bytes()
    events, at = [], 0
    while at < len(raw):
        kind, first, second, offset, size = _HEAD.unpack_from(raw, at)
        at += _HEAD.size
        ends = at + first, at + first + second, at + first + second + size
        name, other = raw[at : ends[0]].decode(), raw[ends[0] : ends[1]].decode()
        events.append(Event(kind.decode(), name, other, offset, raw[ends[1] : ends[2]]))
        at = ends[2]
    return events


@dataclass
class File:
    """The bytes of a file that are on the disk, and the calls that are not synced."""

    synced: bytearray
    waiting: list[Event] = field(default_factory=list)

    def write(self, event: Event) -> None:
        """Do a call on the bytes."""
        _apply(self.synced, event)

    def sync(self) -> None:
        """Bring all that waits to the disk."""
        for event in self.waiting:
            _apply(self.synced, event)
        self.waiting = []

    def leave(self, chance: random.Random) -> bytes:
        """Return what a power cut leaves: of what waits nothing, all, some, or some torn."""
        how = chance.choice(['nothing', 'all', 'some', 'torn'])
        left = bytearray(self.synced)
        for event in self.waiting:
            if how == 'all' or (how in ('some', 'torn') and chance.random() < 0.5):
                for part in _tear(event, chance) if how == 'torn' else [event]:
                    _apply(left, part)
        return bytes(left)


def _apply(content: bytearray, event: Event) -> None:
    end = event.offset + len(event.data)
    if event.kind == 'T':
        del content[event.offset :]
    content.extend(bytes(max(0, end - len(content))))
    content[event.offset : end] = event.data


def _tear(event: Event, chance: random.Random) -> Iterator[Event]:
    """Yield some sectors of a write."""
    if event.kind == 'T':
        yield event
        return
    at, end = event.offset, event.offset + len(event.data)
    while at < end:
        stop = min(end, (at // SECTOR + 1) * SECTOR)
        if chance.random() < 0.5:
            part = event.data[at - event.offset : stop - event.offset]
            yield Event('W', event.path, '', at, part)
        at = stop


class Replay:
    """
    The files below a folder as a journal goes on, each with what of it is on the disk.

    A file's own sync brings its bytes and its first name to the disk; a name that was given,
    moved or removed otherwise waits for the sync of its folder. Names reach the disk in order.
    """

    def __init__(self, base: Path, folder: Path) -> None:
        """Begin with the files of a folder, all on the disk, as those of the journal's folder."""
        self._folder = str(folder.resolve())
        self._names = {
            str(folder.resolve() / path.relative_to(base)): File(bytearray(path.read_bytes()))
            for path in base.rglob('*')
            if path.is_file() and not path.name.endswith('-shm')
        }
        self._on_disk = dict(self._names)
        self._moves: list[tuple[Event, File | None]] = []
        self.answered = 0

    def step(self, event: Event) -> None:
        """Go on by one call."""
        if event.kind == 'A':
            self.answered = event.offset
        elif event.kind in 'WT':
            if event.path in self._names:
                self._names[event.path].waiting.append(event)
        elif event.kind == 'S':
            self._sync(event.path)
        else:
            file = File(bytearray()) if event.kind == 'C' else self._names.get(event.path)
            self._moves.append((event, file))
            _rename(self._names, event, file)

    def _sync(self, path: str) -> None:
        file = self._names.get(path)
        if file is not None:
            file.sync()
            for event, made in self._moves:
                if event.kind == 'C' and made is file:
                    _rename(self._on_disk, event, made)
            self._moves = [
                (event, made)
                for event, made in self._moves
                if not (event.kind == 'C' and made is file)
            ]
            return
        left = []
        for event, made in self._moves:
            if os.path.dirname(event.other or event.path) == path:
                _rename(self._on_disk, event, made)
            else:
                left.append((event, made))
        self._moves = left

    def cut(self, chance: random.Random, folder: Path) -> None:
        """Write into a folder what a power cut at this place leaves."""
        names = dict(self._on_disk)
        for event, made in self._moves[: chance.randint(0, len(self._moves))]:
            _rename(names, event, made)
        left: dict[int, bytes] = {}
        for name, file in names.items():
            content = left.setdefault(id(file), file.leave(chance))
            target = folder / os.path.relpath(name, self._folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)


def _rename(names: dict[str, File], event: Event, file: File | None) -> None:
    """Do a call on names."""
    if event.kind in 'UR':
        names.pop(event.path, None)
    if event.kind == 'C' and file is not None:
        names[event.path] = file
    elif event.kind in 'RL' and file is not None:
        names[event.other] = file
