"""
Judge a store by its rows alone: compute anew what its indexes must hold, and compare.

It opens the file by SQLite (and its checksums of pages) and uses none of the code that writes a
table. It shares with the package what follows from a text or a context alone: `text.tokenizer`
(terms), `text.duplicate_keys` (hash, duplicate key, number of tokens), `core.places` (where it
is). All else (facets, cells of positions, hashes of terms, digests, the chain of the audit) is
computed here, from docs/schema.md and the comments of the tables.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import apsw

from robot_memory.core.places import Place, read_place
from robot_memory.storage import checksums
from robot_memory.text import tokenizer
from robot_memory.text.duplicate_keys import derive_keys

Row = tuple[Any, ...]
MOST_FACETS, MOST_ITEMS, MOST_POSITIONS, MOST_AXES = 64, 3, 16, 16
CUT = 32
HOUR_NS = 3600 * 10**9
TURNS = '\ue00fturns'
TOKENIZER = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
DIGESTED = (
    'content actor_id category tags scope_files context strategy_name status superseded_by '
    'authority stands writer_id updated_at updated_epoch'
)
NO_ROW_NEEDED = {'audit', 'changes', 'events', 'origins'}
"""Tables whose memory_id may be that of a memory which is gone."""


class Store:
    """Read a store's file by a connection of its own, in one transaction."""

    def __init__(self, path: Path) -> None:
        """Open the file as it is; SQLite recovers its log."""
        self._connection = checksums.connect(path)
        self._connection.execute('BEGIN')
        self.scratch = apsw.Connection(':memory:')

    def close(self) -> None:
        """Close the file."""
        self.scratch.close()
        self._connection.close()

    def rows(self, sql: str, *values: Any) -> list[Row]:
        """Return all rows of a query."""
        return list(self._connection.execute(sql, values))

    def column(self, sql: str, *values: Any) -> list[Any]:
        """Return the first column of a query."""
        return [row[0] for row in self.rows(sql, *values)]


def check(path: Path) -> list[str]:
    """Return what is wrong with a store's file, a sentence each; none where all fits."""
    return _run(path, CHECKS)


def check_file(path: Path) -> list[str]:
    """Return what SQLite says of a file, of whichever schema."""
    return _run(path, (find_file_problems,))


def _run(path: Path, checks: Iterable[Callable[[Store], Iterator[str]]]) -> list[str]:
    store = Store(path)
    found: list[str] = []
    try:
        for judge in checks:
            found += judge(store)
    except apsw.Error as error:
        found.append(f'the file cannot be read: {error}')
    finally:
        store.close()
    return found


def find_file_problems(store: Store) -> Iterator[str]:
    """Yield what SQLite itself says of the file."""
    yield from (text for text in store.column('PRAGMA integrity_check(20)') if text != 'ok')
    yield from (f'foreign key: {row}' for row in store.rows('PRAGMA foreign_key_check'))


def find_wrong_counts(store: Store) -> Iterator[str]:
    """Yield sums that are kept beside the rows and are not theirs."""
    yield from _compare(
        'counts',
        dict(_pairs(store, 'SELECT type, status, count(*) FROM memories GROUP BY 1, 2')),
        dict(_pairs(store, 'SELECT type, status, memories FROM counts WHERE memories <> 0')),
    )
    yield from _compare(
        'collections',
        Counter(partition for _, partition, _ in _list_active(store)),
        dict(store.rows('SELECT name, memories FROM collections WHERE memories <> 0')),
    )
    stored = store.column('SELECT coalesce(sum(size), 0) FROM parts WHERE content IS NOT NULL')
    noted = store.column("SELECT value FROM sizes WHERE name = 'payloads'")
    if noted and stored != noted:
        yield f'sizes: payloads take {stored} bytes, noted are {noted}'


def _pairs(store: Store, sql: str) -> Iterator[tuple[Row, Any]]:
    for *key, value in store.rows(sql):
        yield tuple(key), value


def _list_active(store: Store) -> list[tuple[int, str, str]]:
    """Return id, partition and text of each active memory."""
    rows = store.rows(
        "SELECT id, collection, type, content FROM memories WHERE status = 'active' ORDER BY id"
    )
    return [(row[0], row[1] + TURNS * (row[2] == 'turn'), row[3]) for row in rows]


