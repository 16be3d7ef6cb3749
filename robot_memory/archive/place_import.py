"""Keep the maps, anchors and regions of an archive, and change nothing that holds here."""

from __future__ import annotations

from collections.abc import Iterable

from robot_memory.archive.place_lines import AnchorLine, MapLine, PlaceLine, RegionLine
from robot_memory.core.clock import Clock
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.json_text import format_value
from robot_memory.core.maps import NO_MAP, CurrentMap, MapRevision
from robot_memory.core.regions import MAX_REGIONS
from robot_memory.storage import Connection
from robot_memory.storage.tables import archive_rows, archived_places, audit, maps, regions
from robot_memory.storage.tables.archived_places import Row

IMPORTER = archive_rows.IMPORTER
_SHOWN: tuple[str, ...] = ('frame', 'name', 'revision')
"""What the audit says of a line."""


class PlaceImport:
    """
    Keep the lines of an archive's maps, anchors and regions in a store.

    What held in a frame is a history: one that goes on from the history here is continued, any
    other is refused, since names of maps and their revisions would mean two things.
    """

    def __init__(self, clock: Clock, archived: Iterable[MapLine]) -> None:
        """Nothing was kept yet; `archived` are all maps of the archive."""
        self._clock = clock
        self._archived = [_make_row(one) for one in archived]
        self._foreign: dict[str, str] | None = None
        self._histories: dict[str, list[Row]] = {}
        self._read: dict[str, int] = {}
        self.kept = 0

    def store(self, connection: Connection, line: PlaceLine) -> None:
        """Keep a line within a transaction; raise InvalidArgument for one that is refused."""
        row = _make_row(line)
        if isinstance(line, MapLine):
            is_new = self._store_map(connection, line, row)
        elif isinstance(line, AnchorLine):
            is_new = self._store_anchor(connection, line, row)
        else:
            is_new = self._store_region(connection, line, row)
        if is_new:
            self.kept += 1
            detail = {name: row[name] for name in _SHOWN if name in row}
            audit.record(
                connection, None, f'{line.kind}_imported', IMPORTER, '', detail, self._clock()
            )

    def _store_map(self, connection: Connection, line: MapLine, row: Row) -> bool:
        if line.frame not in self._histories:
            self._histories[line.frame] = archived_places.list_maps(connection, line.frame)
        known, number = self._histories[line.frame], self._read.get(line.frame, 0)
        of = MapRevision(line.name, line.revision)
        if number < len(known):
            if known[number] != row:
                raise InvalidArgument(
                    f'map {of.label}: in frame {format_value(line.frame)} of this store '
                    f'{known[number]["name"]} r{known[number]["revision"]} held at that point; '
                    'its maps stay as they are'
                )
            self._read[line.frame] = number + 1
            return False
        if line.name in (foreign := self._find_foreign(connection)):
            raise InvalidArgument(
                f'map {of.label}: this store has another map of this name, in frame '
                f'{format_value(foreign[line.name])}; its maps stay as they are'
            )
        last = CurrentMap(_get_revision(known[-1]), known[-1]['mapping']) if known else None
        if maps.find_current(connection, line.frame) != last:
            raise InvalidArgument(
                f'map {of.label}: set_map was called for frame {format_value(line.frame)} during '
                'the import; its maps stay as they are'
            )
        archived_places.put_map(connection, row, IMPORTER)
        known.append(row)
        self._read[line.frame] = number + 1
        return True

    def _find_foreign(self, connection: Connection) -> dict[str, str]:
        """Return the names of maps that are here and not in the archive, with a frame of each."""
        if self._foreign is None:
            archived = {tuple(sorted(row.items())) for row in self._archived}
            self._foreign = {
                row['name']: row['frame']
                for row in archived_places.list_maps(connection)
                if tuple(sorted(row.items())) not in archived
            }
        return self._foreign

    def _store_anchor(self, connection: Connection, line: AnchorLine, row: Row) -> bool:
        for of in (line.old, line.new):
            _require_known(connection, of, f'the anchor from {line.old.label} to {line.new.label}')
        here = archived_places.list_anchors(connection, (line.old, line.new))
        if row in here or any(one['at'] > line.at for one in here):
            return False  # it is known, or a later one is: of two the later counts
        archived_places.put_anchor(connection, row, IMPORTER)
        return True

    def _store_region(self, connection: Connection, line: RegionLine, row: Row) -> bool:
        if regions.find(connection, line.name) is not None:
            return False
        _require_known(connection, line.of, f'the region {format_value(line.name)}')
        if regions.count(connection) >= MAX_REGIONS:
            raise InvalidArgument(
                f'there are {MAX_REGIONS} regions, the most that are kept; '
                f'{format_value(line.name)} is one more'
            )
        archived_places.put_region(connection, row, IMPORTER)
        return True


def _make_row(line: PlaceLine) -> Row:
    return {name: value for name, value in vars(line).items() if name != 'kind'}


def _get_revision(row: Row) -> MapRevision:
    return MapRevision(row['name'], row['revision'])


def _require_known(connection: Connection, of: MapRevision, what: str) -> None:
    if of != NO_MAP and not maps.is_known(connection, of):
        raise InvalidArgument(f'{what} is of map {of.label}, which is not in this store')
