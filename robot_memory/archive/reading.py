"""Reading an archive back: every line is checked before the first one is kept."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, cast

from robot_memory.archive.lines import (
    MemoryLine,
    SessionLine,
    StoreLine,
    memory_line,
    session_of,
)
from robot_memory.errors import InvalidArgument, NotFound, Unavailable
from robot_memory.fields import parse
from robot_memory.json_text import parse_json, shown
from robot_memory.memory import Memory
from robot_memory.store import Connection, archive, sessions, turns
from robot_memory.store.archive import Origin

SUFFIXES = ('.jsonl', '.jsonl.gz')
_LONGEST = 256_000_000
"""Bytes of a line; the longest parts of a payload are far below."""
_BATCH = 200


@dataclass(frozen=True)
class Imported:
    """Say what came of an archive; `lost` counts references to what it does not hold."""

    sessions: int = 0
    memories: int = 0
    known: int = 0
    lost: int = 0
    same_ids: bool = False


@dataclass
class _Seen:
    """Gather what the lines of a file say, to hold the later ones against."""

    sessions: set[str] = field(default_factory=set)
    memories: set[int] = field(default_factory=set)
    turns: set[tuple[str, int]] = field(default_factory=set)


Line = SessionLine | MemoryLine


def is_archive(name: str) -> bool:
    """Say whether a file is an archive by its name."""
    return name.endswith(SUFFIXES)


def import_archive(
    memory: Memory, path: Path, progress: Callable[[int, int], None] = lambda done, total: None
) -> Imported:
    """
    Keep what an archive holds; what is here already is left as it is.

    Into an empty store it comes in one transaction and with its ids; into another in batches,
    between which others write, with new ids. Raise InvalidArgument for a line that is wrong, with
    its number and before anything is kept, and NotFound where there is no such file.
    """
    with memory.db.read() as connection:
        total = _check(connection, path)
    with memory.db.write() as connection:
        if archive.is_empty(connection):
            into = _Into(same_ids=True)
            into.keep(connection, _lines(path), progress, total)
            into.follow(connection)
            return into.done()
    into = _Into(same_ids=False)
    given = _lines(path)
    while batch := list(islice(given, _BATCH)):
        with memory.db.write() as connection:
            into.keep(connection, iter(batch), progress, total)
    with memory.db.write() as connection:
        into.follow(connection)
    return into.done()


class _Into:
    """Keep lines in a store, and remember which memory each one became."""

    def __init__(self, same_ids: bool) -> None:
        self._same_ids = same_ids
        self._ids: dict[int, int] = {}
        self._follow: dict[int, int] = {}
        self._sessions = self._memories = self._known = self._lost = 0

    def keep(
        self,
        connection: Connection,
        lines: Iterator[Line],
        progress: Callable[[int, int], None],
        total: int,
    ) -> None:
        """Keep lines within a transaction."""
        for line in lines:
            if isinstance(line, MemoryLine):
                self._memory(connection, line)
                progress(self._memories + self._known, total)
            elif not _has_session(connection, line.id):
                sessions.insert(connection, session_of(line))
                self._sessions += 1

    def _memory(self, connection: Connection, line: MemoryLine) -> None:
        origin: Origin = (line.origin['store_id'], line.origin['id'], line.created_at)
        known = archive.known(connection, origin)
        if known is None:
            number = line.turn['number'] if line.turn else None
            if line.turn and turns.has(connection, str(line.session_id), line.turn['number']):
                number = turns.next_number(connection, str(line.session_id))
            record = line.record(line.id if self._same_ids else 0, number)
            known = archive.put(connection, record, origin, vars(line))
            self._memories += 1
        else:
            self._known += 1
        self._ids[line.id] = known
        if line.superseded_by is not None:
            self._follow[line.id] = line.superseded_by

    def follow(self, connection: Connection) -> None:
        """Let what was superseded point to what the other memory became here."""
        for line_id, other in self._follow.items():
            if other in self._ids:
                archive.follow(connection, self._ids[line_id], self._ids[other])
            else:
                self._lost += 1

    def done(self) -> Imported:
        """Return what was counted."""
        return Imported(self._sessions, self._memories, self._known, self._lost, self._same_ids)


def _has_session(connection: Connection, session_id: str) -> bool:
    with suppress(NotFound):
        sessions.get(connection, session_id)
        return True
    return False


def _check(connection: Connection, path: Path) -> int:
    """Read all of a file and refuse what is wrong in it; return how many memories it holds."""
    seen = _Seen()
    head: StoreLine | None = None
    number = 0
    for number, text in _texts(path):
        try:
            values = _values(text)
            if head is None:
                head = parse(StoreLine, values, 'the first line')
            elif values.get('kind') == 'session':
                _check_session(seen, parse(SessionLine, values, 'a session'))
            else:
                _check_memory(connection, seen, memory_line(values))
        except InvalidArgument as error:
            raise InvalidArgument(f'{path}, line {number}: {error}; nothing was kept') from None
    if head is None:
        raise InvalidArgument(f'{path} is empty; robot-memory export makes an archive')
    found = (len(seen.sessions), len(seen.memories))
    if found != (head.sessions, head.memories):
        raise InvalidArgument(
            f'{path} ends after line {number} with {found[0]} sessions and {found[1]} memories; '
            f'its first line promises {head.sessions} and {head.memories}; nothing was kept'
        )
    return head.memories


def _check_session(seen: _Seen, line: SessionLine) -> None:
    if line.id in seen.sessions:
        raise InvalidArgument(f'session {shown(line.id)} stands there twice')
    seen.sessions.add(line.id)


def _check_memory(connection: Connection, seen: _Seen, line: MemoryLine) -> None:
    if line.id in seen.memories:
        raise InvalidArgument(f'memory {line.id} stands there twice')
    seen.memories.add(line.id)
    session = line.session_id
    above = session is None or session in seen.sessions
    if not above and not _has_session(connection, str(session)):
        raise InvalidArgument(f'session {shown(session)} stands neither above nor in the store')
    if line.turn:
        turn = (str(session), line.turn['number'])
        if turn in seen.turns:
            raise InvalidArgument(f'turn {turn[1]} of session {shown(session)} is there twice')
        seen.turns.add(turn)


def _lines(path: Path) -> Iterator[Line]:
    """Give the lines of a checked file after the first."""
    for number, text in _texts(path):
        values = _values(text)
        if number > 1 and values['kind'] == 'session':
            yield parse(SessionLine, values, 'a session')
        elif number > 1:
            yield memory_line(values)


def _values(text: str) -> dict[str, Any]:
    values = parse_json('the line', text, _LONGEST)
    if not isinstance(values, dict):
        raise InvalidArgument(f'the line must be a JSON object, not {shown(values)}')
    return values


def _texts(path: Path) -> Iterator[tuple[int, str]]:
    """Give the lines of a file with their numbers, from 1."""
    try:
        with _opened(path) as file:
            number = 0
            while line := file.readline(_LONGEST + 1):
                number += 1
                if len(line) > _LONGEST:
                    raise InvalidArgument(f'{path}, line {number} has more than {_LONGEST} bytes')
                try:
                    yield number, line.decode()
                except UnicodeDecodeError as error:
                    raise InvalidArgument(
                        f'{path}, line {number} is not UTF-8 ({error.reason}); nothing was kept'
                    ) from None
    except FileNotFoundError:
        raise NotFound(f'there is no file {path}') from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InvalidArgument(f'{path} is not whole as gzip: {error}; nothing was kept') from None
    except OSError as error:
        raise Unavailable(f'{path} cannot be read: {error}') from None


def _opened(path: Path) -> BinaryIO:
    opened = gzip.open if path.name.endswith('.gz') else open
    return cast(BinaryIO, opened(path, 'rb'))