def find_wrong_words(store: Store) -> Iterator[str]:
    """Yield differences of the full-text index, and of the hashes of terms."""
    scratch = store.scratch
    scratch.execute(
        f'CREATE VIRTUAL TABLE words USING fts5 (terms, tokenize = "{TOKENIZER}");'
        "CREATE VIRTUAL TABLE occurrences USING fts5vocab (words, 'instance')"
    )
    active = _list_active(store)
    for memory_id, partition, content in active:
        mark = f'\ue00f{zlib.crc32(partition.encode("utf-8", "surrogatepass")):08x}'
        terms = ' '.join((mark, *tokenizer.extract_terms(content)))
        scratch.execute('INSERT INTO words (rowid, terms) VALUES (?, ?)', (memory_id, terms))
    store.rows(
        "CREATE VIRTUAL TABLE temp.occurrences USING fts5vocab (main, 'memories_fts', 'instance')"
    )
    asked = 'SELECT doc, offset, term FROM occurrences'
    expected = sorted(scratch.execute(asked))
    yield from _compare_lists('full text', expected, sorted(store.rows(asked)))
    yield from _compare_lists(
        'full text: rows',
        [row[0] for row in active],
        store.column('SELECT id FROM memories_fts_docsize ORDER BY id'),
    )
    said: dict[int, list[str]] = defaultdict(list)
    for doc, offset, term in expected:
        if offset:
            said[doc].append(term)
    stops = _stem(scratch, tokenizer.STOP_TERMS)
    kept = {
        row[0]: row[1:] for row in store.rows('SELECT memory_id, collection, terms FROM indexed')
    }
    for memory_id, partition, _ in active:
        hashes = _hash_terms(said[memory_id], stops)
        packed = b''.join(one.to_bytes(4, 'little') for one in sorted(hashes))
        if kept.pop(memory_id, None) != (partition, packed):
            yield f'indexed: the terms or the partition of memory {memory_id}'
    yield from (f'indexed: memory {memory_id} is not active' for memory_id in kept)


def _stem(scratch: apsw.Connection, terms: Iterable[str]) -> set[str]:
    scratch.execute('DELETE FROM words')
    scratch.execute('INSERT INTO words (rowid, terms) VALUES (1, ?)', (' '.join(terms),))
    return {row[0] for row in scratch.execute('SELECT term FROM occurrences')}


def _hash_terms(stems: list[str], stops: set[str]) -> set[int]:
    found = {_hash(stem) for stem in stems}
    found.update(_hash(stem, stem) for stem, times in Counter(stems).items() if times > 1)
    said = [stem for stem in stems if stem not in stops]
    found.update(_hash(*pair) for pair in tokenizer.pair_adjacent(said))
    return found


def _hash(*stems: str) -> int:
    return zlib.crc32('\n'.join(stems).encode())


def find_wrong_keys(store: Store) -> Iterator[str]:
    """Yield memories whose columns do not follow from their text."""
    rows = store.rows('SELECT id, type, content, content_hash, guard, token_count FROM memories')
    for memory_id, type, content, *columns in rows:
        wanted: list[Any] = [b'', '', 0]
        if type == 'fact':
            keys = derive_keys(content)
            wanted = [keys.hash, keys.duplicate_key, len(keys.tokens)]
        if columns != wanted:
            yield f'memory {memory_id}: hash, duplicate key or number of tokens'


def find_wrong_vectors(store: Store) -> Iterator[str]:
    """Yield vectors that have another dimension than their model, or one plane alone."""
    dimension = store.column("SELECT value ->> 'dimension' FROM meta WHERE key = 'vectors'")
    for table in ('indexed', 'form_vectors', 'other_vectors'):
        yield from (
            f'{table}: one plane alone'
            for _ in store.rows(f'SELECT 1 FROM {table} WHERE (coarse IS NULL) <> (fine IS NULL)')
        )
    sizes = store.column('SELECT DISTINCT length(coarse) FROM indexed WHERE coarse IS NOT NULL')
    if set(sizes) - set(dimension):
        yield f'indexed: vectors of {sizes} components, the model has {dimension}'
    yield from _compare_lists(
        'forms',
        store.rows('SELECT DISTINCT form, collection FROM indexed WHERE form > 0 ORDER BY 1'),
        store.rows('SELECT id, collection FROM forms ORDER BY 1'),
    )


