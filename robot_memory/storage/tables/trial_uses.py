"""In how many trials memories helped or hurt; what reads a trial itself is not imported for it."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

import apsw

from robot_memory.core.authority import AUTHORITIES

LEAST_AUTHORITY = 'robot'
"""Trials of lower authorities are stored and not learned from."""
COUNTED = AUTHORITIES[: AUTHORITIES.index(LEAST_AUTHORITY) + 1]
"""Authorities whose trials are learned from."""
IS_COUNTED = f'm.authority IN ({", ".join(map(repr, COUNTED))})'
"""SQL of whether a trial `m` is learned from."""


def count_uses(connection: apsw.Connection, ids: Collection[int]) -> dict[int, tuple[int, int]]:
    """Return of memories in how many active trials they helped and in how many they hurt."""
    rows: Any = connection.execute(
        'SELECT u.used, sum(t.success = 1), sum(t.success = 0) FROM trial_uses AS u'
        ' JOIN trials AS t ON t.memory_id = u.trial JOIN memories AS m ON m.id = u.trial'
        " WHERE u.used IN (SELECT value FROM json_each(?)) AND m.status = 'active'"
        f' AND {IS_COUNTED} GROUP BY u.used',
        (json.dumps(list(ids)),),
    )
    return {used: (helped or 0, hurt or 0) for used, helped, hurt in rows}
