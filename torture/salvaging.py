"""
Damaged stores that are salvaged: every row whose pages are whole is in the new store, unchanged.

Which pages a row lies on is counted on the undamaged file by SQLite alone: `dbstat` lists the
pages of a table, with the cells of each and the pages of long values, and rows lie in the cells in
their order.
"""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import checker
import histories
from histories import STORE, Life
from robots import fill

from robot_memory.core.errors import RobotMemoryError
from robot_memory.storage.admin.salvage import FAULT, Salvaged, salvage

FACTS, LONG_FACTS = 120, 700
LONG = 1300
"""Bytes of a note that leaves room for one row on a page: each second store is of three levels."""
SECTOR = 512
DERIVED = {
    'changes', 'collections', 'confirmations', 'counts', 'event_hours', 'facet_paths', 'facets',
    'form_vectors', 'forms', 'indexed', 'meta', 'part_digests', 'place_frames', 'place_paths',
    'placed', 'places', 'rule_conditions', 'situation_vectors', 'situations', 'sizes',
    'skill_states', 'sqlite_schema', 'sqlite_sequence', 'sqlite_stat1', 'sqlite_stat4',
}  # fmt: skip
"""Tables that follow from rows of others, or are of a process: they are made anew."""
OF_MEMORIES = 'other_vectors', 'trial_uses', 'trials'
"""Those whose rows go with their memory, though no reference says so."""
TOLD = {'audit': ('audit', 'writers'), 'turn': ('turns',), 'trial': ('trials', 'event_names')}
"""What the checker says of a store where rows of these tables are lost, which salvage tells."""
STAND_INS = 'sessions', 'writers'
"""Those of which a lost row that others need is stored again by its id alone."""
Row = tuple[Any, ...]
Key = tuple[Any, ...]


@dataclass
class Table:
    """Hold the rows of a table by their keys, and the pages of each."""

    columns: list[str]
    rows: dict[Key, Row]
    pages: dict[Key, set[int]]


class Tables:
    """Read the tables of a file by SQLite alone."""

    def __init__(self, path: Path, *, with_pages: bool) -> None:
        """Read all rows, and where each lies."""
        self.of: dict[str, Table] = {}
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        with closing(apsw.Connection(f'file:{path}?immutable=1', flags=flags)) as connection:
            listed: Any = connection.execute(
                "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
            ).fetchall()
            for name, without_rowid in listed:
                if name not in DERIVED:
                    self.of[name] = _read_table(connection, name, bool(without_rowid), with_pages)
            self.references = {name: _list_references(connection, name) for name in self.of}

    def find_lost(self, name: str, found: Table, known: Tables) -> Iterator[tuple[Key, str]]:
        """Yield rows that are not there, with the table of the lost row that they need, or ''."""
        of = self.of[name]
        for key in of.rows.keys() - found.rows.keys():
            values = dict(zip(of.columns, of.rows[key], strict=True))
            needed = (
                parent
                for column, parent in self.references[name]
                if values[column] is not None
                and parent not in DERIVED
                and (values[column],) not in known.of[parent].rows
            )
            yield key, next(needed, '')


def _read_table(
    connection: apsw.Connection, name: str, without_rowid: bool, with_pages: bool
) -> Table:
    about: Any = connection.execute(f'PRAGMA table_info("{name}")').fetchall()
    columns = [row[1] for row in about]
    wanted = ', '.join(f'"{column}"' for column in columns)
    if without_rowid:
        places = [row[0] for row in sorted(about, key=lambda row: row[5]) if row[5]]
        rows = {
            tuple(row[place] for place in places): row
            for row in connection.execute(f'SELECT {wanted} FROM "{name}" NOT INDEXED')
        }
    else:
        sql = f'SELECT rowid, {wanted} FROM "{name}" NOT INDEXED ORDER BY rowid'
        rows = {(row[0],): row[1:] for row in connection.execute(sql)}
    if not with_pages:
        return Table(columns, rows, {})
    cells = [*_walk(_read_pages(connection, name), '/', without_rowid)]
    if len(cells) != len(rows):
        raise RuntimeError(f'{name} has {len(rows)} rows in {len(cells)} cells')
    return Table(columns, rows, dict(zip(rows, cells, strict=True)))