def _read_contexts(store: Store, where: str, observed: str) -> list[tuple[int, str, Any]]:
    """Return id, collection and context of memories, and of their observations."""
    rows = store.rows(f'SELECT m.id, m.collection, m.context FROM memories AS m WHERE {where}')
    rows += store.rows(
        'SELECT m.id, m.collection, o.context FROM observations AS o'
        f' JOIN memories AS m ON m.id = o.memory_id WHERE {where} AND {observed} ORDER BY o.id'
    )
    return [(row[0], row[1], json.loads(row[2])) for row in rows]


def find_wrong_facets(store: Store) -> Iterator[str]:
    """Yield differences of the index of context values; it may lead to ended observations."""
    needed, allowed = (
        {
            facet
            for memory_id, _, context in _read_contexts(store, 'true', observed)
            for facet in _make_facets(memory_id, context)
        }
        for observed in ('o.ended_by IS NULL', 'true')
    )
    found = store.rows(
        "SELECT coalesce(path, ''), value, memory_id FROM facets"
        ' LEFT JOIN facet_paths AS p ON p.id = path_id'
    )
    yield from _compare_sets('facets', needed, {*found} - (allowed - needed))


def _make_facets(memory_id: int, context: Mapping[str, Any]) -> list[Row]:
    found = list(itertools.islice(_walk(context, ''), MOST_FACETS + 1))
    if len(found) > MOST_FACETS:
        return [('', 0, memory_id)]
    # Of two values under one path (a key with a dot aside) the last one stands.
    return [(path, _cut(value), memory_id) for path, value in dict(found).items()]


def _walk(part: Mapping[str, Any], path: str) -> Iterator[tuple[str, Any]]:
    for key, value in part.items():
        if '.' not in key and isinstance(value, dict):
            yield from _walk(value, f'{path}{key}.')
        elif '.' not in key and isinstance(value, str | int | float):
            yield path + key, value
        elif '.' not in key and isinstance(value, list):
            is_long = len(value) > MOST_ITEMS
            if is_long or any(isinstance(item, list | dict) for item in value):
                yield f'{path}{key}.[]', True
                continue
            items = enumerate(value)
            yield from ((f'{path}{key}.{at}', one) for at, one in items if one is not None)


def _cut(value: Any) -> Any:
    if isinstance(value, bool):
        return b'\1' if value else b'\0'
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return float(str(value))  # as SQLite reads it from JSON: too large a one is infinite
    return value[:CUT] if isinstance(value, str) else value


def find_wrong_places(store: Store) -> Iterator[str]:
    """Yield differences of the grid of positions."""
    expected = {
        place
        for memory_id, collection, context in _read_contexts(
            store, "m.status = 'active'", 'o.newer AND o.ended_by IS NULL'
        )
        for place in _make_places(memory_id, collection, context)
    }
    found = store.rows(
        'SELECT collection, path, length, cell, memory_id FROM places'
        " LEFT JOIN place_paths AS p ON p.id = path_id WHERE path IS NULL OR path NOT LIKE '@%'"
    )
    yield from _compare_sets('places', expected, set(found))


def find_wrong_frames(store: Store) -> Iterator[str]:
    """Yield differences of the places by frame: of each active memory the latest one."""
    poses = {
        row[0]: (row[1], None if row[2] is None else json.loads(row[2]))
        for row in store.rows("SELECT id, frame_id, pose FROM memories WHERE status = 'active'")
    }
    latest: dict[int, tuple[str, Place]] = {}
    for memory_id, collection, context in _read_contexts(
        store, "m.status = 'active'", 'o.newer AND o.ended_by IS NULL'
    ):
        place = read_place(context, *poses[memory_id])
        if place is not None:
            latest[memory_id] = collection, place
    expected = {
        (memory_id, collection, place.frame, place.map, place.revision, *place.position)
        for memory_id, (collection, place) in latest.items()
    }
    found = store.rows(
        'SELECT memory_id, collection, frame, map, revision, x, y, z FROM placed'
        ' JOIN place_frames AS f ON f.id = frame_id'
    )
    yield from _compare_sets('placed', expected, set(found))
    cells = {
        (memory_id, _make_cell(list(place.position))) for memory_id, (_, place) in latest.items()
    }
    found = store.rows(
        'SELECT memory_id, cell FROM places JOIN place_paths AS p ON p.id = path_id AND path LIKE'
        " '@%'"
    )
    yield from _compare_sets('cells of places by frame', cells, set(found))


