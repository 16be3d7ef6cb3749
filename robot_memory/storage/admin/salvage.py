"""
A new store from all rows of a damaged one that can be read.

Rows are copied table by table in the order of their ids. What lies on a damaged page is left out
and told. Full text, vectors' indexes and all else that is derived is made anew from the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import apsw

from robot_memory.core.clock import Clock, wall_clock
from robot_memory.core.errors import Conflict, Unavailable
from robot_memory.core.files import keep_file
from robot_memory.storage import checksums, damage, schema_runner
from robot_memory.storage.admin import audit_check, lost_lines, partial_rows, schema_recovery
from robot_memory.storage.admin.backup import compute_digest
from robot_memory.storage.admin.lost_lines import Evidence
from robot_memory.storage.admin.row_reading import Table, list_columns, read_rows
from robot_memory.storage.admin.row_types import list_column_types
from robot_memory.storage.admin.tree_mending import TableTree, mend_trees
from robot_memory.storage.lock_owners import name_users
from robot_memory.storage.page_file import open_pages, spoil_pages
from robot_memory.storage.store_files import (
    INDEX,
    LOG,
    copy_with_log,
    has_log,
    hold_scratch,
    name_file,
)
from robot_memory.storage.tables import event_hours, meta, part_digests, sizes, trials
from robot_memory.storage.vector_extension import load_vectors

FAULT = 'the audit does not verify, and not for what was lost'
"""Begins what is told of an audit that was at fault before the damage."""
Progress = Callable[[int, int], None]
_PAGE = 4096
_STAND_INS = {
    'writers': 'INSERT INTO writers (id, face, client, principal, actor, authority)'
    " SELECT lost, 'salvage', '', '', 'lost writer ' || lost, 'imported' FROM",
    'sessions': 'INSERT INTO sessions (id, collection, context, status, created_at)'
    " SELECT lost, 'default', '{}', 'ended', 0 FROM",
}
"""What stores a row of which nothing but its id is known."""
_SHADOWS = (
    'SELECT s.name, s.rootpage FROM sqlite_schema AS s JOIN pragma_table_list AS l'
    " ON l.schema = 'main' AND l.name = s.name WHERE l.type = 'shadow' AND NOT l.wr"
    ' AND s.rootpage > 0'
)
"""The tables with ids that virtual tables keep."""


@dataclass
class Salvaged:
    """
    Say what was copied and what was lost, in rows by table, and the ids of lost memories.

    `partial` are rows of which some columns are lost. `has_audit_loss`: the new store has a line
    that tells what of its audit is lost.
    """

    copied: dict[str, int] = field(default_factory=dict)
    lost: dict[str, list[str]] = field(default_factory=dict)
    partial: list[partial_rows.PartialRow] = field(default_factory=list)
    has_audit_loss: bool = False

    def lose(self, table: str, what: str) -> None:
        """Note what of a table is lost, once."""
        known = self.lost.setdefault(table, [])
        if what not in known:
            known.append(what)


def salvage(
    path: Path,
    target: Path,
    progress: Progress = lambda done, total: None,
    clock: Clock = wall_clock,
) -> Salvaged:
    """
    Write a new store from what can be read of one; the damaged one is not changed.

    What of the audit is lost has a line in the new store, and is no whole chain to any check.

    Raise Conflict where the target exists, and Unavailable where the copy that is read does not
    fit on the disk, or the list of tables cannot be read, or there is not a single row.
    """
    if target.exists():
        raise Conflict(f'{target} exists; name a file that does not')
    done = Salvaged()
    with (
        hold_scratch(target.with_name(f'.{target.name}.reading')) as copy,
        hold_scratch(target.with_name(f'.{target.name}.part')) as part,
    ):
        evidence = _copy_files(path, copy, done)
        _spoil_blank(copy)
        damaged = damage.find_damaged(copy)
        if schema_recovery.is_hit(copy, damaged):
            bad = {*damaged, *damage.find_zeros(copy)}
            schema_recovery.recover(copy, bad, done.lose)
            if 'audit' in done.lost:  # nothing tells where it began
                evidence.note_page(damage.DamagedPage(0))
        _mend(path, copy, done, evidence)
        if _spoil_blank(copy):  # what no tree led to before
            _mend(path, copy, done, evidence)
        source, new = checksums.connect(copy), checksums.connect(part)
        try:
            part.chmod(0o600)
            load_vectors(source)
            load_vectors(new)
            checksums.reserve_if_empty(new)
            _copy(source, new, _list_entries(source, path), done, evidence)
            if not any(done.copied.values()):
                raise Unavailable(
                    f'nothing of {path} can be salvaged: no row of a store was found in it; '
                    'restore a backup, or import an archive'
                )
            meta.put(new, 'derived_rules', 0)
            if meta.get(new, 'store_id') is None:
                meta.put_store_id(new)
                done.lose('meta', 'the identity of the store: it has a new one')
            schema_runner.upgrade(new, progress)
            for what in lost_lines.note(source, new, copy, evidence, clock()):
                done.has_audit_loss = True
                done.lose('audit', what)
            partial_rows.settle(new, done.partial)
            _settle(new, done)
            for what in lost_lines.name_lost_memories(new):
                done.lose('memories', what)
            if fault := audit_check.check(new, all_lines=True).problem:
                done.lose('audit', f'{FAULT}: {fault}')
        finally:
            source.close()
            new.close()
        keep_file(part, target)
    return done


def _copy_files(path: Path, copy: Path, done: Salvaged) -> Evidence:
    """Copy a store and its log, which is brought into the copy as far as that can be."""
    if users := name_users(path):
        what = f'{users} has the store open; end that, and salvage again'
        done.lose('what is written in the meantime', what)
    copy_with_log(path, copy)
    evidence = Evidence('')
    if copy.exists():
        with copy.open('rb') as file:
            evidence.file = compute_digest(file).hex()
    if not schema_recovery.mend_header(copy):
        _replace_missing(copy)
    connection = checksums.connect(copy)
    try:
        # Nothing of a log is brought in that has not been opened: reading opens it, even where
        # what is read is damaged.
        with suppress(apsw.Error):
            connection.execute('SELECT count(*) FROM sqlite_schema').fetchall()
        with suppress(apsw.IOError):
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        if has_log(copy):
            done.lose('the log (-wal)', 'what it has that the file has not')
            evidence.note_log(name_file(copy, LOG).stat().st_size // _PAGE + 1)
    finally:
        connection.close()
    for log in (name_file(copy, LOG), name_file(copy, INDEX)):
        log.unlink(missing_ok=True)
    return evidence


def _replace_missing(copy: Path) -> None:
    """Have what a cut off file lacks be pages that cannot be read: else SQLite reads none."""
    with open_pages(copy) as file:
        is_first_whole = not file.has_checksums or not damage.find_damaged_of(copy, [1])
        missing = range(file.count + 1, file.said_count + 1) if is_first_whole else range(0)
    spoil_pages(copy, missing)


def _spoil_blank(copy: Path) -> bool:
    """Have pages that are blank, but match their checksums, not be read; say if there were any."""
    blank = damage.find_blank(copy)
    spoil_pages(copy, blank)
    return bool(blank)


def _mend(path: Path, copy: Path, done: Salvaged, evidence: Evidence) -> None:
    """Have whole pages of damaged tables be found; note which rows are lost."""
    damaged = damage.find_damaged(copy)
    if not damaged:
        return
    evidence.pages += len(damaged)
    connection = checksums.connect(copy)
    try:
        tables = {
            entry[0]: TableTree(entry[4], list_column_types(connection, entry[0], entry[3]))
            for entry in _list_entries(connection, path)
            if entry[2] == 'table' and not entry[3]
        }
        # Rows of theirs may look like those of a table: full text has ids and bytes.
        rivals = {
            name: TableTree(root, list_column_types(connection, name, without_rowid=False))
            for name, root in connection.execute(_SHADOWS)
        }
    finally:
        connection.close()
    roots = damage.read_roots(copy)
    for page in damage.name_pages(copy, damaged, roots):
        if page.owner == 'audit':
            evidence.note_page(page)
        if page.owner in tables and not page.inner:
            done.lose(page.owner, str(page))
    trees = tables | rivals
    mend_trees(copy, damaged, trees, [roots[name] for name in roots.keys() - trees.keys()])


def _list_entries(source: apsw.Connection, path: Path) -> list[Any]:
    """Return of all there is name, SQL, kind (of an index None), if without rowid, first page."""
    try:
        return source.execute(
            'SELECT s.name, s.sql, l.type, l.wr, s.rootpage FROM sqlite_schema AS s LEFT JOIN'
            " pragma_table_list AS l ON l.schema = 'main' AND l.name = s.name WHERE s.sql IS NOT"
            " NULL AND s.name NOT LIKE 'sqlite_%' AND l.type IS NOT 'shadow' ORDER BY s.rowid"
        ).fetchall()
    except apsw.Error as error:
        raise Unavailable(
            f'nothing of {path} can be salvaged: its list of tables cannot be read ({error}); '
            'restore a backup, or import an archive'
        ) from error


def _copy(
    source: apsw.Connection,
    new: apsw.Connection,
    entries: Sequence[Any],
    done: Salvaged,
    evidence: Evidence,
) -> None:
    version = source.pragma('user_version')
    for _, sql, kind, *_ in entries:
        if kind is not None:
            new.execute(sql)
    new.execute('BEGIN')
    for name, _, kind, without_rowid, _ in entries:
        if kind == 'table':
            table = Table(name, list_columns(source, name), not without_rowid)
            done.copied[name] = _copy_table(source, new, table, done, evidence)
    _copy_sequences(source, new)
    for _, sql, kind, *_ in entries:
        if kind is None:
            new.execute(sql)
    evidence.note_references(new)
    _mend_references(new, done.copied, done)
    new.execute('COMMIT')
    new.pragma('user_version', version)


def _copy_table(
    source: apsw.Connection,
    new: apsw.Connection,
    table: Table,
    done: Salvaged,
    evidence: Evidence,
) -> int:
    values = ', '.join('?' * len(table.columns))
    insert = f'INSERT OR IGNORE INTO "{table.name}" ({table.quoted}) VALUES ({values})'
    count = refused = 0

    def read_partly(number: int) -> tuple[Any, ...] | None:
        row = partial_rows.read(source, table, number)
        if row is None:
            return None
        done.partial.append(row)
        done.lose(table.name, str(row))
        return row.values

    skip = evidence.note_rows if table.name == 'audit' else _pass_over
    lose = partial(done.lose, table.name)
    for row in read_rows(source, table, lose, read_partly, skip=skip):
        new.execute(insert, row)
        count += new.changes()
        refused += not new.changes()
    if refused:
        done.lose(
            table.name, f'{refused} rows that break a constraint, such as a second one of an id'
        )
    return count


def _pass_over(first: float, last: float) -> None:
    """Note nothing of rows that no chain needs."""


def _copy_sequences(source: apsw.Connection, new: apsw.Connection) -> None:
    """Have no id given again, not even one whose row is lost."""
    try:
        rows: Any = source.execute('SELECT name, seq FROM sqlite_sequence').fetchall()
    except apsw.Error:
        return
    for name, number in rows:
        new.execute('UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?', (number, name))
        if not new.changes():
            new.execute('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)', (name, number))


def _settle(new: apsw.Connection, done: Salvaged) -> None:
    """
    Leave out the bytes of parts that are not those that were stored; what they were stays.

    And add up anew what is not there any more: sizes, and hours of events.
    """
    new.execute('BEGIN')
    new.execute('DELETE FROM part_digests WHERE part_id NOT IN (SELECT id FROM parts)')
    for one in part_digests.check(new):
        if one.damage:
            done.lose('parts', str(one))
            new.execute('UPDATE parts SET content = NULL WHERE id = ?', (one.id,))
            new.execute('DELETE FROM part_digests WHERE part_id = ?', (one.id,))
        elif one.is_new:
            part_digests.add(new, one)
    trials.restore(new)
    sizes.recount(new)
    event_hours.compute_all(new)
    new.execute('COMMIT')


def _mend_references(new: apsw.Connection, tables: Iterable[str], done: Salvaged) -> None:
    """
    Have no row refer to one that is lost.

    A lost session or writer is stored again by its id alone; else the reference is cleared or,
    where it must be there, the row is left out.
    """
    names, changed = list(tables), True
    while changed:
        changed = False
        for name in names:
            nullable = {
                row[1]
                for row in new.execute(f'PRAGMA table_info("{name}")')
                if not row[3] and not row[5]
            }
            for row in new.execute(f'PRAGMA foreign_key_list("{name}")').fetchall():
                column, parent = str(row[3]), str(row[2])
                changed |= _mend_reference(new, name, column, parent, column in nullable, done)


def _mend_reference(
    new: apsw.Connection,
    name: str,
    column: str,
    parent: str,
    is_nullable: bool,
    done: Salvaged,
) -> bool:
    """Mend what refers to lost rows by one column; say whether there were such."""
    lost = f'"{column}" IS NOT NULL AND "{column}" NOT IN (SELECT id FROM "{parent}")'
    if parent in _STAND_INS:
        ids = f'SELECT DISTINCT "{column}" AS lost FROM "{name}" WHERE {lost}'
        new.execute(f'{_STAND_INS[parent]} ({ids})')
        what = 'stored again by their ids alone'
        listed = parent
    elif is_nullable:
        new.execute(f'UPDATE "{name}" SET "{column}" = NULL WHERE {lost}')
        what, listed = f'without their {column}, which is lost', name
    else:
        new.execute(f'DELETE FROM "{name}" WHERE {lost}')
        done.copied[name] -= new.changes()
        what, listed = f'that belonged to lost {parent}', name
    count = new.changes()
    if count:
        done.lose(listed, f'{count} rows {what}')
    return bool(count)