@dataclass
class _Page:
    number: int
    kind: str
    cells: int
    long: dict[int, set[int]]


def _read_pages(connection: apsw.Connection, name: str) -> dict[str, _Page]:
    """Return the pages of a table by their paths, with those of long values by their cells."""
    pages: dict[str, _Page] = {}
    overflow = []
    listed: Any = connection.execute(
        'SELECT path, pageno, pagetype, ncell FROM dbstat WHERE name = ?', (name,)
    )
    for path, number, kind, cells in listed:
        if kind == 'overflow':
            overflow.append((path, number))
        else:
            pages[path] = _Page(number, kind, cells, {})
    for path, number in overflow:
        page, _, cell = path.partition('+')[0].rpartition('/')
        pages[f'{page}/'].long.setdefault(int(cell, 16), set()).add(number)
    return pages


def _walk(pages: dict[str, _Page], path: str, without_rowid: bool) -> Iterator[set[int]]:
    """Yield the pages of each row in the order of their keys."""
    page = pages[path]
    for cell in range(page.cells):
        if page.kind == 'internal':
            yield from _walk(pages, f'{path}{cell:03x}/', without_rowid)
        if page.kind == 'leaf' or without_rowid:
            yield {page.number, *page.long.get(cell, ())}
    if page.kind == 'internal':
        yield from _walk(pages, f'{path}{page.cells:03x}/', without_rowid)


def _list_references(connection: apsw.Connection, name: str) -> list[tuple[str, str]]:
    """Return the columns that refer to rows of other tables, with these."""
    rows: Any = connection.execute(f'PRAGMA foreign_key_list("{name}")').fetchall()
    implied = [('memory_id', 'memories')] if name in OF_MEMORIES else []
    return [(row[3], row[2]) for row in rows] + implied


