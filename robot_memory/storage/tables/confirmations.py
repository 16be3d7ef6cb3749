"""Rows of confirmations: what a token confirms, for its principal, once, for ten minutes."""

from __future__ import annotations

import hashlib
import json
import secrets
from typing import Any

import apsw

from robot_memory.core.authority import Writer
from robot_memory.core.errors import Conflict

VALID = 600_000_000
"""Microseconds for which a token is valid."""


def issue(connection: apsw.Connection, action: str, writer: Writer, items: Any, at: int) -> str:
    """Store what a caller may confirm, as JSON; return the token, which is not stored."""
    connection.execute('DELETE FROM confirmations WHERE abs(? - at) > ?', (at, VALID))
    token = secrets.token_hex(16)
    connection.execute(
        'INSERT INTO confirmations (token, action, principal, at, items) VALUES (?, ?, ?, ?, ?)',
        (_digest(token), action, writer.label, at, json.dumps(items)),
    )
    return token


def redeem(connection: apsw.Connection, action: str, writer: Writer, token: str, at: int) -> Any:
    """Return what a token confirms, and use it up; raise Conflict where it is not valid."""
    row = connection.execute(
        'SELECT principal, at, items FROM confirmations WHERE token = ? AND action = ?',
        (_digest(token), action),
    ).fetchone()
    if row is None:
        raise Conflict(
            f'the token is not known: it was used, it expired, or it is none of {action}; nothing '
            'was changed. Call without token for a new preview'
        )
    principal, issued, items = row
    if principal != writer.label:
        raise Conflict(
            f'the token was given to {principal}, and this caller is {writer.label}; nothing was '
            'changed. Call without token for a preview of your own'
        )
    if not 0 <= at - issued <= VALID:
        raise Conflict(
            f'the token expired: it is valid for {VALID // 60_000_000} minutes; nothing was '
            'changed. Call without token for a new preview'
        )
    connection.execute('DELETE FROM confirmations WHERE token = ?', (_digest(token),))
    return json.loads(items)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
