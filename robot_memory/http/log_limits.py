"""No stranger fills the disk by asking: of what is logged again and again, ever fewer lines."""

from __future__ import annotations

import logging
from collections import defaultdict

_FOREIGN = ('uvicorn.error', 'mcp.server.streamable_http', 'mcp.server.lowlevel.server')
"""Loggers of libraries that write a line for whatever a stranger sends."""


class RepeatCount:
    """Count what happens again and again; it is worth a line when it is 1, 2, 4, 8 and so on."""

    number = 0

    def add(self) -> bool:
        """Count one more; say whether it is worth a line."""
        self.number += 1
        return self.number & (self.number - 1) == 0


class ThinningFilter(logging.Filter):
    """Let of each statement's lines those pass that are worth it, each with its number."""

    def __init__(self) -> None:
        """Count no lines."""
        super().__init__()
        self._counts: defaultdict[tuple[str, int], RepeatCount] = defaultdict(RepeatCount)

    def filter(self, record: logging.LogRecord) -> bool:
        """Say whether a line is logged; one that was before says how often by now."""
        count = self._counts[record.pathname, record.lineno]
        if not count.add():
            return False
        if count.number > 1:
            # Formatted here: what a library gives beside a text may not be a tuple.
            record.msg, record.args = f'{record.getMessage()} ({count.number} so far)', ()
        return True


def thin_foreign_logs() -> None:
    """Have the libraries of the server thin their lines out, and log no mere information."""
    for name in _FOREIGN:
        logger = logging.getLogger(name)
        if not any(isinstance(one, ThinningFilter) for one in logger.filters):
            logger.addFilter(ThinningFilter())
            logger.setLevel(max(logger.level, logging.WARNING))