class Salvaging:
    """A store that is damaged and salvaged again and again."""

    def __init__(self, folder: Path, seed: int) -> None:
        """Make the store, and note which rows lie on which pages."""
        life = Life(seed)
        self._folder, base = folder, folder / 'base'
        life.prepare(base)
        with histories.open_robot(life, base, 1) as robot:
            fill(robot, FACTS, seed=seed)
            chance = random.Random(f'{seed} notes')
            for number in range(0 if seed % 2 else LONG_FACTS):
                note = chance.randbytes(LONG).hex()
                robot.learn(f'Shelf {number} holds part {number * 37}', {'env': {'note': note}})
        self._content = (base / STORE).read_bytes()
        self._tables = Tables(base / STORE, with_pages=True)
        size = int.from_bytes(self._content[16:18], 'big')
        self._size = 65536 if size == 1 else size
        self.found: Counter[str] = Counter()
        shutil.rmtree(base)

    def strike(self, chance: random.Random) -> tuple[str, str]:
        """Damage a copy and salvage it; return what is wrong with what came of it, if anything."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir()
        path, new = self._folder / STORE, self._folder / 'salvaged.db'
        what = chance.choice([*DAMAGES])
        content = bytearray(self._content)
        DAMAGES[what](content, self._size, chance)
        path.write_bytes(content)
        hit = self._list_hit(content)
        self.found[f'stores with {what}'] += 1
        self.found['pages hit'] += len(hit)
        try:
            done = salvage(path, new)
        except RobotMemoryError as error:
            return 'refused', f'{what} in {len(hit)} pages: {error}'
        except Exception as error:
            return 'ended', f'{what} in {len(hit)} pages {sorted(hit)[:20]}: {error!r}'
        if path.read_bytes() != content:
            return 'wrong', f'{what}: the damaged store was changed'
        return self._judge(Tables(new, with_pages=False), hit, done, f'{what}: {sorted(hit)[:20]}')

    def _list_hit(self, content: bytearray) -> set[int]:
        """Return the pages that are not what they were, or not there."""
        size = self._size
        return {
            at // size + 1
            for at in range(0, len(self._content), size)
            if content[at : at + size] != self._content[at : at + size]
        }

    def _judge(self, found: Tables, hit: set[int], done: Salvaged, what: str) -> tuple[str, str]:
        missing: list[str] = []
        wrong: list[str] = []
        partial = {(one.table, (one.id,)) for one in done.partial}
        for name, table in self._tables.of.items():
            now = found.of.get(name) or Table([], {}, {})
            whole = {key for key in table.rows if not table.pages[key] & hit}
            self.found['rows'] += len(table.rows)
            self.found['rows whose pages are whole'] += len(whole)
            self.found['rows brought back'] += len(table.rows.keys() & now.rows.keys())
            for key, parent in self._tables.find_lost(name, now, found):
                if key in whole and parent:
                    self.found['whole rows left out for the lost one that they belong to'] += 1
                elif key in whole:
                    missing.append(f'{name} {key}')
            for key in table.rows.keys() & now.rows.keys():
                is_known_lost = (name, key) in partial or (name in STAND_INS and key not in whole)
                if not is_known_lost and (
                    said := self._compare(name, key, now, found, is_whole=key in whole)
                ):
                    wrong.append(f'{name} {key}: {said}')
        if missing:
            self.found['whole rows missing'] += len(missing)
            return 'lost', f'{len(missing)} rows, {missing[:5]} ({what})'
        if wrong:
            self.found['rows that are not what they were'] += len(wrong)
            return 'wrong', f'{len(wrong)} rows, {wrong[:5]} ({what})'
        # Damage alone must not look like an audit that somebody changed.
        problems = [one for one in done.lost.get('audit', ()) if one.startswith(FAULT)]
        problems += [
            one
            for one in checker.check(self._folder / 'salvaged.db')
            if not any(
                one.startswith(told) and not done.lost.keys().isdisjoint(of)
                for told, of in TOLD.items()
            )
        ]
        return ('inconsistent', f'{problems[:5]} ({what})') if problems else ('', '')

    def _compare(self, name: str, key: Key, now: Table, found: Tables, *, is_whole: bool) -> str:
        """
        Say in which columns a row is not what it was.

        A reference to a lost row is cleared, and what lay on a damaged page may be.
        """
        table = self._tables.of[name]
        before = dict(zip(table.columns, table.rows[key], strict=True))
        after = dict(zip(now.columns, now.rows[key], strict=True))
        parents = dict(self._tables.references[name])
        different = []
        for column, value in before.items():
            parent = parents.get(column)
            cleared = parent is not None and (
                parent in DERIVED or (value,) not in found.of[parent].rows
            )
            cleared |= not is_whole and after.get(column) is None
            if after.get(column) != value and not cleared:
                different.append(f'{column} {after.get(column)!r:.80}, not {value!r:.80}')
        return '; '.join(different)


def _overwrite(content: bytearray, size: int, chance: random.Random) -> None:
    for page in chance.sample(range(len(content) // size), chance.choice((1, 2, 4, 16))):
        noise = chance.randbytes(size) if chance.random() < 0.5 else bytes(size)
        content[page * size : (page + 1) * size] = noise


def _flip(content: bytearray, size: int, chance: random.Random) -> None:
    for _ in range(chance.choice((1, 3, 10, 30))):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)


def _truncate(content: bytearray, size: int, chance: random.Random) -> None:
    del content[chance.randrange(len(content) // 4, len(content)) :]


def _clear_sectors(content: bytearray, size: int, chance: random.Random) -> None:
    count = chance.choice((1, 8, 64, 128))
    start = chance.randrange(len(content) // SECTOR - count) * SECTOR
    content[start : start + count * SECTOR] = bytes(count * SECTOR)


def _hit_the_first(content: bytearray, size: int, chance: random.Random) -> None:
    _overwrite(content, size, chance)
    content[:size] = chance.randbytes(size)


Damage = Callable[[bytearray, int, random.Random], None]
DAMAGES: dict[str, Damage] = {
    'pages overwritten': _overwrite,
    'bits flipped': _flip,
    'their end cut off': _truncate,
    'sectors of zeros': _clear_sectors,
    'the first page and others overwritten': _hit_the_first,
}
