"""
The vectors' index: a sqlite-vec table, its collection the partition key.

The file holds vectors of one model at a time; its name and dimension stand in `meta`. Every
change is noted in `vector_log`, from which a process's copy in memory follows the file.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import apsw
import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
MOST = 4096
"""The greatest k of sqlite-vec's own search; a scan takes any."""


def model_of(connection: apsw.Connection) -> tuple[str, int] | None:
    """Return the name and the epoch of the model whose vectors the file holds."""
    row = connection.execute(
        "SELECT value ->> 'model', value ->> 'epoch' FROM meta WHERE key = 'vectors'"
    ).fetchone()
    return (row[0], row[1]) if row else None


def use_model(connection: apsw.Connection, model: str, dimension: int) -> int:
    """
    Make the file hold vectors of this model; return how many memories now wait for one.

    Vectors of another model are removed: two models' vectors are never compared.
    """
    known = model_of(connection)
    if known is None or known[0] != model:
        connection.execute('DROP TABLE IF EXISTS memories_vec')
        connection.execute(
            'CREATE VIRTUAL TABLE memories_vec USING vec0 (collection TEXT PARTITION KEY,'
            f' embedding FLOAT[{dimension:d}] distance_metric=cosine, chunk_size=256)'
        )
        connection.execute('DELETE FROM vector_log')
        connection.execute('UPDATE memories SET embedded = 0 WHERE embedded = 1')
        epoch = known[1] + 1 if known else 1
        connection.execute(
            "INSERT OR REPLACE INTO meta VALUES ('vectors', ?)",
            (json.dumps({'model': model, 'dimension': dimension, 'epoch': epoch}),),
        )
    return waiting(connection)


def waiting(connection: apsw.Connection) -> int:
    """Return how many active memories have no vector yet."""
    ((count,),) = connection.execute(
        'SELECT count(*) FROM memories INDEXED BY memories_without_vector'
        " WHERE embedded = 0 AND status = 'active'"
    )
    return int(count)


def put(connection: apsw.Connection, memory_id: int, collection: str, vector: Vector) -> None:
    """Index a memory's vector; a vector that is not finite is a fault, not a row."""
    if not np.isfinite(vector).all():
        raise ValueError(f'the vector of memory {memory_id} is not finite')
    connection.execute(
        'INSERT INTO memories_vec (rowid, collection, embedding) VALUES (?, ?, ?)',
        (memory_id, collection, vector.astype('<f4').tobytes()),
    )
    connection.execute('UPDATE memories SET embedded = 1 WHERE id = ?', (memory_id,))
    connection.execute('INSERT INTO vector_log (memory_id) VALUES (?)', (memory_id,))


def remove(connection: apsw.Connection, memory_id: int) -> None:
    """Take a memory's vector out of the index, if it has one."""
    connection.execute(
        'UPDATE memories SET embedded = 0 WHERE id = ? AND embedded = 1', (memory_id,)
    )
    if connection.changes():
        connection.execute('DELETE FROM memories_vec WHERE rowid = ?', (memory_id,))
        connection.execute('INSERT INTO vector_log (memory_id) VALUES (?)', (memory_id,))


def nearest(
    connection: apsw.Connection,
    collection: str,
    query: Vector,
    limit: int,
    among: Sequence[int] | None = None,
) -> list[tuple[int, float]]:
    """Return ids and cosines of the nearest in a collection, by the file's own index."""
    only = '' if among is None else ' AND rowid IN (SELECT value FROM json_each(?))'
    chosen = () if among is None else (json.dumps(list(among)),)
    vector = query.astype('<f4').tobytes()
    if limit <= MOST:
        rows = connection.execute(
            'SELECT rowid, distance FROM memories_vec'
            f' WHERE embedding MATCH ? AND collection = ? AND k = ?{only}',
            (vector, collection, limit, *chosen),
        )
    else:
        rows = connection.execute(
            'SELECT rowid, vec_distance_cosine(embedding, ?) AS distance FROM memories_vec'
            f' WHERE collection = ?{only} ORDER BY distance LIMIT ?',
            (vector, collection, *chosen, limit),
        )
    return [(row[0], 1.0 - row[1]) for row in rows]


def fetch(connection: apsw.Connection, ids: Sequence[int]) -> dict[int, tuple[str, Vector]]:
    """Return the collection and the vector of each id that has one."""
    rows = connection.execute(
        'SELECT rowid, collection, embedding FROM memories_vec'
        ' WHERE rowid IN (SELECT value FROM json_each(?))',
        (json.dumps(list(ids)),),
    )
    return {row[0]: (row[1], np.frombuffer(row[2], '<f4')) for row in rows}
