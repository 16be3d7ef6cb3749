"""
Schema version 24: pages have checksums, which who writes must know of.

Frozen: stores of this version exist. It imports nothing of this package and never changes.
"""

from __future__ import annotations

import apsw


def upgrade(connection: apsw.Connection) -> None:
    """Change no table: pages get room for checksums when the file is written anew, after this."""
