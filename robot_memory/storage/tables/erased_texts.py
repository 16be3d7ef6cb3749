"""The texts of what is to be erased, and the words by which a proof looks for them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import apsw

_HEADER = 'sqlite format 3'
"""What the file of every store begins with."""
LEAST_BYTES = 6
"""Shorter words are not looked for: random bytes hold them by chance."""
MOST_WORDS = 50_000
SAMPLE = '\0'
"""Begins a word that is not text but bytes in hexadecimal: a piece of a payload."""
_SAMPLE_BYTES = 24
_WORD = re.compile(r'\w+')
_OF_MEMORY = (
    'SELECT content, context, tags, scope_files, event_id, pose FROM memories WHERE id = ?',
    'SELECT content, context, tags, scope_files FROM revisions WHERE memory_id = ?',
    'SELECT text, context FROM observations WHERE memory_id = ?',
    'SELECT content, context, reason FROM proposals WHERE memory_id = ?1 OR replacing_id = ?1',
    'SELECT content FROM protected_changes WHERE memory_id = ?',
    'SELECT reason, detail FROM audit WHERE memory_id = ?',
    'SELECT data, metadata FROM payloads WHERE memory_id = ?',
)
_SAID = (
    'SELECT content FROM memories WHERE id = ?',
    'SELECT content FROM revisions WHERE memory_id = ?',
    'SELECT text FROM observations WHERE memory_id = ?',
)


class Sought(NamedTuple):
    """
    Hold the words that a proof looks for.

    `short` counts those that are too short for it, `left_out` those that were too many.
    """

    words: list[str]
    short: int = 0
    left_out: int = 0


def read_memory(connection: apsw.Connection, memory_id: int) -> Iterator[str]:
    """Give all texts that belong to a memory, and samples of its parts."""
    for sql in _OF_MEMORY:
        yield from _read(connection, sql, memory_id)
    rows: Any = connection.execute(
        'SELECT hex(substr(content, size / 2, ?)) FROM parts WHERE memory_id = ?'
        ' AND content IS NOT NULL AND size > ?',
        (_SAMPLE_BYTES, memory_id, 2 * _SAMPLE_BYTES),
    )
    yield from (SAMPLE + row[0] for row in rows)


def read_said(connection: apsw.Connection, memory_id: int) -> list[str]:
    """Return what a memory said, now and before, and what observed it."""
    found = (text for sql in _SAID for text in _read(connection, sql, memory_id))
    return list(dict.fromkeys(found))


def read_observation(connection: apsw.Connection, observation: int) -> list[str]:
    """Return the texts of an observation."""
    return _read(connection, 'SELECT text, context FROM observations WHERE id = ?', observation)


def read_revision(connection: apsw.Connection, revision: int) -> list[str]:
    """Return the texts of an earlier state."""
    sql = 'SELECT content, context, tags, scope_files FROM revisions WHERE id = ?'
    return _read(connection, sql, revision)


def read_proposal(connection: apsw.Connection, proposal: int) -> list[str]:
    """Return the texts of a change that was asked for."""
    sql = 'SELECT content, context, reason FROM proposals WHERE id = ?'
    return _read(connection, sql, proposal)


def read_session(connection: apsw.Connection, session_id: str) -> list[str]:
    """Return the texts of a session."""
    return _read(
        connection, 'SELECT title, context, tags, metadata FROM sessions WHERE id = ?', session_id
    )


def _read(connection: apsw.Connection, sql: str, value: Any) -> list[str]:
    rows: Any = connection.execute(sql, (value,)).fetchall()
    return [text for row in rows for text in row if isinstance(text, str) and text]


def find_words(texts: Iterable[str]) -> Sought:
    """
    Return the words of texts, as written and in small letters, and short texts as a whole.

    Of JSON those of its names and values.
    """
    found: dict[str, None] = {}
    short: set[str] = set()
    for text in texts:
        if text.startswith(SAMPLE):
            found[text] = None
            continue
        for plain in _list_plain(text):
            words = [*_WORD.findall(plain), plain if len(plain) <= 300 else '']
            for word in words:
                for form in (word, word.lower()):
                    if len(form.encode('utf-8', 'replace')) >= LEAST_BYTES:
                        found[form] = None
                if word and word not in found:
                    short.add(word.lower())
    # No more than are looked for, taken from all over.
    words = [*found][:: max(1, -(-len(found) // MOST_WORDS))]
    return Sought(words, len(short), len(found) - len(words))


def _list_plain(text: str) -> list[str]:
    """Return a text, or the texts in it where it is JSON."""
    if text[:1] not in '{[':
        return [text]
    try:
        return list(_walk(json.loads(text)))
    except ValueError:
        return [text]


def _walk(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, part in value.items():
            yield str(name)
            yield from _walk(part)
    elif isinstance(value, list):
        for part in value:
            yield from _walk(part)


def find_held(connection: apsw.Connection, words: Sequence[str]) -> set[str]:
    """
    Return those of some words that a row of the store holds, in small or capital letters.

    Or that any store bears: the header of its file, its schema.
    """
    left = {word for word in words if not word.startswith(SAMPLE)}
    ((schema,),) = connection.execute('SELECT lower(group_concat(sql)) FROM sqlite_schema')
    held = {word for word in left if word.lower() in f'{_HEADER} {schema}'}
    left -= held
    tables: Any = connection.execute(
        'SELECT l.name, c.name FROM pragma_table_list AS l, pragma_table_info(l.name) AS c'
        " WHERE l.schema = 'main' AND l.type = 'table' AND l.name NOT LIKE 'sqlite_%'"
        " AND (c.type IN ('TEXT', '') OR c.name = 'value')"
    ).fetchall()
    for table, column in tables:
        if not left:
            break
        rows: Any = connection.execute(
            f'SELECT w.value FROM json_each(?) AS w WHERE EXISTS (SELECT 1 FROM "{table}"'
            f' WHERE instr(lower("{column}"), lower(w.value)))',
            (json.dumps(sorted(left), ensure_ascii=False),),
        )
        found = {row[0] for row in rows}
        held |= found
        left -= found
    return held | _find_held_samples(connection, words)


def _find_held_samples(connection: apsw.Connection, words: Sequence[str]) -> set[str]:
    """Return those of some samples that the payload of another memory holds."""
    return {
        word
        for word in words
        if word.startswith(SAMPLE)
        and connection.execute(
            'SELECT 1 FROM parts WHERE instr(content, ?) LIMIT 1', (bytes.fromhex(word[1:]),)
        ).fetchone()
    }
