"""
Schema version 28: what conditions on confidence, kind and strategy, and timelines look up.

Frozen: stores of this version exist. It imports nothing of this package and never changes.
"""

from __future__ import annotations

import apsw


def upgrade(connection: apsw.Connection) -> None:
    """Create indexes, one of them anew with more columns; some are nearly empty."""
    connection.execute("""
        CREATE INDEX memories_before_decay ON memories (collection, confidence_base)
            WHERE status = 'active';
        CREATE INDEX memories_by_strategy ON memories (strategy_name)
            WHERE strategy_name <> 'episodic';
        CREATE INDEX memories_of_turns ON memories (type) WHERE type = 'turn';
        CREATE INDEX memories_without_modality ON memories (type)
            WHERE type = 'perception' AND perception_type IS NULL;
        DROP INDEX memories_by_occurrence;
        CREATE INDEX memories_by_occurrence ON memories
            (coalesce(stamp / 1000, created_at), id, type, perception_type)
            WHERE status = 'active';
    """)
