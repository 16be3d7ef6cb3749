"""
Schema version 29: what the coarse plane of a vector rounds away in 3 bits, and shorter indexes.

Frozen: stores of this version exist. It imports nothing of this package and never changes.
"""

from __future__ import annotations

from typing import Any

import apsw
import numpy as np

_TABLES = ('indexed', 'other_vectors', 'form_vectors')


def upgrade(connection: apsw.Connection) -> None:
    """Shorten the fine planes; make two indexes anew with less in them."""
    connection.create_scalar_function('shorten_plane', _shorten, 1, deterministic=True)
    for table in _TABLES:
        connection.execute(f'UPDATE {table} SET fine = shorten_plane(fine) WHERE fine IS NOT NULL')
    connection.create_scalar_function('shorten_plane', None, 1)
    connection.execute("""
        DROP INDEX memories_by_hash;
        CREATE INDEX memories_by_hash ON memories (substr(content_hash, 1, 8))
            WHERE status = 'active' AND type = 'fact';
        DROP INDEX memories_by_time;
        CREATE INDEX memories_by_time ON memories (created_at);
    """)


def _shorten(*values: Any) -> Any:
    """Return numbers of -127 to 127, a byte each, as the 8ths of their range, in 3 bits each."""
    numbers = np.frombuffer(values[0], np.int8).astype(np.float32)
    codes = np.clip(np.floor(numbers / 254 * 8) + 4, 0, 7).astype(np.uint8)
    return np.packbits(codes[:, None] >> np.array([2, 1, 0], np.uint8) & 1).tobytes()
