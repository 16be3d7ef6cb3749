"""
Mending damaged leaves of the index of vectors: what lay on them is made anew, all else stays.

A damaged leaf is read as one with a single row in its place (`page_substitution`). When that is
deleted, SQLite takes the leaf out of the tree.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import apsw

from robot_memory.storage import damage
from robot_memory.storage.damage import DamagedPage
from robot_memory.storage.indexes import entries, partitions
from robot_memory.storage.tables import observations

TABLE = 'indexed'


def find_leaves(path: Path, numbers: Sequence[int], others: Iterable[str]) -> list[DamagedPage]:
    """
    Return the damaged leaves of the index of vectors among some pages.

    There are none where something else of it is damaged. `others` are tables and indexes that are
    made anew as a whole.
    """
    named = damage.name_pages(path, numbers, damage.read_roots(path))
    left = [page for page in named if page.owner not in others]
    # A first page that is damaged does not tell whether it leads to others.
    are_leaves = all(not page.inner and (page.first, page.last) != (None, None) for page in left)
    return left if are_leaves and all(page.owner == TABLE for page in left) else []


def choose_row(leaf: DamagedPage) -> int:
    """Return the id of a row that has its place on a leaf."""
    if leaf.first is not None:
        return leaf.first
    return 1 if leaf.last is None else leaf.last


def mend_leaves(connection: apsw.Connection, leaves: Sequence[DamagedPage]) -> None:
    """Make anew the rows of leaves that are read as one row each; they wait for vectors."""
    # The rows that stand for lost ones are in no index, which SQLite would take for damage.
    connection.pragma('writable_schema', True)
    for leaf in leaves:
        connection.execute(f'DELETE FROM {TABLE} WHERE memory_id = ?', (choose_row(leaf),))
    connection.pragma('writable_schema', False)
    for leaf in leaves:
        first = 0 if leaf.first is None else leaf.first
        last = 2**63 - 1 if leaf.last is None else leaf.last
        for memory_id, type, collection, text, context in _list_lost(connection, first, last):
            entries.add_vectors(connection, memory_id, type, collection, text, json.loads(context))
            connection.execute(  # it was counted already
                'UPDATE collections SET memories = memories - 1 WHERE name = ?',
                (partitions.of(collection, type),),
            )
            observations.index(connection, memory_id)


def _list_lost(connection: apsw.Connection, first: int, last: int) -> list[Any]:
    return connection.execute(
        'SELECT id, type, collection, content, context FROM memories NOT INDEXED'
        " WHERE id BETWEEN ? AND ? AND status = 'active'"
        f' AND id NOT IN (SELECT memory_id FROM {TABLE}) ORDER BY id',
        (first, last),
    ).fetchall()
