"""The full-text index: FTS5 over terms that `tokenizer.extract_terms` made of any script."""

from __future__ import annotations

import json
import struct
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import apsw

from robot_memory.storage.indexes.candidates import CandidateQuery
from robot_memory.storage.indexes.filters import Where
from robot_memory.storage.indexes.set_aside import WORDS, is_avoided
from robot_memory.text import tokenizer as texts

_TOKENIZER = ['unicode61', 'remove_diacritics', '2', 'categories', 'L* N* Co Mn Mc']
_NEIGHBOURS = 200
"""Ids that lie so near to each other, on average, are found by one walk through the index."""
_REMEMBERED, _LONGEST = 16_384, 64
"""Terms whose stems are remembered at most, and characters of one."""
_MARK = '\ue00f'
"""Begins the term that names a collection; no text of ours has it (`texts.POINT`)."""


def put(
    connection: apsw.Connection, memory_id: int, collection: str, terms: Iterable[str]
) -> None:
    """Index a memory's terms."""
    connection.execute(
        'INSERT INTO memories_fts (rowid, terms) VALUES (?, ?)',
        (memory_id, ' '.join((collection_term(collection), *terms))),
    )


def remove(connection: apsw.Connection, memory_id: int) -> None:
    """Take a memory out of the index."""
    connection.execute('DELETE FROM memories_fts WHERE rowid = ?', (memory_id,))


def collection_term(collection: str) -> str:
    """Return the term that every memory of a collection holds."""
    return f'{_MARK}{zlib.crc32(collection.encode("utf-8", "surrogatepass")):08x}'


def any_of(terms: Iterable[str]) -> str:
    """Return an FTS5 query for any of the terms; quoting leaves nothing to be syntax."""
    return ' OR '.join('"' + term.replace('"', '""') + '"' for term in terms)


def stems(connection: apsw.Connection, terms: Iterable[str]) -> list[str]:
    """Return the stems that FTS5 makes of terms, in order, repeats included."""
    return [stem.text for stem in list_stems(connection, terms)]


def _stem(tokenizer: Any, text: str) -> list[str]:
    found: Any = tokenizer(
        text.encode('utf-8', 'replace'),
        apsw.FTS5_TOKENIZE_DOCUMENT,
        None,
        include_offsets=False,
        include_colocated=False,
    )
    return list(found)


class Stem(NamedTuple):
    """
    Hold a stem and what `indexed` holds of it.

    `is_dense`: it is of a script without spaces.
    """

    text: str
    hash: int
    is_dense: bool


_stems_of: dict[str, tuple[Stem, ...]] = {}


def list_stems(connection: apsw.Connection, terms: Iterable[str]) -> list[Stem]:
    """Return the stems of terms in order; those of common terms are remembered."""
    found: list[Stem] = []
    for term in terms:
        known = _stems_of.get(term)
        if known is None:
            known = _make_stems(connection, term)
            if len(_stems_of) >= _REMEMBERED:
                _stems_of.clear()
            if len(term) <= _LONGEST:
                _stems_of[term] = known
        found += known
    return found


def _make_stems(connection: apsw.Connection, term: str) -> tuple[Stem, ...]:
    made = _stem(connection.fts5_tokenizer('porter', _TOKENIZER), term)
    return tuple(Stem(stem, hash_of(stem), texts.is_dense(stem)) for stem in made)


def stem_each(connection: apsw.Connection, terms: Iterable[str]) -> dict[str, list[Stem]]:
    """Return the stems of each of some terms, of which one may come again."""
    return {term: list(list_stems(connection, [term])) for term in dict.fromkeys(terms)}


def hash_each(groups: Iterable[Sequence[str]]) -> list[int]:
    """Return `hash_of` each of some stems or neighbours."""
    return [hash_of(*group) for group in groups]


def hash_of(*stems: str) -> int:
    """
    Return what `indexed` holds of a stem, or of two that are neighbours.

    32 bits: of a vocabulary of 100,000, one or two share one.
    """
    return zlib.crc32('\n'.join(stems).encode())


def pack(connection: apsw.Connection, terms: Iterable[str]) -> bytes:
    """
    Return what a text holds as hashes: its stems, those that come again, and neighbours.

    Of what comes again it is the stem and itself; stop words are no neighbours.
    """
    found, stopped = list_stems(connection, terms), _stop_stems(connection)
    once = set(found)
    hashes = {stem.hash for stem in once}
    if len(once) < len(found):
        again = (stem for stem, times in Counter(found).items() if times > 1)
        hashes.update(hash_of(stem.text, stem.text) for stem in again)
    said = [stem for stem in found if stem.text not in stopped]
    hashes.update(
        zlib.crc32(b'\n' + following.text.encode(), stem.hash)
        for stem, following in pairwise(said)
        if not (stem.is_dense and following.is_dense)
    )
    return struct.pack(f'<{len(hashes)}I', *sorted(hashes))


def unpack(terms: bytes) -> set[int]:
    """Return the hashes that `pack` joined."""
    return set(struct.unpack(f'<{len(terms) // 4}I', terms))


