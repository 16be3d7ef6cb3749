"""
Room on the disk that is kept for what makes room: forget, erase and maintain.

A file beside the store. A long-running process makes the first part of it before it takes a write,
and the rest within a minute; it is removed when one of these is called and the disk is full, and
is made again once there is room. Where a file system compresses or shares blocks (Btrfs, ZFS), its
removal may free nothing.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable

from robot_memory.core.clock import SteadyClock
from robot_memory.core.files import measure_file
from robot_memory.core.settings import Settings
from robot_memory.storage.admin.advice import measure_room
from robot_memory.storage.connection import Database

logger = logging.getLogger(__name__)

_MB = 1_000_000
_PAUSE_SECONDS = 60.0
_MARGIN = 4
"""It takes one of so many parts of what is free, at most: it must not fill a disk by itself."""
_LEAST = _MB
"""Bytes below which it holds no place for a log of what is forgotten, and is not made."""
_FIRST = 4 * _MB
"""Bytes that are made at once: what forgetting writes, and no more than opening can wait for."""


class DiskReserve:
    """Keep the reserve of a store, and release it where the disk is full."""

    def __init__(
        self, db: Database, settings: Callable[[], Settings], steady: SteadyClock
    ) -> None:
        """Begin with whatever reserve there is; what runs for a moment only makes none."""
        self._db = db
        self._settings = settings
        self._steady = steady
        self._next_at = steady() + _PAUSE_SECONDS
        self.path = db.path.with_name(f'.{db.path.name}.reserve')

    @property
    def size(self) -> int:
        """Return how many bytes are kept now."""
        return measure_file(self.path)

    def begin(self) -> None:
        """Make the first part of it where there is none, in some milliseconds."""
        if not self.size:
            self._keep(min(_FIRST, self._wanted))

    def run(self) -> None:
        """Make it as large as the setting says, or as there is room for; the worker's job."""
        if self._steady() < self._next_at:
            return
        self._next_at = self._steady() + _PAUSE_SECONDS
        self._keep(self._wanted)

    @property
    def _wanted(self) -> int:
        return self._settings().disk_reserve * _MB

    def _keep(self, wanted: int) -> None:
        there = self.size
        if wanted == there:
            return
        try:
            room = (measure_room(self.path.parent) or 0) + there
            goal = min(wanted, room // _MARGIN)
            if there < wanted and goal < max(2 * there, _LEAST):
                return  # what there is, if anything, serves as well
            self.path.unlink(missing_ok=True)
            if goal:
                self._make(goal)
        except OSError as error:
            logger.info('no disk reserve can be kept at %s: %s', self.path, error)

    def release(self) -> None:
        """Give the disk its room back where less than that is free."""
        there = self.size
        try:
            if not there or (measure_room(self.path.parent) or 0) >= there:
                return
            self.path.unlink(missing_ok=True)
        except OSError as error:
            logger.warning('the disk reserve %s cannot be released: %s', self.path, error)
            return
        self._next_at = self._steady() + _PAUSE_SECONDS
        logger.warning(
            'the disk of %s is full: released the reserve of %d MB for calls that make room',
            self._db.path,
            there // _MB,
        )

    def _make(self, size: int) -> None:
        part = self.path.with_name(f'{self.path.name}.part')
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(part, flags, 0o600)
        try:
            os.posix_fallocate(descriptor, 0, size)
            part.replace(self.path)
        finally:
            os.close(descriptor)
            part.unlink(missing_ok=True)
