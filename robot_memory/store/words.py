"""The words' index: FTS5 over terms that `texts.terms` made of any script."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import apsw
import numpy as np

from robot_memory.store.filters import Where
from robot_memory.store.ways import Way

_TOKENIZER = ['unicode61', 'remove_diacritics', '2', 'categories', 'L* N* Co Mn Mc']
_HOME = '\ue002'
"""Begins the term that names a collection; no text of ours has it (`texts.POINT`)."""


def put(
    connection: apsw.Connection, memory_id: int, collection: str, terms: Iterable[str]
) -> None:
    """Index a memory's terms."""
    connection.execute(
        'INSERT INTO memories_fts (rowid, terms) VALUES (?, ?)',
        (memory_id, ' '.join((home(collection), *terms))),
    )


def remove(connection: apsw.Connection, memory_id: int) -> None:
    """Take a memory out of the index."""
    connection.execute('DELETE FROM memories_fts WHERE rowid = ?', (memory_id,))


def home(collection: str) -> str:
    """Return the term that every memory of a collection holds."""
    return f'{_HOME}{zlib.crc32(collection.encode("utf-8", "surrogatepass")):08x}'


def any_of(terms: Iterable[str]) -> str:
    """Return an FTS5 query for any of the terms; quoting leaves nothing to be syntax."""
    return ' OR '.join('"' + term.replace('"', '""') + '"' for term in terms)


def hashes(connection: apsw.Connection, terms: Iterable[str]) -> list[int]:
    """
    Return the hashes of the stems that FTS5 makes of terms, in order, repeats included.

    32 bits: of a vocabulary of 100,000 stems, one or two share one.
    """
    tokenizer = connection.fts5_tokenizer('porter', _TOKENIZER)
    text = ' '.join(terms).encode('utf-8', 'surrogatepass')
    stems: Any = tokenizer(
        text, apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False
    )
    return [zlib.crc32(stem.encode()) for stem in stems]


def packed(connection: apsw.Connection, terms: Iterable[str]) -> bytes:
    """Return the hashes of the stems of a text's terms as `indexed` holds them."""
    return np.array(hashes(connection, terms), '<u4').tobytes()


def candidates(
    connection: apsw.Connection,
    terms: Sequence[str],
    collection: str,
    limit: int,
    among: Sequence[int] | None = None,
) -> list[int]:
    """Return the ids of the best `limit` of a collection by FTS5's own BM25, best first."""
    if not terms:
        return []
    only = '' if among is None else ' AND +rowid IN (SELECT value FROM json_each(?))'
    chosen = () if among is None else (json.dumps(list(among)),)
    rows = connection.execute(
        f'SELECT rowid FROM memories_fts WHERE memories_fts MATCH ?{only} ORDER BY rank LIMIT ?',
        (f'"{home(collection)}" AND ({any_of(terms)})', *chosen, limit),
    )
    return [row[0] for row in rows]


def holding_any(connection: apsw.Connection, terms: Sequence[str], collection: str) -> list[int]:
    """Return the ids of a collection's memories that hold any of the terms."""
    rows = connection.execute(
        'SELECT rowid FROM memories_fts WHERE memories_fts MATCH ?',
        (f'"{home(collection)}" AND ({any_of(terms)})',),
    )
    return [row[0] for row in rows]


def frequencies(
    connection: apsw.Connection, terms: Sequence[str], collection: str | None = None
) -> list[int]:
    """Return how many memories, of one collection or of all, hold each term's stem."""
    home_too = '' if collection is None else f'"{home(collection)}" AND '
    found = []
    for term in terms:
        ((count,),) = connection.execute(
            'SELECT count(*) FROM memories_fts WHERE memories_fts MATCH ?',
            (f'{home_too}({any_of([term])})',),
        )
        found.append(int(count))
    return found


def matching(connection: apsw.Connection, terms: Sequence[str], among: Sequence[int]) -> set[int]:
    """Return those of the ids that hold any of the terms."""
    if not terms or not among:
        return set()
    rows = connection.execute(
        'SELECT m.rowid FROM json_each(?) AS asked'
        ' CROSS JOIN memories_fts AS m ON m.rowid = asked.value AND memories_fts MATCH ?',
        (json.dumps(list(among)), any_of(terms)),
    )
    return {row[0] for row in rows}


def way(terms: Sequence[str]) -> Where:
    """Return no condition, but the way to what holds any of the terms."""
    sql = 'SELECT rowid AS id FROM memories_fts WHERE memories_fts MATCH ?'
    return Where(ways=(Way(sql, (any_of(terms),)),))


def passing(connection: apsw.Connection, ids: Sequence[int], where: Where) -> set[int]:
    """Return those of the ids that pass a condition."""
    rows = connection.execute(
        'SELECT m.id FROM json_each(?) AS asked CROSS JOIN memories AS m ON m.id = asked.value'
        f' WHERE {where.sql}',
        (json.dumps(list(ids)), *where.values),
    )
    return {row[0] for row in rows}
