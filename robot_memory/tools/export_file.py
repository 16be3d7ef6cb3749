"""Export a session, or the whole store, to a file."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from robot_memory.archive.mcap_file import write_mcap
from robot_memory.archive.writer import prepare_seals
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import arg
from robot_memory.core.files import write_file
from robot_memory.core.json_text import format_value
from robot_memory.memory import Memory, progress
from robot_memory.tool import tool
from robot_memory.tools.export import (
    FORMATS,
    ExportRequest,
    extent_of,
    generate_text,
    name_of,
)


def file_format_arg() -> Any:
    """Declare the formats of files."""
    return arg(
        'json: session with messages and memories; markdown, text: for reading; jsonl: lossless, '
        'can be imported; mcap: active memories for Foxglove (package mcap).',
        default='json',
        choices=(*FORMATS, 'mcap'),
    )


@dataclass(frozen=True)
class ExportFileRequest(ExportRequest):
    """Request of export_file."""

    format: str = file_format_arg()
    path: str = arg(
        'Absolute path of the new file on the machine of the memory; .jsonl selects JSON Lines, '
        '.mcap MCAP, .gz gzip compression.',
        default='',
    )


@dataclass(frozen=True)
class ExportFileResponse:
    """Response of export_file."""

    session_id: str = arg('Session id, or all.')
    format: str = arg('Format of the file.')
    path: str = arg('Path of the file.')
    count: int = arg('Number of exported memories; jsonl includes soft-deleted ones.')
    bytes: int = arg('Size of the file.')


@tool(ros=False)
def export_file(memory: Memory, request: ExportFileRequest) -> ExportFileResponse:
    """
    Export a session or the whole store, of any size, to a new file.

    The file takes its name once all of it is on the disk; an existing file is never replaced.
    """
    path = require_absolute('path', request.path)
    format = find_format(path, request.format)
    memory.accesses.flush()
    name, count = write_export(memory, path, request.session_id, format, request.collection)
    return ExportFileResponse(name, format, str(path), count, path.stat().st_size)


def require_absolute(field: str, path: str) -> Path:
    """Return an absolute path; raise InvalidArgument for another, which no caller can mean."""
    if not Path(path).is_absolute() or '\0' in path:
        raise InvalidArgument(
            f'{field} must be an absolute path on the machine of the memory, such as '
            f'/tmp/store.jsonl.gz, not {format_value(path)}'
        )
    return Path(path)


def find_format(path: Path, format: str) -> str:
    """Return the format of a file: what its name says, else the one that is asked for."""
    return next((one for one in ('jsonl', 'mcap') if f'.{one}' in path.suffixes), format)


def write_export(
    memory: Memory,
    path: Path,
    session_id: str | None,
    format: str,
    collection: str | None,
    *,
    force: bool = False,
) -> tuple[str, int]:
    """
    Write an export to a file, whole or not at all; return its name and how many memories it has.

    Raise Conflict where a file stands there, unless `force` replaces it.
    """
    with (
        write_file(path, force=force, guarded=memory.db.files) as file,
        _open_compressed(file, path.name) as packed,
    ):
        if format == 'mcap':
            with memory.db.read() as connection:
                extent = extent_of(connection, session_id, collection)
                return name_of(extent), write_mcap(connection, extent, packed)
        return write_text(
            memory, session_id, format, collection, lambda text: packed.write(text.encode())
        )


def write_text(
    memory: Memory,
    session_id: str | None,
    format: str,
    collection: str | None,
    write: Callable[[str], object],
) -> tuple[str, int]:
    """Write an export of any length; return its name and how many memories it has."""
    if format == 'jsonl':
        prepare_seals(memory)
    count, text = 0, ''
    with memory.db.read() as connection:
        extent = extent_of(connection, session_id, collection)
        for text, number in generate_text(connection, extent, format, memory.call_order):
            write(text)
            count += number
    if not text.endswith('\n'):
        write('\n')
    progress.get()(count, count, 'file')
    return name_of(extent), count


@contextmanager
def _open_compressed(file: IO[bytes], name: str) -> Iterator[IO[bytes]]:
    """Yield a gzip stream into the file if its name ends in .gz, else the file itself."""
    if not name.endswith('.gz'):
        yield file
        return
    with gzip.GzipFile(name, 'wb', compresslevel=6, fileobj=file, mtime=0) as packed:
        yield packed  # type: ignore[misc]