def _make_places(memory_id: int, collection: str, context: Mapping[str, Any]) -> list[Row]:
    found = list(itertools.islice(_walk_positions(context, '$'), MOST_POSITIONS + 1))
    if len(found) > MOST_POSITIONS:
        return [(None, None, None, _make_cell([]), memory_id)]
    return [(collection, path, len(at), _make_cell(at), memory_id) for path, at in found]


def _walk_positions(part: Mapping[str, Any], path: str) -> Iterator[tuple[str, list[float]]]:
    for key, value in part.items():
        if set(key) & set('."\\'):
            continue
        if isinstance(value, dict):
            yield from _walk_positions(value, f'{path}."{key}"')
        elif isinstance(value, list) and 1 <= len(value) <= MOST_AXES and _are_numbers(value):
            yield f'{path}."{key}"', value


def _are_numbers(values: list[Any]) -> bool:
    try:
        return all(type(one) in (int, float) and math.isfinite(one) for one in values)
    except OverflowError:  # a whole number that is larger than any float
        return False


def _make_cell(position: list[float]) -> bytes:
    """Interleave 48 bits of each of three axes, in steps of 2^-21, zero in the middle."""
    code = 0
    steps = []
    for x in [*position, 0.0, 0.0, 0.0][:3]:
        scaled = min(max(float(x) * 2.0**21, -(2.0**47)), 2.0**47 - 1)
        steps.append(math.floor(scaled + 2.0**47))
    for bit in range(47, -1, -1):
        for step in steps:
            code = code << 1 | step >> bit & 1
    return code.to_bytes(18, 'big')


