"""
Making damaged indexes of a store in use anew from its rows, which are never touched.

The damaged pages are read as empty ones (`page_substitution`), so that SQLite can empty the
trees. Words, and filters and places, are then filled in batches (`index_filling`). Of the index of
vectors what lay on damaged leaves is made anew (`leaf_mending`). All else is made in the same
transaction.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import apsw

from robot_memory.core.errors import Damaged, Unavailable
from robot_memory.storage import damage, derived
from robot_memory.storage.admin import index_filling, inner_mending, leaf_mending
from robot_memory.storage.admin.page_substitution import (
    INDEX_LEAF,
    TABLE_LEAF,
    make_chain,
    make_empty_leaf,
    make_row_leaf,
    make_version_leaf,
    substitute,
)
from robot_memory.storage.admin.row_reading import Table, read_rows
from robot_memory.storage.connection import Database
from robot_memory.storage.damage import DamagedPage
from robot_memory.storage.indexes import entries, forms, other_vectors, set_aside
from robot_memory.storage.indexes.set_aside import CONTEXTS, VECTORS, WORDS
from robot_memory.storage.tables import event_hours, mending, rule_conditions

logger = logging.getLogger(__name__)

_NEVER_USED = re.compile(r'Page (\d+): never used')
_MOST_LINES = 10_000_000
_CONFIG = 'memories_fts_config'
_BESIDE = frozenset(('other_vectors', 'form_vectors'))
_PUT_VERSION = f"INSERT OR IGNORE INTO {_CONFIG} (k, v) VALUES ('version', 4)"
"""Without its version FTS5 opens no index, not even to make it anew."""


@dataclass(frozen=True)
class _Tree:
    """Hold the name of a table or index, the table that it is of, and the kind of its leaves."""

    name: str
    table: str
    is_index: bool
    leaf: int


@dataclass(frozen=True)
class Plan:
    """
    Hold what is to be made anew: groups of derived tables, and b-tree indexes by name.

    `tables` are those of the groups that are damaged, `pages` the damaged ones with the kind of
    their leaves, `owners` the same ones with what they are of.
    """

    owners: Mapping[int, str]
    groups: frozenset[str]
    tables: frozenset[str]
    indexes: frozenset[str]
    pages: Mapping[int, int]

    @property
    def names(self) -> list[str]:
        """Return what is made anew, in words."""
        return sorted((*self.groups, *self.indexes))


def make_plan(db: Database, owners: Mapping[int, str]) -> Plan | None:
    """
    Return what makes damaged pages whole again, by the tables and indexes that they are of.

    None where any is of a table of records, or unknown.
    """
    with db.read() as connection:
        trees = _list_trees(connection)
    if not owners or not all(owner in trees for owner in owners.values()):
        return None
    hit = [trees[owner] for owner in owners.values()]
    tables = {tree.table for tree in hit if not tree.is_index}
    if not tables <= set_aside.GROUP_OF.keys():
        return None
    groups = frozenset(set_aside.GROUP_OF[table] for table in tables)
    emptied = {table for table, group in set_aside.GROUP_OF.items() if group in groups}
    indexes = frozenset(tree.name for tree in hit if tree.is_index and tree.table not in emptied)
    # An index of a table that is partly emptied is emptied with it, so its table has to be.
    tables |= {tree.table for tree in hit if tree.is_index and tree.table in emptied}
    pages = {number: trees[owner].leaf for number, owner in owners.items()}
    return Plan(dict(owners), groups, frozenset(tables), indexes, pages)


def mend(db: Database, plan: Plan) -> dict[str, int]:
    """
    Empty indexes and make them anew; return those that are marked to be filled in batches.

    Who writes waits meanwhile, who reads does not. Raise Unavailable, having changed nothing,
    where a damaged page was written since.
    """
    if VECTORS in plan.groups and (restored := inner_mending.restore(db, plan.owners)):
        left = {page: owner for page, owner in plan.owners.items() if page not in restored}
        following = make_plan(db, left)
        return index_filling.list_left(db) if following is None else mend(db, following)
    leaves = _find_leaves(db, plan)
    if leaves:
        try:
            return _mend(db, plan, leaves)
        except Damaged as error:  # what was taken for a leaf was none
            logger.info('the index of vectors is made anew as a whole: %s', error)
    return _mend(db, plan, [])


def _mend(db: Database, plan: Plan, found: Sequence[DamagedPage]) -> dict[str, int]:
    with db.read() as connection:
        size = connection.pragma('page_size')
    pages = {number: make_empty_leaf(size, kind) for number, kind in plan.pages.items()}
    leaves = {leaf.number: leaf for leaf in found}
    rows = {number: leaf_mending.choose_row(leaf) for number, leaf in leaves.items()}
    pages |= {number: make_row_leaf(size, row) for number, row in rows.items()}
    # Without a version FTS5 opens no index, not even to be checked.
    versions = {
        number: make_version_leaf(size)
        for number, owner in plan.owners.items()
        if owner == _CONFIG
    }
    with substitute({**pages, **versions}) as vfs, db.connect(vfs=vfs) as connection:
        unused = _list_unused(connection)
    if unused:
        anchor, kind = min(plan.pages.items())
        pages[anchor], rest = make_chain(size, kind, unused, rows.get(anchor, 1))
        pages |= rest
    with substitute(pages) as vfs, db.connect() as source:
        with db.connect(alone=True, vfs=vfs) as connection:
            connection.pragma('foreign_keys', False)
            # Who waits to write does not wait until the log is in the file, too.
            connection.wal_autocheckpoint(0)
            connection.execute('BEGIN IMMEDIATE')
            try:
                _refuse_written(db, plan)
                if VECTORS in plan.groups and not leaves and not _is_kept(plan.tables):
                    _keep_vectors(source, connection)
                _remake(connection, plan, found)
                marks = mending.read(connection)
                connection.execute('COMMIT')
            except BaseException:
                if connection.in_transaction:
                    connection.execute('ROLLBACK')
                raise
        with suppress(apsw.Error):  # who writes next does so, too
            source.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
    return marks


def _refuse_written(db: Database, plan: Plan) -> None:
    """Raise Unavailable where another process mended the store, or wrote it anew."""
    if not damage.find_damaged_of(db.path, plan.pages) >= plan.pages.keys():
        raise Unavailable('the damaged pages were written meanwhile; nothing was changed')


def _list_trees(connection: apsw.Connection) -> dict[str, _Tree]:
    rows: list[Any] = connection.execute(
        "SELECT s.name, s.tbl_name, s.type = 'index', l.wr FROM sqlite_schema AS s"
        " LEFT JOIN pragma_table_list AS l ON l.schema = 'main' AND l.name = s.name"
        ' WHERE s.rootpage > 0'
    ).fetchall()
    return {
        name: _Tree(name, table, bool(is_index), INDEX_LEAF if is_index or wr else TABLE_LEAF)
        for name, table, is_index, wr in rows
    }


def _list_unused(connection: apsw.Connection) -> list[int]:
    """Return the pages that nothing leads to where damaged pages are read as empty ones."""
    found: list[int] = []
    try:
        for (text,) in connection.execute(f'PRAGMA quick_check({_MOST_LINES})'):
            found += map(int, _NEVER_USED.findall(str(text)))
    except apsw.CorruptError:
        pass  # pages are told of first, then rows are read, which an empty page ends
    return found


def _find_leaves(db: Database, plan: Plan) -> list[DamagedPage]:
    """Return the damaged leaves of the index of vectors where nothing else of it is damaged."""
    if VECTORS not in plan.groups:
        return []
    whole = {table for table in plan.tables if set_aside.GROUP_OF[table] != VECTORS}
    return leaf_mending.find_leaves(db.path, tuple(plan.pages), plan.indexes | whole)


def _remake(connection: apsw.Connection, plan: Plan, leaves: Sequence[DamagedPage]) -> None:
    # What fills a group looks rows up by these.
    for name in sorted(plan.indexes):
        connection.execute(f'REINDEX "{name}"')
    for group in sorted(plan.groups):
        if group == VECTORS and leaves:
            leaf_mending.mend_leaves(connection, leaves)
        else:
            _REMAKE[group](connection, plan.tables)


def _empty_words(connection: apsw.Connection, tables: Collection[str]) -> None:
    for table in set_aside.list_tables(WORDS):
        if table != _CONFIG or table in tables:
            connection.execute(f'DELETE FROM {table}')
    connection.execute(_PUT_VERSION)
    index_filling.empty(connection, WORDS)


def _empty_contexts(connection: apsw.Connection, tables: Collection[str]) -> None:
    index_filling.empty(connection, CONTEXTS)


def _keep_vectors(source: apsw.Connection, connection: apsw.Connection) -> None:
    """Copy the vectors that can be read; from elsewhere, as a failed read hinders the emptying."""
    connection.execute(
        'CREATE TEMP TABLE kept_vectors (memory_id INTEGER PRIMARY KEY, coarse, fine)'
    )
    rows = read_rows(source, Table('indexed', ('memory_id', 'coarse', 'fine')), lambda _: None)
    connection.executemany(
        'INSERT OR IGNORE INTO kept_vectors (memory_id, coarse, fine) VALUES (?, ?, ?)',
        (row for row in rows if row[1] is not None),
    )


def _is_kept(tables: Collection[str]) -> bool:
    """Say whether the index of vectors itself is whole, and stays: what is beside it is not."""
    return {table for table in tables if set_aside.GROUP_OF[table] == VECTORS} <= _BESIDE


def _remake_vectors(connection: apsw.Connection, tables: Collection[str]) -> None:
    if _is_kept(tables):
        if 'other_vectors' in tables:
            connection.execute('DELETE FROM other_vectors')
        if 'form_vectors' in tables:
            forms.clear_vectors(connection)
        other_vectors.scan_anew(connection)
        return
    emptied = {'indexed', 'collections'} | ({'other_vectors'} & set(tables))
    if {'forms', 'form_vectors'} & set(tables):
        emptied |= {'forms', 'form_vectors'}
    for table in sorted(emptied):
        connection.execute(f'DELETE FROM {table}')
    for row in _read_active(connection):
        entries.add_vectors(connection, *row)
    derived.index_observed(connection)
    derived.restore_vectors(connection)


def _remake_counts(connection: apsw.Connection, tables: Collection[str]) -> None:
    derived.recount(connection)


def _remake_hours(connection: apsw.Connection, tables: Collection[str]) -> None:
    event_hours.compute_all(connection)


def _remake_rules(connection: apsw.Connection, tables: Collection[str]) -> None:
    connection.execute('DELETE FROM rule_conditions')
    rule_conditions.refresh(connection)


_REMAKE: Mapping[str, Callable[[apsw.Connection, Collection[str]], None]] = {
    WORDS: _empty_words,
    CONTEXTS: _empty_contexts,
    VECTORS: _remake_vectors,
    'counts': _remake_counts,
    'hours': _remake_hours,
    'rules': _remake_rules,
}


def _read_active(connection: apsw.Connection) -> Iterator[tuple[int, str, str, str, Any]]:
    """Give id, type, collection, text and context of each active memory."""
    for batch in derived.read_batches(connection, 'active'):
        for memory_id, type, collection, content, context, _ in batch:
            yield memory_id, type, collection, content, json.loads(context)
