"""The lines of an archive's file as JSON objects, compressed or not."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from robot_memory.core.errors import InvalidArgument, NotFound, Unavailable
from robot_memory.core.json_text import format_value, parse_json

_SUFFIXES = ('.jsonl', '.jsonl.gz')
_LONGEST = 512_000_000
"""Bytes of a line; what `writing` puts into one is below, in the longest letters, too."""
_CHUNK = 1_000_000
"""Bytes that are read of a line at a time."""


def is_archive(name: str) -> bool:
    """Say whether a file is an archive by its name."""
    return name.endswith(_SUFFIXES)


def parse_object(text: bytes) -> dict[str, Any]:
    """Return the object of a line; raise InvalidArgument."""
    if len(text) > _LONGEST:
        raise InvalidArgument(f'the line exceeds {_LONGEST} bytes')
    try:
        values = parse_json('the line', text.decode(), _LONGEST)
    except UnicodeDecodeError as error:
        raise InvalidArgument(f'the line is not UTF-8 ({error.reason})') from None
    if not isinstance(values, dict):
        raise InvalidArgument(f'the line must be a JSON object, not {format_value(values)}')
    return values


def read_raw_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Give the lines of a file with their numbers, from 1; of too long ones the length alone."""
    try:
        with _open_archive(path) as file:
            number = 0
            while line := file.readline(_CHUNK):
                number += 1
                yield number, _complete(file, line)
    except FileNotFoundError:
        raise NotFound(f'no file at {path}') from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InvalidArgument(
            f'{path} is truncated or not gzip: {error}; nothing was imported'
        ) from None
    except OSError as error:
        raise Unavailable(f'cannot read {path}: {error}') from None


def _complete(file: BinaryIO, line: bytes) -> bytes:
    """Read a line to its end; give zeros for one that is longer than is accepted."""
    if line.endswith(b'\n') or len(line) < _CHUNK:
        return line
    pieces, length = [line], len(line)
    while piece := file.readline(_CHUNK):
        length += len(piece)
        pieces.append(piece)
        if length > _LONGEST:
            pieces.clear()
        if piece.endswith(b'\n'):
            break
    return b''.join(pieces) if length <= _LONGEST else bytes(_LONGEST + 1)


def _open_archive(path: Path) -> BinaryIO:
    opened = gzip.open if path.name.endswith('.gz') else open
    return cast(BinaryIO, opened(path, 'rb'))
