"""
Vectors of forms: what a detector says of each event but for the figures has one for all of them.

A form is of one partition, and is there while an active memory of it has that form. It is known
by a digest: its text is in its memories alone. Each model that is asked about it has a row in
`form_vectors`, the first one as model 0; without planes the form waits for its vector. Where ids
of memories and forms go together, as in `changes`, those of forms are negative.
"""

from __future__ import annotations

import hashlib
import heapq
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import apsw

from robot_memory.embedding import quantisation
from robot_memory.embedding.quantisation import Plane, Vector
from robot_memory.embedding.text_vectors import TextVectors
from robot_memory.storage import remembered
from robot_memory.storage.indexes import indexed
from robot_memory.text.forms import make_form

FIRST = 0
"""The first model among those of `form_vectors`."""
TABLE = 'forms'
_DIGEST_BYTES = 16


class Form(NamedTuple):
    """Hold the coarse planes of a form by the first and the second model, None: it has none."""

    id: int
    collection: str
    coarse: bytes | None
    second: bytes | None


def find_form(
    type: str, content: str, context: Mapping[str, Any], vectors: TextVectors | None
) -> str | None:
    """
    Return the form whose vector a memory has; None where it has a vector of its own.

    That is where a caller said what a detector did not, and gave a vector of it.
    """
    sense = context.get('sense')
    if type != 'perception' or not isinstance(sense, dict):
        return None
    if not isinstance(sense.get('detector'), str):
        return None
    form = make_form(content)
    return form if vectors is None or vectors.form == form else None


def find_id(connection: apsw.Connection, partition: str, form: str) -> int | None:
    """Return the id of a form in a partition, None where no memory there has it."""
    row = connection.execute(
        'SELECT id FROM forms WHERE digest = ?', (_digest(partition, form),)
    ).fetchone()
    return None if row is None else int(row[0])


def insert(connection: apsw.Connection, partition: str, form: str) -> int:
    """Add a form to a partition; return its id."""
    connection.execute(
        'INSERT INTO forms (collection, digest) VALUES (?, ?)',
        (partition, _digest(partition, form)),
    )
    return connection.last_insert_rowid()


def _digest(partition: str, form: str) -> bytes:
    return hashlib.blake2b(f'{partition}\0{form}'.encode(), digest_size=_DIGEST_BYTES).digest()


def find_known(connection: apsw.Connection, form: int) -> set[int]:
    """Return the models whose vector of a form is there."""
    rows = connection.execute(
        'SELECT model FROM form_vectors WHERE form = ? AND coarse IS NOT NULL', (form,)
    )
    return {row[0] for row in rows}


def put(connection: apsw.Connection, form: int, model: int, vector: Vector | None) -> None:
    """Give a form its vector of a model, or note that it waits for one; a known one stays."""
    planes = (None, None) if vector is None else quantisation.pack(vector)
    connection.execute(
        'INSERT INTO form_vectors (form, model, coarse, fine) VALUES (?, ?, ?, ?)'
        ' ON CONFLICT (form, model) DO UPDATE SET coarse = excluded.coarse, fine = excluded.fine'
        ' WHERE coarse IS NULL AND excluded.coarse IS NOT NULL',
        (form, model, *planes),
    )


def set_vector(connection: apsw.Connection, form: int, model: int, vector: Vector) -> None:
    """Give a form its vector of a model, if it is there and waits for one."""
    changed = connection.execute(
        'UPDATE form_vectors SET coarse = ?, fine = ?'
        ' WHERE form = ? AND model = ? AND coarse IS NULL RETURNING form',
        (*quantisation.pack(vector), form, model),
    ).fetchone()
    if changed:
        note_change(connection, form)


def note_change(connection: apsw.Connection, form: int) -> None:
    """Tell other processes that the vectors of a form have changed."""
    ((collection,),) = connection.execute('SELECT collection FROM forms WHERE id = ?', (form,))
    indexed.record_change(connection, -form, collection)


def release(connection: apsw.Connection, form: int) -> None:
    """Remove a form and its vectors if no memory has it any more."""
    ((used,),) = connection.execute(
        'SELECT EXISTS (SELECT 1 FROM indexed WHERE form = ?)', (form,)
    )
    if not used:
        connection.execute('DELETE FROM form_vectors WHERE form = ?', (form,))
        connection.execute('DELETE FROM forms WHERE id = ?', (form,))
        remembered.forget(TABLE)


def release_all(connection: apsw.Connection) -> None:
    """Remove the forms that no memory has."""
    rows: list[Any] = connection.execute(
        'SELECT id FROM forms WHERE NOT EXISTS (SELECT 1 FROM indexed WHERE form = forms.id)'
    ).fetchall()
    for (form,) in rows:
        release(connection, form)


# What waits for a vector


def count(connection: apsw.Connection, model: int, what: str, most: int = 2**62) -> int:
    """Return how many forms have a vector of a model ('NOT NULL') or wait for one ('NULL')."""
    ((found,),) = connection.execute(
        f'SELECT count(*) FROM (SELECT 1 FROM form_vectors WHERE model = ? AND coarse IS {what}'
        ' LIMIT ?)',
        (model, most),
    )
    return int(found)


