"""What takes how much of its limit, and how long each limit will last."""

from __future__ import annotations

from robot_memory.background.folding import compute_limit
from robot_memory.memory import Memory
from robot_memory.storage import Connection
from robot_memory.storage.admin.limits import Limit, measure_payloads, measure_perceptions
from robot_memory.storage.tables import sizes
from robot_memory.storage.tables.parts import Limits


def report_limits(memory: Memory, connection: Connection) -> list[Limit]:
    """Return the limits of payloads and of perceptions, at the rate of the last seven days."""
    settings, now = memory.settings, memory.timekeeper.read_now(connection)
    payloads = Limits(settings.store_limit_mb, settings.payload_limit_mb)
    limit = payloads.compute_bytes(connection, sizes.get_payloads(connection))
    return [
        measure_payloads(connection, limit, now),
        measure_perceptions(connection, compute_limit(settings), now),
    ]