def find_wrong_hours(store: Store) -> Iterator[str]:
    """Yield hours whose number of events is not that of the events."""
    expected: Counter[Row] = Counter()
    for kind, onset in store.rows('SELECT kind, onset FROM events'):
        expected[kind, int(math.copysign(abs(onset) // HOUR_NS, onset))] += 1
    found = dict(_pairs(store, 'SELECT kind, hour, number FROM event_hours WHERE number <> 0'))
    yield from _compare('hours', expected, found)


def find_broken_audit(store: Store) -> Iterator[str]:
    """Yield lines that do not follow from the line before, and memories without a fitting line."""
    gaps = {first: (last, chain) for first, last, chain in store.rows('SELECT * FROM audit_gaps')}
    before, due = b'', 1
    covered: set[int] = set()
    digests: dict[int, bytes | None] = {}
    for row in store.rows(
        'SELECT a.id, memory_id, last_memory_id, action, a.actor, writer_id, at, epoch, digest,'
        ' note, salt, reason, detail, chain, w.face, w.client, w.principal, w.actor, w.authority'
        ' FROM audit AS a LEFT JOIN writers AS w ON w.id = a.writer_id ORDER BY a.id'
    ):
        line, memory_id, highest, action, actor, writer, at, epoch, digest, note = row[:10]
        salt, reason, detail, chain, *who = row[10:]
        if line != due and due in gaps:
            last, before = gaps[due]
            due = last + 1
        if line != due:
            yield f'audit: line {due} is missing'
        columns = [line, memory_id, highest, action, actor, who if writer else None, at, epoch]
        columns += [digest.hex() if digest else None, note.hex()]
        text = json.dumps(columns, separators=(',', ':'))
        if hashlib.sha256(before + text.encode()).digest() != chain:
            yield f'audit: line {line} does not follow from the line before'
        if salt is not None and _digest_note(salt, reason, detail) != note:
            yield f'audit: reason, detail or salt of line {line}'
        covered.update(range(memory_id, highest + 1) if memory_id else ())
        covered.add(memory_id or 0)
        if memory_id and digest:
            digests[memory_id] = digest
        before, due = chain, line + 1
    # Lines tell of what came since the first of them: earlier releases wrote none.
    older = min(store.column('SELECT last_memory_id FROM audit ORDER BY id LIMIT 1'), default=0)
    names = ', '.join(DIGESTED.split())
    for memory_id, salt, *values in store.rows(f'SELECT id, salt, {names} FROM memories'):
        if memory_id not in covered and memory_id > older:
            yield f'audit: no line tells of memory {memory_id}'
        text = json.dumps(values, separators=(',', ':'))
        known = digests.get(memory_id)
        if known and salt and hashlib.sha256(salt + text.encode()).digest() != known:
            yield f'audit: memory {memory_id} is not what its last line says'


def _digest_note(salt: bytes, *texts: str) -> bytes:
    parts = (len(text.encode()).to_bytes(8, 'big') + text.encode() for text in texts)
    return hashlib.sha256(salt + b''.join(parts)).digest()


def find_broken_links(store: Store) -> Iterator[str]:
    """Yield rows that belong to a memory which is not there, and memories without their row."""
    tables = store.column(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'memories%'"
        " AND sql LIKE '%memory_id%' AND sql NOT LIKE 'CREATE VIRTUAL%'"
    )
    for table in sorted({*tables} - NO_ROW_NEEDED):
        if 'memory_id' in store.column(f"SELECT name FROM pragma_table_info('{table}')"):
            yield from (
                f'{table}: a row of memory {one}, which is not there'
                for one in store.column(
                    f'SELECT memory_id FROM "{table}" EXCEPT SELECT id FROM memories'
                )
            )
    for sql, what in (
        ("SELECT id FROM memories WHERE type = 'turn' EXCEPT SELECT memory_id FROM turns", 'turn'),
        (
            "SELECT id FROM memories WHERE (status = 'superseded') <> (superseded_by IS NOT NULL)"
            # What superseded it may have been erased.
            " AND NOT (status = 'superseded' AND id IN"
            " (SELECT memory_id FROM audit WHERE action = 'unlinked'))",
            'superseded_by',
        ),
        (
            "SELECT id FROM memories WHERE type = 'perception'"
            " AND json_type(context, '$.trial') = 'object' EXCEPT SELECT memory_id FROM trials",
            'trial',
        ),
        (
            'SELECT session_id FROM turns GROUP BY 1 HAVING count(*) > max(number)',
            'numbers of turns',
        ),
        (
            "SELECT id FROM erasures WHERE state = 'done' AND (receipt IS NULL OR words <> '')",
            'receipt',
        ),
    ):
        yield from (f'{what}: {one}' for one in store.column(sql))


def _compare(what: str, expected: Mapping[Any, Any], found: Mapping[Any, Any]) -> Iterator[str]:
    for key in sorted({*expected, *found}, key=repr):
        if expected.get(key, 0) != found.get(key, 0):
            yield f'{what} {key}: {expected.get(key, 0)} by the rows, {found.get(key, 0)} noted'


def _compare_lists(what: str, expected: list[Any], found: list[Any]) -> Iterator[str]:
    if expected != found:
        yield from _compare_sets(what, {*expected}, {*found})
        if {*expected} == {*found}:
            yield f'{what}: {len(expected)} entries by the rows, {len(found)} there'


def _compare_sets(what: str, expected: set[Any], found: set[Any]) -> Iterator[str]:
    for one in sorted(expected - found, key=repr)[:3]:
        yield f'{what}: {one} is missing ({len(expected - found)} in all)'
    for one in sorted(found - expected, key=repr)[:3]:
        yield f'{what}: {one} is there, but follows from no row ({len(found - expected)} in all)'


CHECKS: tuple[Callable[[Store], Iterator[str]], ...] = (
    find_file_problems,
    find_wrong_counts,
    find_wrong_words,
    find_wrong_keys,
    find_wrong_vectors,
    find_wrong_facets,
    find_wrong_places,
    find_wrong_frames,
    find_wrong_hours,
    find_broken_audit,
    find_broken_links,
)
