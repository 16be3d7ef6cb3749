"""Reading an archive back: the whole file is checked before the first line of it is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from robot_memory.archive.archive_file import ArchiveFile, Line
from robot_memory.archive.event_lines import EventLine
from robot_memory.archive.import_result import ImportResult
from robot_memory.archive.lines import (
    MemoryLine,
    make_placeholder_session,
    make_session,
)
from robot_memory.archive.place_import import PlaceImport
from robot_memory.archive.place_lines import MapLine, PlaceLine
from robot_memory.core.authority import Writer
from robot_memory.core.clock import Clock
from robot_memory.core.errors import Cancelled, InvalidArgument
from robot_memory.memory import Memory
from robot_memory.storage import Connection
from robot_memory.storage.tables import (
    archive_rows,
    audit,
    folded_rows,
    provenance,
    sessions,
    tombstones,
    turns,
)
from robot_memory.storage.tables.archive_rows import Origin

_BATCH = 200
_SMALL_ID, _SMALL_NUMBER = 2**48, 2**32
"""Ids and numbers of turns that leave room for all that will ever follow them here."""


def import_archive(
    memory: Memory,
    path: Path,
    progress: Callable[[int, int], None] = lambda done, total: None,
    *,
    in_batches: bool = False,
) -> ImportResult:
    """
    Keep what an archive holds; what is here already is left as it is.

    Into an empty store it comes in one transaction and with its ids, unless `in_batches`; into
    another in batches, between which others write, with new ids. Between these `progress` may
    raise Cancelled: what was kept stays, and a second import goes on. A line that is wrong is
    counted and named with its number, and the others are kept. Raise InvalidArgument, before
    anything is kept, where the first line is wrong or the file is not whole, and NotFound where
    there is no such file.
    """
    checked = ArchiveFile(path)
    for number, _ in enumerate(checked.read_lines()):
        if number % _BATCH == 0:
            progress(0, 0)
    total = checked.memories
    again = ArchiveFile(path)
    if not in_batches:
        with memory.db.write() as connection:
            if checked.highest <= _SMALL_ID and archive_rows.is_empty(connection):
                return _import_whole(memory, connection, checked, again, progress)
    into = _Importer(again, memory.clock, checked.maps, same_ids=False)
    given = again.read_lines()
    while batch := list(islice(given, _BATCH)):
        with memory.db.write() as connection:
            tell = (lambda done: None) if in_batches else (lambda done: progress(done, total))
            into.store_lines(connection, iter(batch), tell)
        memory.call_order.give_way()
        try:
            progress(into.done, total)
        except Cancelled:
            into.is_cancelled = True
            break
    with memory.db.write() as connection:
        into.link_superseded(connection)
        into.link_replaced(connection)
    return into.get_result()


def _import_whole(
    memory: Memory,
    connection: Connection,
    checked: ArchiveFile,
    reading: ArchiveFile,
    progress: Callable[[int, int], None],
) -> ImportResult:
    """Keep an archive with its ids in an empty store, within a transaction."""
    into = _Importer(reading, memory.clock, checked.maps, same_ids=True)
    total = checked.memories
    into.store_lines(connection, reading.read_lines(), lambda done: progress(done, total))
    into.link_superseded(connection)
    into.link_replaced(connection)
    return into.get_result()


class _Importer:
    """Keep lines in a store, and remember which memory each one became."""

    def __init__(
        self, reading: ArchiveFile, clock: Clock, archived: list[MapLine], same_ids: bool
    ) -> None:
        self._reading = reading
        self._clock = clock
        self._same_ids = same_ids
        self._ids: dict[int, int] = {}
        self._waiting: list[tuple[int, MemoryLine]] = []
        self._replacing: list[tuple[int, MemoryLine]] = []
        self._sessions = self._memories = self._known = self._lost = self._events = 0
        self._erased = 0
        self._places = PlaceImport(clock, archived)
        self.is_cancelled = False

    @property
    def done(self) -> int:
        """Return how many memories were kept, or known."""
        return self._memories + self._known

    def store_lines(
        self,
        connection: Connection,
        lines: Iterator[tuple[int, Line]],
        progress: Callable[[int], None],
    ) -> None:
        """Keep lines within a transaction."""
        for number, line in lines:
            try:
                if isinstance(line, MemoryLine):
                    self._store_memory(connection, line)
                    progress(self.done)
                elif isinstance(line, EventLine):
                    self._store_event(connection, line)
                elif isinstance(line, PlaceLine):
                    self._places.store(connection, line)
                elif not sessions.exists(connection, line.id):
                    sessions.insert(connection, make_session(line), is_now=False)
                    detail = {'session': line.id}
                    audit.record(
                        connection,
                        None,
                        'session_imported',
                        archive_rows.IMPORTER,
                        '',
                        detail,
                        self._clock(),
                    )
                    self._sessions += 1
            except InvalidArgument as error:
                self._reading.refuse(number, error)

    def _store_memory(self, connection: Connection, line: MemoryLine) -> None:
        created_at = line.origin.get('created_at') or line.created_at
        origin: Origin = (line.origin['store_id'], line.origin['id'], created_at)
        known = archive_rows.known(connection, origin)
        if known is None and tombstones.has_origin(connection, *origin):
            self._erased += 1
            return
        if known is None and line.type == 'perception':
            known = folded_rows.find_known(connection, origin[0], origin[1], _find_onset(line))
        if known is None:
            if line.session_id is not None and not sessions.exists(connection, line.session_id):
                sessions.insert(
                    connection, make_placeholder_session(line.session_id, line), is_now=False
                )
                self._lost += 1
            record = replace(
                line.to_record(
                    line.id if self._same_ids else 0, _choose_turn_number(connection, line)
                ),
                authority='imported',
                writer=Writer('import', line.origin['store_id'], authority='imported'),
            )
            said = provenance.verify(connection, vars(line), line.provenance)
            if said is not None:
                authority, stands, writer = said
                record = replace(record, authority=authority, stands=stands, writer=writer)
            known = archive_rows.put(connection, record, origin, vars(line), self._clock())
            self._memories += 1
        else:
            self._known += 1
        if line.superseded_by is not None:
            self._waiting.append((known, line))
        if line.replaced:
            self._replacing.append((known, line))
        self._ids[line.id] = known

    def _store_event(self, connection: Connection, line: EventLine) -> None:
        """Keep the event of a folded memory; its digest came before it."""
        store, first_id = line.origin['store_id'], line.origin['id']
        if tombstones.has_origin(connection, store, first_id, None):
            self._erased += 1
            return
        digest = self._ids.get(line.digest)
        if digest is None:
            raise InvalidArgument(f'digest {line.digest} of event {line.id} is not in the archive')
        if folded_rows.is_known(connection, store, first_id, line.onset):
            self._known += 1
        else:
            folded_rows.put(connection, vars(line), line.id if self._same_ids else 0, digest)
            self._events += 1

    def link_superseded(self, connection: Connection) -> None:
        """Let what was superseded point to what the other memory became here."""
        for memory_id, line in self._waiting:
            here = self._ids.get(line.superseded_by or 0)
            if here is None and self.is_cancelled:
                continue
            if here is None:
                self._lost += 1
            else:
                archive_rows.follow(connection, memory_id, here, self._clock())
            archive_rows.complete_trail(
                connection, memory_id, vars(line), here, same_ids=self._same_ids
            )

    def link_replaced(self, connection: Connection) -> None:
        """Let what replaced another memory replace what that became here."""
        for memory_id, line in self._replacing:
            for one in line.replaced or ():
                here = self._ids.get(one['memory'])
                if here is None:
                    self._lost += not self.is_cancelled
                else:
                    at, settled = line.created_at, one['settled']
                    archive_rows.link(connection, memory_id, here, at, settled=settled)

    def get_result(self) -> ImportResult:
        """Return what was counted."""
        return ImportResult(
            self._sessions,
            self._memories,
            self._known,
            self._lost,
            self._same_ids,
            self._reading.refused,
            tuple(self._reading.problems),
            self._events,
            self._erased,
            self.is_cancelled,
            self._places.kept,
        )


def _find_onset(line: MemoryLine) -> int:
    """Return the onset of a perception in nanoseconds."""
    if line.event:
        return int(line.event['onset'])
    return 1000 * line.created_at if line.stamp is None else line.stamp


def _choose_turn_number(connection: Connection, line: MemoryLine) -> int | None:
    """Return the number of a turn: its own, or the next where that is taken or exhausts them."""
    if line.turn is None:
        return None
    number, session = int(line.turn['number']), str(line.session_id)
    if number > _SMALL_NUMBER or turns.has(connection, session, number):
        return turns.next_number(connection, session)
    return number
