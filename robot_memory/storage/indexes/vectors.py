"""
The vectors of active memories: two planes of int8 in the rows of `indexed`.

They are those of the first model; its name and dimension stand in `meta`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import apsw

from robot_memory.embedding import quantisation
from robot_memory.embedding.quantisation import Plane, Vector
from robot_memory.storage.indexes import indexed, other_vectors
from robot_memory.storage.indexes.other_vectors import SecondModel


def model_of(connection: apsw.Connection) -> tuple[str, int] | None:
    """Return the name and the epoch of the model whose vectors the file holds."""
    row = connection.execute(
        "SELECT value ->> 'model', value ->> 'epoch' FROM meta WHERE key = 'vectors'"
    ).fetchone()
    return (row[0], row[1]) if row else None


def get_dimension(connection: apsw.Connection) -> int:
    """Return the dimension of the vectors in the file, 0 where it holds none."""
    row = connection.execute(
        "SELECT value ->> 'dimension' FROM meta WHERE key = 'vectors'"
    ).fetchone()
    return int(row[0]) if row else 0


def use_model(connection: apsw.Connection, model: str, dimension: int) -> int:
    """
    Make this model the first of the file; return how many memories now wait for a vector.

    Vectors of another model are kept aside: two models' vectors are never compared.
    """
    known = model_of(connection)
    if known is None or known[0] != model:
        if known is not None:
            other_vectors.keep_first(connection, known[0], get_dimension(connection))
        other_vectors.return_first(connection, model)
        epoch = known[1] + 1 if known else 1
        connection.execute(
            "INSERT OR REPLACE INTO meta (key, value) VALUES ('vectors', ?)",
            (json.dumps({'model': model, 'dimension': dimension, 'epoch': epoch}),),
        )
    return count_missing(connection)


def count_missing(connection: apsw.Connection) -> int:
    """Return how many active memories have no vector yet."""
    ((count,),) = connection.execute(
        'SELECT count(*) FROM indexed INDEXED BY indexed_without_vector WHERE coarse IS NULL'
    )
    return int(count)


def count_missing_up_to(connection: apsw.Connection, most: int) -> int:
    """Return how many active memories have no vector yet, counting no further than `most`."""
    ((count,),) = connection.execute(
        'SELECT count(*) FROM (SELECT 1 FROM indexed INDEXED BY indexed_without_vector'
        ' WHERE coarse IS NULL LIMIT ?)',
        (most,),
    )
    return int(count)


def has_any(connection: apsw.Connection, collection: str) -> bool:
    """Say whether a memory of a collection has a vector."""
    ((found,),) = connection.execute(
        'SELECT EXISTS (SELECT 1 FROM indexed WHERE collection = ? AND coarse IS NOT NULL)',
        (collection,),
    )
    return bool(found)


def find_missing(connection: apsw.Connection, limit: int) -> list[tuple[int, str, int]]:
    """Return (id, content, updated_at) of active memories that wait for a vector, oldest first."""
    rows = connection.execute(
        'SELECT m.id, m.content, m.updated_at'
        ' FROM indexed AS i INDEXED BY indexed_without_vector'
        ' JOIN memories AS m ON m.id = i.memory_id'
        ' WHERE i.coarse IS NULL ORDER BY i.memory_id LIMIT ?',
        (limit,),
    )
    return [(row[0], row[1], row[2]) for row in rows]


def is_missing(connection: apsw.Connection, memory_id: int, updated_at: int) -> bool:
    """Say whether a memory is still the text that a vector was made of, and has none."""
    row = connection.execute(
        'SELECT 1 FROM indexed AS i JOIN memories AS m ON m.id = i.memory_id'
        ' WHERE i.memory_id = ? AND i.coarse IS NULL AND m.updated_at = ?',
        (memory_id, updated_at),
    ).fetchone()
    return row is not None


def put(connection: apsw.Connection, memory_id: int, vector: Vector) -> None:
    """Give an indexed memory its vector."""
    ((collection,),) = connection.execute(
        'UPDATE indexed SET coarse = ?, fine = ? WHERE memory_id = ? RETURNING collection',
        (*quantisation.pack(vector), memory_id),
    )
    indexed.record_change(connection, memory_id, collection)


def fetch(connection: apsw.Connection, ids: Sequence[int]) -> dict[int, Vector]:
    """Return the vector of each id that has one."""
    rows: list[Any] = connection.execute(
        'SELECT memory_id, coarse, fine FROM indexed'
        ' WHERE memory_id IN (SELECT value FROM json_each(?)) AND coarse IS NOT NULL',
        (json.dumps(list(ids)),),
    ).fetchall()
    return quantisation.unpack(rows)


def fetch_both(
    connection: apsw.Connection, second: SecondModel | None, ids: Sequence[int]
) -> tuple[dict[int, Vector], dict[int, Vector]]:
    """Return the vectors of the first and of a second model, of each id that has one."""
    rows: list[Any] = connection.execute(
        'SELECT i.memory_id, i.coarse, i.fine, v.coarse, v.fine FROM indexed AS i'
        ' LEFT JOIN other_vectors AS v ON v.model = ? AND v.memory_id = i.memory_id'
        ' WHERE i.memory_id IN (SELECT value FROM json_each(?))',
        (None if second is None else second.id, json.dumps(list(ids))),
    ).fetchall()
    return (
        quantisation.unpack([row[:3] for row in rows if row[1] is not None]),
        quantisation.unpack([(row[0], *row[3:]) for row in rows if row[3] is not None]),
    )


def find_nearest(
    connection: apsw.Connection,
    collection: str,
    coarse: Plane,
    limit: int,
    among: Sequence[int] | None = None,
) -> list[int]:
    """Return the ids of those in a collection whose coarse plane is nearest to one, best first."""
    only = '' if among is None else ' AND memory_id IN (SELECT value FROM json_each(?))'
    chosen = () if among is None else (json.dumps(list(among)),)
    rows = connection.execute(
        'SELECT memory_id FROM indexed WHERE collection = ? AND coarse IS NOT NULL'
        f'{only} ORDER BY vec_distance_cosine(vec_int8(coarse), vec_int8(?)), memory_id DESC'
        ' LIMIT ?',
        (collection, *chosen, coarse.tobytes(), limit),
    )
    return [row[0] for row in rows]