_stopped: frozenset[str] = frozenset()


def _stop_stems(connection: apsw.Connection) -> frozenset[str]:
    global _stopped
    if not _stopped:
        _stopped = frozenset(stems(connection, texts.STOP_TERMS))
    return _stopped


def candidates(
    connection: apsw.Connection,
    terms: Sequence[str],
    collection: str,
    limit: int,
    among: Sequence[int] | None = None,
) -> list[int]:
    """Return the ids of the best `limit` of a collection by FTS5's own BM25, best first."""
    if not terms or is_avoided(WORDS):
        return []
    only = '' if among is None else ' AND +rowid IN (SELECT value FROM json_each(?))'
    chosen = () if among is None else (json.dumps(list(among)),)
    rows = connection.execute(
        f'SELECT rowid FROM memories_fts WHERE memories_fts MATCH ?{only} ORDER BY rank LIMIT ?',
        (f'"{collection_term(collection)}" AND ({any_of(terms)})', *chosen, limit),
    )
    return [row[0] for row in rows]


def holds_any(connection: apsw.Connection, terms: Sequence[str], collection: str) -> bool:
    """Say whether any memory of a collection holds any of the terms."""
    if not terms or is_avoided(WORDS):
        return False
    ((found,),) = connection.execute(
        'SELECT EXISTS (SELECT 1 FROM memories_fts WHERE memories_fts MATCH ?)',
        (f'"{collection_term(collection)}" AND ({any_of(terms)})',),
    )
    return bool(found)


def find_any(connection: apsw.Connection, terms: Sequence[str], collection: str) -> list[int]:
    """
    Return the ids of a collection's memories that hold any of the terms.

    Where the index is damaged, those of all its facts.
    """
    if not terms:
        return []
    if is_avoided(WORDS):
        facts = connection.execute(
            'SELECT id FROM memories INDEXED BY memories_by_guard WHERE collection = ?'
            " AND status = 'active' AND type = 'fact'",
            (collection,),
        )
        return [row[0] for row in facts]
    rows = connection.execute(
        'SELECT rowid FROM memories_fts WHERE memories_fts MATCH ?',
        (f'"{collection_term(collection)}" AND ({any_of(terms)})',),
    )
    return [row[0] for row in rows]


def frequency(
    connection: apsw.Connection, terms: Sequence[str], collection: str | None = None
) -> int:
    """Return how many memories, of one collection or of all, hold any of the terms."""
    if not terms or is_avoided(WORDS):
        return 0
    in_collection = '' if collection is None else f'"{collection_term(collection)}" AND '
    ((count,),) = connection.execute(
        'SELECT count(*) FROM memories_fts WHERE memories_fts MATCH ?',
        (f'{in_collection}({any_of(terms)})',),
    )
    return int(count)


def select_matching(
    connection: apsw.Connection, terms: Sequence[str], among: Sequence[int]
) -> set[int]:
    """Return those of the ids that hold any of the terms."""
    if not terms or not among or is_avoided(WORDS):
        return set()
    least, most = min(among), max(among)
    if most - least < _NEIGHBOURS * len(among):  # one walk costs less than a look-up of each
        rows = connection.execute(
            'SELECT rowid FROM memories_fts WHERE memories_fts MATCH ? AND rowid BETWEEN ? AND ?',
            (any_of(terms), least, most),
        )
        return {row[0] for row in rows}.intersection(among)
    rows = connection.execute(
        'SELECT m.rowid FROM json_each(?) AS asked'
        ' CROSS JOIN memories_fts AS m ON m.rowid = asked.value AND memories_fts MATCH ?',
        (json.dumps(list(among)), any_of(terms)),
    )
    return {row[0] for row in rows}


def find_sessions(
    connection: apsw.Connection, terms: Sequence[str], collections: Sequence[str]
) -> set[str]:
    """Return the sessions in which one of the terms was said, in any of some collections."""
    if not terms or not collections or is_avoided(WORDS):
        return set()
    within = any_of(collection_term(collection) for collection in collections)
    rows = connection.execute(
        'SELECT DISTINCT t.session_id FROM memories_fts AS f'
        ' CROSS JOIN turns AS t ON t.memory_id = f.rowid WHERE memories_fts MATCH ?',
        (f'({within}) AND ({any_of(terms)})',),
    )
    return {row[0] for row in rows}


def make_candidates(terms: Sequence[str]) -> Where:
    """Return no condition, but the candidate query of what holds any of the terms."""
    sql = 'SELECT rowid AS id FROM memories_fts WHERE memories_fts MATCH ?'
    return Where(candidates=(CandidateQuery(sql, (any_of(terms),)),))


def select_passing(connection: apsw.Connection, ids: Sequence[int], where: Where) -> set[int]:
    """Return those of the ids that pass a condition."""
    rows = connection.execute(
        'SELECT m.id FROM json_each(?) AS asked CROSS JOIN memories AS m ON m.id = asked.value'
        f' WHERE {where.sql}',
        (json.dumps(list(ids)), *where.values),
    )
    return {row[0] for row in rows}
