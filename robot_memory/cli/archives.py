"""The commands about whole stores: export to a file of any size, import it again."""

from __future__ import annotations

import dataclasses
import gzip
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from robot_memory.archive.reading import import_archive
from robot_memory.archive.writing import lines
from robot_memory.cli.common import open_memory, show_answer
from robot_memory.cli.options import Options
from robot_memory.cli.text import counted
from robot_memory.errors import NotFound, Unavailable
from robot_memory.fields import arg, plain
from robot_memory.memory import Memory
from robot_memory.progress import progress_bar
from robot_memory.settings import Settings, store_path
from robot_memory.tools.export import ExportRequest, extent_of, name_of, text_of
from robot_memory.tools.export import export as export_tool


@dataclass(frozen=True)
class ExportCommand(ExportRequest):
    """Ask for a session or for all, on the terminal or in a file."""

    session: str = arg('session_id, without the name of the option.', default='')
    output: str = arg(
        'File to write: jsonl where it is called .jsonl or .jsonl.gz, with gzip where it ends in '
        '.gz; empty: stdout.',
        default='',
    )


def export(request: ExportCommand, settings: Settings, options: Options) -> None:
    """Answer as the tool does, or stream JSON Lines and files, however much there is."""
    wanted = request.session or request.session_id
    format = 'jsonl' if '.jsonl' in Path(request.output).suffixes else request.format
    if request.output and not store_path(settings).exists():
        raise NotFound(f'there is no store {store_path(settings)}; name another with --db')
    with open_memory(settings, with_model=False) as memory:
        if request.output or (format == 'jsonl' and not options.json):
            _stream(memory, wanted, request, format, options)
            return
        given = {'session_id': wanted, 'format': format, 'collection': request.collection}
        answer = export_tool.run(memory, given)
        show_answer(plain(answer), answer.content.rstrip('\n'), options)


def _stream(
    memory: Memory, wanted: str | None, request: ExportCommand, format: str, options: Options
) -> None:
    """Write an export of any length, to a file if one is named."""
    memory.flush()
    with memory.db.read() as connection:
        extent = extent_of(connection, wanted, request.collection)
        if format == 'jsonl':
            count = extent.count(connection)
            texts: Iterable[str] = (f'{line}\n' for line in lines(connection, extent))
        else:
            text, count = text_of(connection, extent, format)
            texts = [text if text.endswith('\n') else f'{text}\n']
        if not request.output:
            sys.stdout.writelines(texts)
            return
        with _written(Path(request.output)) as file:
            for text in texts:
                file.write(text.encode())
    size = Path(request.output).stat().st_size
    values = {
        'session_id': name_of(extent),
        'format': format,
        'count': count,
        'path': request.output,
        'bytes': size,
    }
    told = f'{request.output}: {counted(count, "memory", "memories")}, {size} bytes'
    show_answer(values, told, options)


@contextmanager
def _written(path: Path) -> Iterator[IO[bytes]]:
    """Give a file to write that takes its name when all is in it; only its owner reads it."""
    beside = path.with_name(f'.{path.name}.part')
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, 'wb') as raw:
            if path.name.endswith('.gz'):
                with gzip.GzipFile(path.name, 'wb', compresslevel=6, fileobj=raw, mtime=0) as file:
                    yield file  # type: ignore[misc]
            else:
                yield raw
            raw.flush()
            os.fsync(raw.fileno())
        beside.replace(path)
    except OSError as error:
        raise Unavailable(f'{path} cannot be written: {error}') from None
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def import_archives(paths: Iterable[str], settings: Settings, options: Options) -> None:
    """Keep what archives hold."""
    done = {}
    with open_memory(settings, with_model=False) as memory:
        for path in paths:
            with progress_bar(title=Path(path).name, unit=' memories') as bar:

                def progress(number: int, total: int, bar: Any = bar) -> None:
                    bar.total = total
                    bar.update(number - bar.n)

                done[path] = import_archive(memory, Path(path), progress)
    text = '\n'.join(
        f'{path}: {counted(one.memories, "memory", "memories")} and '
        f'{counted(one.sessions, "session")} kept, {one.known} known already'
        + (f', {counted(one.lost, "reference")} to what it does not hold' if one.lost else '')
        for path, one in done.items()
    )
    values = [{'path': path, **dataclasses.asdict(one)} for path, one in done.items()]
    show_answer(values, text, options)
