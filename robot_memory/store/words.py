"""The words' index: FTS5 over terms that `texts.terms` made of any script."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence

import apsw

from robot_memory.store.filters import Where
from robot_memory.store.ways import Way


def put(connection: apsw.Connection, memory_id: int, terms: Iterable[str]) -> None:
    """Index a memory's terms."""
    connection.execute(
        'INSERT INTO memories_fts (rowid, terms) VALUES (?, ?)', (memory_id, ' '.join(terms))
    )


def remove(connection: apsw.Connection, memory_id: int) -> None:
    """Take a memory out of the index."""
    connection.execute('DELETE FROM memories_fts WHERE rowid = ?', (memory_id,))


def any_of(terms: Iterable[str]) -> str:
    """Return an FTS5 query for any of the terms; quoting leaves nothing to be syntax."""
    return ' OR '.join('"' + term.replace('"', '""') + '"' for term in terms)


def best(
    connection: apsw.Connection,
    terms: Sequence[str],
    where: Where,
    limit: int,
    among: Sequence[int] | None = None,
) -> list[tuple[int, float]]:
    """
    Return the ids and BM25 scores (more is better) of the best `limit` that pass `where`.

    `among` is the set of ids that pass, where the caller has it already. Exact either way: a
    longer list is asked for until enough of it passes.
    """
    if not terms:
        return []
    match = any_of(terms)
    if among is not None:
        return [
            (row[0], -row[1])
            for row in connection.execute(
                'SELECT rowid, rank FROM memories_fts WHERE memories_fts MATCH ?'
                ' AND +rowid IN (SELECT value FROM json_each(?)) ORDER BY rank LIMIT ?',
                (match, json.dumps(list(among)), limit),
            )
        ]
    asked = limit * 2
    while True:
        found = list(
            connection.execute(
                'SELECT rowid, rank FROM memories_fts WHERE memories_fts MATCH ?'
                ' ORDER BY rank LIMIT ?',
                (match, asked),
            )
        )
        passed = passing(connection, [row[0] for row in found], where)
        kept = [(row[0], -row[1]) for row in found if row[0] in passed]
        if len(kept) >= limit or len(found) < asked:
            return kept[:limit]
        asked *= 8


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


def best_possible(connection: apsw.Connection, terms: Sequence[str]) -> float:
    """
    Return the BM25 score that a text holding every term often and briefly would come near to.

    It is 2.2 (FTS5's k1 + 1) times the sum of the terms' inverse document frequencies, which are
    those of FTS5's bm25(): a score over it says how much of the query the words cover.
    """
    ((count,),) = connection.execute(
        "SELECT count(*) FROM memories INDEXED BY memories_by_collection WHERE status = 'active'"
    )
    counts = frequencies(connection, terms)
    return 2.2 * sum(max(math.log((count - n + 0.5) / (n + 0.5)), 1e-6) for n in counts.values())


def frequencies(connection: apsw.Connection, terms: Sequence[str]) -> dict[str, int]:
    """Return in how many memories each term occurs, in its stemmed form."""
    tokenizer = connection.fts5_tokenizer(
        'porter',
        ['unicode61', 'remove_diacritics', '2', 'categories', 'L* N* Co Mn Mc'],
    )
    counts = {}
    for term in terms:
        stems = tokenizer(term.encode(), apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False)
        found = 0
        for stem in stems:
            row = connection.execute(
                'SELECT doc FROM memories_vocabulary WHERE term = ?', (stem[0],)
            ).fetchone()
            found = max(found, row[0] if row else 0)
        counts[term] = found
    return counts
