"""Where bearer tokens come from: a file that only its owner reads, or the environment."""

from __future__ import annotations

import logging
import os
import re
import stat
from pathlib import Path

from robot_memory.core.errors import InvalidArgument, Unavailable
from robot_memory.core.folders import expand_path
from robot_memory.core.json_text import format_value
from robot_memory.http.principals import (
    MAX_FILE,
    Principal,
    make_single,
    parse_principals,
)

VARIABLE = 'ROBOT_MEMORY_TOKEN'
_WAYS = 'python3 -c "import secrets; print(secrets.token_urlsafe(32))"'
_TOKEN = re.compile(r'[\x21-\x7e]+')
_LONGEST = 4096
_SHORT = 16
_OTHERS = stat.S_IRWXG | stat.S_IRWXO

logger = logging.getLogger(__name__)


def read_principals(file: str) -> tuple[Principal, ...] | None:
    """
    Return the principals of a file, else of the environment; None where neither is named.

    A file is JSON with names, roles and hashes of tokens, or one line: the token of a planner.

    Raise Unavailable for a file that cannot be read, and InvalidArgument for one that others
    read, too, or for what is no token. What stands in either is never part of a message.
    """
    if file:
        where = f'mcp_token_file {format_value(file)}'
        text = _read_file(expand_path(file, 'mcp_token_file'))
        if text.lstrip().startswith('{'):
            return parse_principals(text, where)
        return make_single(_check_token(text, where))
    given = os.environ.get(VARIABLE)
    return None if given is None else make_single(_check_token(given, VARIABLE))


def _read_file(path: Path) -> str:
    """Read a file whose mode is looked at after it was opened, so that both are of one file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        reason = getattr(error, 'strerror', None) or error
        raise Unavailable(
            f'cannot read mcp_token_file {format_value(str(path))} ({reason}); create it with: '
            f'(umask 077; {_WAYS} > {path})'
        ) from None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise InvalidArgument(
                f'mcp_token_file {format_value(str(path))} is not a regular file'
            )
        if found.st_mode & _OTHERS:
            raise InvalidArgument(
                f'mcp_token_file {format_value(str(path))} has mode '
                f'{stat.S_IMODE(found.st_mode):04o}, which gives others access; accepted: 0600 '
                f'or 0400 (chmod 600 {path})'
            )
        with open(descriptor, 'rb', closefd=False) as opened:
            return opened.read(MAX_FILE + 1).decode('latin-1')
    finally:
        os.close(descriptor)


def _check_token(text: str, where: str) -> bytes:
    token = text.strip()
    if not token:
        raise InvalidArgument(f'{where} is empty; write a token to it, e.g. with {_WAYS}')
    if len(token) > _LONGEST or not _TOKEN.fullmatch(token):
        raise InvalidArgument(
            f'{where} has no valid token: accepted is one line of up to {_LONGEST} printable '
            f'ASCII characters without spaces, e.g. from {_WAYS}'
        )
    if len(token) < _SHORT:
        logger.warning('%s has only %d characters and can be guessed', where, len(token))
    return token.encode('ascii')
