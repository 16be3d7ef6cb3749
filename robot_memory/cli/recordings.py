"""The import command: recordings and archives, with a line each."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any

from robot_memory.cli.common import is_set_up, open_memory, print_note, show_answer
from robot_memory.cli.options import Options
from robot_memory.cli.text import format_count
from robot_memory.core.errors import NotFound, Unavailable
from robot_memory.core.heap import freeze_objects, use_one_heap
from robot_memory.core.progress import make_progress_bar, move_bar
from robot_memory.core.settings import Settings, find_store_path, is_store_named
from robot_memory.text.controls import escape_controls
from robot_memory.tools.import_request import ImportRequest


def import_recordings(request: ImportRequest, settings: Settings, options: Options) -> None:
    """
    Import recordings (rosbag2, rosbag1) or archives written by `export`.

    Imports are idempotent: rerun the command to resume. Recordings that were completely imported
    are skipped; events are identified by source, topic and stamp, and known ones are skipped.
    """
    from robot_memory.ingest.import_plan import find_files

    bags, archives = find_files(request)
    files = [*bags, *map(Path, archives)]
    is_new = is_store_named(settings) and not find_store_path(settings).exists()
    if is_new and not any(file.exists() for file in files):
        raise NotFound(f'no file at {files[0]}; nothing to import, and no store was created')
    if bags:
        _import_all(bags, request, settings, options)
    if archives:
        from robot_memory.cli.archives import import_archives

        import_archives(map(str, archives), settings, options)


def _import_all(
    bags: Sequence[Path], request: ImportRequest, settings: Settings, options: Options
) -> None:
    """Import recordings; one that fails does not stop the others, and raises at the end."""
    from robot_memory.ingest.bag_import import ImportReport, import_once
    from robot_memory.ingest.import_plan import make_plan
    from robot_memory.lifecycle.deferred_vectors import load_in_turn

    plan = make_plan(request)
    done: list[ImportReport] = []
    failed = 0
    loads = is_set_up(settings)
    use_one_heap()
    with open_memory(settings, with_model=loads, loads=False) as memory:
        freeze_objects()
        for bag in bags:
            with ExitStack() as stack:
                say, progress = _make_bar(stack, escape_controls(bag.name))
                try:
                    done.append(import_once(memory, bag, plan, say, progress, request.again))
                except (NotFound, OSError) as error:
                    failed += 1
                    say(f'{bag}: {error}' if isinstance(error, OSError) else str(error))
                except KeyboardInterrupt:
                    say('import interrupted; imports are idempotent: rerun the command to resume')
                    raise
        for _ in load_in_turn(memory, max(options.wait, 60.0)):
            with suppress(Unavailable):  # the model that failed has said so
                memory.reindexer.embed_forms()
    text = _format_result(done, with_taps=len(bags) == 1)
    if len(bags) > 1:
        text = f'{text}\n{_format_total(done, failed)}'.lstrip()
    show_answer([dataclasses.asdict(one) for one in done], text, options)
    refuse_success(len(bags), failed, done)


def refuse_success(number: int, failed: int, done: Sequence[Any]) -> None:
    """Raise NotFound where recordings could not be read, or not wholly."""
    damaged = sum(bool(one.losses) for one in done)
    said = [f'{failed} not readable'] if failed else []
    said += [f'{damaged} damaged and read in part'] if damaged else []
    if said:
        raise NotFound(f'of {format_count(number, "recording")}, {", ".join(said)}')


def _make_bar(
    stack: ExitStack, title: str
) -> tuple[Callable[[str], None], Callable[[int, int], None]]:
    """Return a function that prints a line and one that updates the progress bar."""
    bar = stack.enter_context(make_progress_bar(title=title, unit=' messages', unit_scale=True))

    def say(text: str) -> None:
        bar.clear()
        print_note(text)

    return say, partial(move_bar, bar)


def _format_result(done: list[Any], with_taps: bool) -> str:
    lines = []
    for one in done:
        if one.skipped:
            lines.append(f'{one.recording}: imported completely before, skipped')
            continue
        lines.append(
            f'{one.recording}: {one.seconds:.1f} s, {format_count(one.messages, "message")}, '
            f'{format_count(one.kept, "memory", "memories")} stored, {one.known} already known'
            + _format_lost(one.lost)
        )
        for tap, counts in one.taps.items() if with_taps else ():
            words = ', '.join(f'{name} {number}' for name, number in counts.items())
            lines.append(f'  {tap}: {words or "no messages"}')
    return '\n'.join(lines)


def _format_total(done: list[Any], failed: int) -> str:
    skipped = sum(one.skipped for one in done)
    seconds = sum(one.seconds for one in done if not one.skipped)
    messages, kept = sum(one.messages for one in done), sum(one.kept for one in done)
    known = sum(one.known for one in done if not one.skipped)
    lost = {name: sum(one.lost[name] for one in done) for name in ('parts', 'bytes', 'messages')}
    return (
        f'total: {format_count(len(done) + failed, "recording")}, {skipped} skipped, {failed} '
        f'failed, {seconds:.1f} s, {format_count(messages, "message")}, '
        f'{format_count(kept, "memory", "memories")} stored, {known} already known'
        + _format_lost(lost)
    )


def _format_lost(lost: Mapping[str, int]) -> str:
    if not lost['parts']:
        return ''
    return (
        f'; damaged in {format_count(lost["parts"], "place")}: {lost["bytes"]:,} bytes and '
        f'{format_count(lost["messages"], "message")} lost, as far as known'
    )