def find_missing(
    connection: apsw.Connection, model: int, limit: int
) -> list[tuple[int, str, int]]:
    """Return (-id, text, 0) of forms that wait for a vector of a model, oldest first."""
    rows = connection.execute(
        'SELECT v.form, (SELECT m.content FROM indexed AS i JOIN memories AS m'
        ' ON m.id = i.memory_id WHERE i.form = v.form LIMIT 1)'
        ' FROM form_vectors AS v WHERE v.model = ? AND v.coarse IS NULL ORDER BY v.form LIMIT ?',
        (model, limit),
    )
    return [(-form, make_form(content), 0) for form, content in rows]


# Searching


def has_any(connection: apsw.Connection, model: int, partition: str) -> bool:
    """Say whether a form of a partition has a vector of a model."""
    ((found,),) = connection.execute(
        'SELECT EXISTS (SELECT 1 FROM forms AS f JOIN form_vectors AS v ON v.form = f.id'
        ' WHERE f.collection = ? AND v.model = ? AND v.coarse IS NOT NULL)',
        (partition, model),
    )
    return bool(found)


def fetch(connection: apsw.Connection, model: int, ids: Sequence[int]) -> dict[int, Vector]:
    """Return the vector of each memory among the ids that has that of its form."""
    form_of = dict(
        connection.execute(
            'SELECT memory_id, form FROM indexed'
            ' WHERE memory_id IN (SELECT value FROM json_each(?)) AND form IS NOT NULL',
            (json.dumps(list(ids)),),
        )
    )
    if not form_of:
        return {}
    vectors = quantisation.unpack(
        connection.execute(
            'SELECT form, coarse, fine FROM form_vectors WHERE model = ?'
            ' AND form IN (SELECT value FROM json_each(?)) AND coarse IS NOT NULL',
            (model, json.dumps(sorted(set(form_of.values())))),
        ).fetchall()
    )
    return {id: vectors[form] for id, form in form_of.items() if form in vectors}


def find_nearest(
    connection: apsw.Connection,
    model: int,
    partition: str,
    query: Plane,
    limit: int,
    among: Sequence[int] | None,
) -> list[tuple[float, int]]:
    """
    Return (distance, -id) of the nearest memories that have vectors of forms, best first.

    Of a form no more than the newest `limit` are looked up, and of no form that is farther than
    so many; of equals the newer comes first.
    """
    near: list[Any] = connection.execute(
        'SELECT f.id, vec_distance_cosine(vec_int8(v.coarse), vec_int8(?)) AS distance'
        ' FROM forms AS f JOIN form_vectors AS v ON v.form = f.id'
        ' WHERE f.collection = ? AND v.model = ? AND v.coarse IS NOT NULL ORDER BY distance',
        (query.tobytes(), partition, model),
    ).fetchall()
    if among is not None:
        return _choose_nearest(connection, dict(near), limit, among)
    found: list[tuple[float, int]] = []
    for form, distance in near:
        if len(found) >= limit and distance > found[-1][0]:
            break
        newest = connection.execute(
            'SELECT -memory_id FROM indexed WHERE form = ? ORDER BY memory_id DESC LIMIT ?',
            (form, limit),
        )
        found += [(distance, int(row[0])) for row in newest]
    return sorted(found)[:limit]


def _choose_nearest(
    connection: apsw.Connection, distances: Mapping[int, float], limit: int, among: Sequence[int]
) -> list[tuple[float, int]]:
    rows = connection.execute(
        'SELECT form, memory_id FROM indexed'
        ' WHERE memory_id IN (SELECT value FROM json_each(?)) AND form IS NOT NULL',
        (json.dumps(list(among)),),
    )
    pairs = ((distances[form], -memory_id) for form, memory_id in rows if form in distances)
    return heapq.nsmallest(limit, pairs)


# Another first model


def keep_first(connection: apsw.Connection, model: int) -> None:
    """Give the vectors of the first model another number; all forms wait for new ones."""
    connection.execute(
        'UPDATE OR REPLACE form_vectors SET model = ? WHERE model = ? AND coarse IS NOT NULL',
        (model, FIRST),
    )
    connection.execute(
        'INSERT INTO form_vectors (form, model) SELECT id, ? FROM forms WHERE true'
        ' ON CONFLICT (form, model) DO NOTHING',
        (FIRST,),
    )


def return_first(connection: apsw.Connection, model: int) -> None:
    """Make the vectors of a model those of the first one."""
    connection.execute(
        'UPDATE OR REPLACE form_vectors SET model = ? WHERE model = ? AND coarse IS NOT NULL',
        (FIRST, model),
    )
    connection.execute('DELETE FROM form_vectors WHERE model = ?', (model,))


def clear_vectors(connection: apsw.Connection) -> None:
    """Remove the vectors of all forms; each waits for one of the first model."""
    connection.execute('DELETE FROM form_vectors')
    connection.execute('INSERT INTO form_vectors (form, model) SELECT id, ? FROM forms', (FIRST,))


# For a copy in memory


def read(connection: apsw.Connection, ids: Sequence[int] | None = None) -> Iterator[Form]:
    """Give all forms, or those that there are among the ids."""
    if ids is not None and not ids:
        return
    only = '' if ids is None else ' WHERE f.id IN (SELECT value FROM json_each(?))'
    for row in connection.execute(
        'SELECT f.id, f.collection, v.coarse, w.coarse FROM forms AS f'
        f' LEFT JOIN form_vectors AS v ON v.form = f.id AND v.model = {FIRST}'
        ' LEFT JOIN form_vectors AS w ON w.form = f.id AND w.model = (SELECT'
        f" value ->> 'id' FROM meta WHERE key = 'second_vectors'){only}",
        () if ids is None else (json.dumps(list(ids)),),
    ):
        yield Form(*row)
