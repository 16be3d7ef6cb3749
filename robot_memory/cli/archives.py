"""Commands on whole stores: export to a file of any size, import it again."""

from __future__ import annotations

import dataclasses
import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile

from robot_memory.archive.reader import import_archive
from robot_memory.cli.common import open_memory, print_note, require_store, show_answer
from robot_memory.cli.options import Options
from robot_memory.cli.text import format_count
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import arg, to_plain
from robot_memory.core.progress import make_progress_bar, move_bar
from robot_memory.core.settings import Settings
from robot_memory.memory import Memory
from robot_memory.text.controls import escape_controls
from robot_memory.tools.export import ExportRequest
from robot_memory.tools.export import export as export_tool
from robot_memory.tools.export_file import find_format, write_export, write_text


@dataclass(frozen=True)
class ExportCommand(ExportRequest):
    """Arguments of the export command."""

    session: str = arg('Session id, as a positional argument.', default='')
    output: str = arg(
        'Output file; .jsonl selects JSON Lines, .mcap MCAP, .gz gzip compression. Empty: stdout.',
        default='',
    )
    force: bool = arg('Overwrite an existing file.', default=False)


def export(request: ExportCommand, settings: Settings, options: Options) -> None:
    """Export a session or the whole store to stdout or a file."""
    wanted = request.session or request.session_id
    format = find_format(Path(request.output), request.format)
    require_store(settings)
    with open_memory(settings, with_model=False) as memory:
        if request.output or (format == 'jsonl' and not options.json):
            _stream(memory, wanted, request, format, options)
            return
        given = {'session_id': wanted, 'format': format, 'collection': request.collection}
        answer = export_tool.run(memory, given)
        show_answer(to_plain(answer), answer.content.rstrip('\n'), options)


def _stream(
    memory: Memory, wanted: str | None, request: ExportCommand, format: str, options: Options
) -> None:
    """Write an export of any length to stdout or to the output file."""
    memory.accesses.flush()
    if not request.output:
        # Who reads the pipe may stand still, and the log would grow as long as the store is read.
        with TemporaryFile('w+', encoding='utf-8', newline='') as spool:
            write_text(memory, wanted, format, request.collection, spool.write)
            spool.seek(0)
            shutil.copyfileobj(spool, sys.stdout)
        return
    path = Path(request.output)
    name, count = write_export(
        memory, path, wanted, format, request.collection, force=request.force
    )
    size = path.stat().st_size
    values = {
        'session_id': name,
        'format': format,
        'count': count,
        'path': request.output,
        'bytes': size,
    }
    summary = f'{request.output}: {format_count(count, "memory", "memories")}, {size} bytes'
    show_answer(values, summary, options)


def import_archives(paths: Iterable[str], settings: Settings, options: Options) -> None:
    """Import archives."""
    done = {}
    with open_memory(settings, with_model=False) as memory:
        for path in paths:
            with make_progress_bar(
                title=escape_controls(Path(path).name), unit=' memories'
            ) as bar:
                done[path] = import_archive(memory, Path(path), partial(move_bar, bar))
    text = '\n'.join(
        f'{path}: {format_count(one.memories, "memory", "memories")} and '
        f'{format_count(one.sessions, "session")} imported, {one.known} already known'
        + (f', {one.erased} erased here and skipped' if one.erased else '')
        + (f', {format_count(one.events, "folded event")} imported' if one.events else '')
        + (f', {one.places} maps, anchors and regions imported' if one.places else '')
        + (
            f', {format_count(one.lost, "reference")} to memories outside the archive'
            if one.lost
            else ''
        )
        + (f', {format_count(one.refused, "invalid line")} skipped' if one.refused else '')
        for path, one in done.items()
    )
    values = [{'path': path, **dataclasses.asdict(one)} for path, one in done.items()]
    show_answer(values, text, options)
    for problem in (problem for one in done.values() for problem in one.problems):
        print_note(problem)
    refused = sum(one.refused for one in done.values())
    if refused:
        raise InvalidArgument(f'{format_count(refused, "line")} not imported; all others were')
