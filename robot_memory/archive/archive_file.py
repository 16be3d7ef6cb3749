"""An archive as a file: its lines are checked, and found wrong the same way each time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from robot_memory.archive.event_lines import EventLine, parse_event_line
from robot_memory.archive.lines import (
    MANY,
    MemoryLine,
    MoreLine,
    SessionLine,
    StoreLine,
    parse_memory_line,
)
from robot_memory.archive.place_lines import (
    PLACE_LINES,
    MapLine,
    PlaceLine,
    parse_place_line,
)
from robot_memory.archive.raw_lines import parse_object, read_raw_lines
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import parse
from robot_memory.core.json_text import format_value

Line = SessionLine | MemoryLine | EventLine | PlaceLine
_LISTED = 20
"""Wrong lines that are told one by one."""


class ArchiveFile:
    """Read a file from its first line to its last; each time it finds the same lines wrong."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._ids: set[int] = set()
        self._turns: set[tuple[str, int]] = set()
        self._known_sessions: set[str] = set()
        self._events: set[int] = set()
        self._places = 0
        self.maps: list[MapLine] = []
        self.highest = 0
        self.refused = 0
        self.problems: list[str] = []

    @property
    def memories(self) -> int:
        """Return how many memories were read."""
        return len(self._ids)

    def refuse(self, number: int, error: InvalidArgument) -> None:
        """Count a line that is wrong, and say what of it."""
        self.refused += 1
        if len(self.problems) < _LISTED:
            self.problems.append(f'{self._path}, line {number}: {error}')

    def read_lines(self) -> Iterator[tuple[int, Line]]:
        """Give the good lines after the first with their numbers; raise InvalidArgument."""
        head: StoreLine | None = None
        number = 0
        for number, values in self._join_lines():
            try:
                if head is None:
                    head = parse(StoreLine, values, 'the first line')
                    continue
                line = self._check_line(values)
            except InvalidArgument as error:
                if head is None:
                    raise InvalidArgument(
                        f'{self._path}, line 1: {error}; nothing was imported'
                    ) from None
                self.refuse(number, error)
            else:
                yield number, line
        if head is None:
            raise InvalidArgument(
                f'{self._path} is empty; create archives with robot-memory export'
            )
        found = (len(self._known_sessions), len(self._ids), len(self._events), self._places)
        declared = (head.sessions, head.memories, head.events, head.places)
        too_many = any(one > other for one, other in zip(found, declared, strict=True))
        if too_many or sum(declared) - sum(found) > self.refused:
            raise InvalidArgument(
                f'{self._path} ends after line {number} with {found[0]} sessions, {found[1]} '
                f'memories, {found[2]} folded events, {found[3]} maps, anchors and regions and '
                f'{self.refused} invalid lines, but its first line declares {declared[0]}, '
                f'{declared[1]}, {declared[2]} and {declared[3]}; nothing was imported'
            )

    def _join_lines(self) -> Iterator[tuple[int, Any]]:
        """Give what the lines say, each memory with what further lines say of it."""
        waiting: tuple[int, Any] | None = None
        for number, text in read_raw_lines(self._path):
            try:
                values = parse_object(text)
                if values.get('kind') == 'more' and number > 1:
                    _append_values(waiting, values)
                    continue
            except InvalidArgument as error:
                if number == 1:
                    raise InvalidArgument(
                        f'{self._path}, line 1: {error}; nothing was imported'
                    ) from None
                self.refuse(number, error)
                continue
            if waiting is not None:
                yield waiting
            waiting = (number, values)
        if waiting is not None:
            yield waiting

    def _check_line(self, values: dict[str, Any]) -> Line:
        if values.get('kind') == 'session':
            session = parse(SessionLine, values, 'a session')
            if session.id in self._known_sessions:
                raise InvalidArgument(f'duplicate session {format_value(session.id)}')
            self._known_sessions.add(session.id)
            return session
        if values.get('kind') == 'event':
            event = parse_event_line(values)
            if event.id in self._events or event.id in self._ids:
                raise InvalidArgument(f'duplicate event {event.id}')
            self._events.add(event.id)
            self.highest = max(self.highest, event.id)
            return event
        if values.get('kind') in PLACE_LINES:
            place = parse_place_line(values)
            self._places += 1
            if isinstance(place, MapLine):
                self.maps.append(place)
            return place
        line = parse_memory_line(values)
        if line.id in self._ids:
            raise InvalidArgument(f'duplicate memory {line.id}')
        if line.turn:
            turn = (str(line.session_id), line.turn['number'])
            if turn in self._turns:
                raise InvalidArgument(
                    f'duplicate turn {turn[1]} of session {format_value(line.session_id)}'
                )
            self._turns.add(turn)
        self._ids.add(line.id)
        self.highest = max(self.highest, line.id)
        return line


def _append_values(waiting: tuple[int, Any] | None, values: dict[str, Any]) -> None:
    """Add to a memory what a further line says of it; raise InvalidArgument."""
    more = {name: values.pop(name, None) or [] for name in MANY}
    line = parse(MoreLine, values, 'more of a memory')
    above = waiting[1] if waiting else {}
    if above.get('kind') != 'memory' or above.get('id') != line.memory:
        raise InvalidArgument(
            f'a continuation of memory {line.memory}, which is not the preceding one'
        )
    for name, given in more.items():
        known = above.setdefault(name, [])
        if not isinstance(given, list) or not isinstance(known, list):
            raise InvalidArgument(f'{name} must be an array')
        known.extend(given)
