"""The log as JSON, one object a line, and the line that every call of a tool leaves in it."""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timezone
from typing import Any

from robot_memory.core.errors import RobotMemoryError
from robot_memory.memory import Memory, trace
from robot_memory.metrics.registry import ErrorSeverity, get_severity
from robot_memory.text.controls import escape_controls

SERVICE = 'robot_memory'
ANONYMOUS = 'anonymous'
access = logging.getLogger('robot_memory.access')


class JsonLines(logging.Formatter):
    """Write a record as one JSON object on one line, whatever stands in it."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line; `exception` is there where a traceback is."""
        moment = datetime.fromtimestamp(record.created, timezone.utc)
        stamp = moment.replace(tzinfo=None).isoformat(timespec='milliseconds')
        line = {
            'timestamp': f'{stamp}Z',
            'level': record.levelname,
            'service': SERVICE,
            'trace_id': trace.get('') or None,
            'message': record.getMessage(),
            'user_id': getattr(record, 'user_id', ANONYMOUS),
            'session_id': getattr(record, 'session_id', None),
            'duration_ms': getattr(record, 'duration_ms', None),
        }
        if record.exc_info:
            line['exception'] = self.formatException(record.exc_info)
        text = escape_controls(json.dumps(line, ensure_ascii=False, default=str))
        return text.encode('utf-8', 'backslashreplace').decode()


class TextLines(logging.Formatter):
    """Write a record as text that drives no terminal, whatever stands in it."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the text, with controls as escapes."""
        return escape_controls(super().format(record))


@contextmanager
def start_trace() -> Iterator[None]:
    """Give what is called inside a trace of its own where it belongs to none."""
    if trace.get(''):
        yield
        return
    token = trace.set(secrets.token_hex(16))
    try:
        yield
    finally:
        trace.reset(token)


def log_call(
    memory: Memory,
    tool: str,
    request: Any,
    response: Any,
    failure: RobotMemoryError | None,
    seconds: float,
) -> None:
    """Log a call of a tool: in JSON always, in text for who debugs."""
    severity = ErrorSeverity.LOW if failure is None else get_severity(failure.code)
    as_json = memory.settings.log_format == 'json'
    level = severity.log_level if as_json else logging.DEBUG
    if not access.isEnabledFor(level):
        return
    outcome = 'answered' if failure is None else f'rejected: [{failure.code}] {failure}'
    session = getattr(request, 'session_id', None) or getattr(response, 'session_id', None)
    about = {
        'user_id': _find_user(request),
        'session_id': session,
        'duration_ms': round(seconds * 1000, 3),
    }
    access.log(level, '%s %s', tool, outcome, extra=about)


def _find_user(request: Any) -> str:
    """Return the actor that a request names, in a field of its own or in what it describes."""
    named = [getattr(request, 'actor_id', None)]
    for field in ('context', 'metadata'):
        described = getattr(request, field, None)
        named += [described.get('actor_id')] if isinstance(described, Mapping) else []
    return next((name for name in named if name and isinstance(name, str)), ANONYMOUS)
