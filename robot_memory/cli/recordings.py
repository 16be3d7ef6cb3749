"""The import command: recordings and archives, with a line each."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robot_memory.archive.reader import is_archive
from robot_memory.cli.archives import import_archives
from robot_memory.cli.common import is_set_up, open_memory, print_note, show_answer
from robot_memory.cli.options import Options
from robot_memory.cli.text import format_count
from robot_memory.core.errors import InvalidArgument, NotFound
from robot_memory.core.fields import arg, get_fields, parse
from robot_memory.core.heap import use_one_heap
from robot_memory.core.progress import make_progress_bar
from robot_memory.core.settings import Settings


@dataclass(frozen=True)
class ImportRequest:
    """Arguments of the import command."""

    bags: tuple[str, ...] = arg(
        'rosbag2 folders or files, rosbag1 files, archives (.jsonl, .jsonl.gz), or folders that '
        'contain any of these.'
    )
    params: str = arg(
        'Node parameter file that defines the taps; without it, all topics of supported types '
        'are read.',
        default='',
    )
    set: tuple[str, ...] = arg(
        'Setting of the node or a tap, such as wrench.onset_n=1; repeatable, above --params.',
        default=(),
    )
    again: bool = arg('Import recordings that were completely imported before.', default=False)
    collection: str = arg('Collection for all events.', default='', max_length=128)
    session_id: str = arg('Session id for all events.', default='')
    source: str = arg('Source (robot) recorded with all events.', default='')
    demonstration: str = arg('Store motions as a demonstration with this name.', default='')
    pose_topic: str = arg('Topic with the pose of the robot or its tool.', default='')
    pose_type: str = arg('Message type of pose_topic.', default='')
    fixed_frame: str = arg('Fixed frame in which tf poses are resolved.', default='')


def import_recordings(request: ImportRequest, settings: Settings, options: Options) -> None:
    """
    Import recordings (rosbag2, rosbag1) or archives written by `export`.

    Imports are idempotent: rerun the command to resume. Recordings that were completely imported
    are skipped; events are identified by source, topic and stamp, and known ones are skipped.
    """
    found = [one for bag in request.bags for one in _walk(Path(bag))]
    archives = [str(path) for path in found if is_archive(path.name)]
    bags = [path for path in found if not is_archive(path.name)]
    if any(is_archive(bag) for bag in request.bags) and (
        bags or dataclasses.replace(request, bags=()) != ImportRequest(())
    ):
        raise InvalidArgument(
            'archives take no import options and cannot be mixed with recordings; import '
            'them separately'
        )
    if not found:
        raise NotFound(
            f'{", ".join(request.bags)} contains no recording; accepted: files .mcap, .db3, .bag, '
            'with or without .zstd, and archives'
        )
    if bags:
        _import_all(bags, request, settings, options)
    if archives:
        import_archives(archives, settings, options)


def _walk(path: Path) -> Iterator[Path]:
    """Yield the recordings and archives at a path, or in the folders below it."""
    from robot_memory.ingest.recording import list_recordings

    yield from list_recordings(path)
    if path.is_dir():
        yield from sorted(one for one in path.rglob('*.jsonl*') if is_archive(one.name))


def _import_all(
    bags: Sequence[Path], request: ImportRequest, settings: Settings, options: Options
) -> None:
    """Import recordings; one that fails does not stop the others, and raises at the end."""
    from robot_memory.ingest.bag_import import ImportReport, import_once

    plan = _make_plan(request)
    done: list[ImportReport] = []
    failed = 0
    loads = is_set_up(settings)
    use_one_heap()
    with open_memory(settings, with_model=loads) as memory:
        memory.embedder.wait(max(options.wait, 60.0) if loads else 0.0)
        memory.reindexer.adopt_model()
        for bag in bags:
            with ExitStack() as stack:
                say, progress = _make_bar(stack, bag.name)
                try:
                    done.append(import_once(memory, bag, plan, say, progress, request.again))
                except (NotFound, OSError) as error:
                    failed += 1
                    say(f'{bag}: {error}' if isinstance(error, OSError) else str(error))
                except KeyboardInterrupt:
                    say('import interrupted; imports are idempotent: rerun the command to resume')
                    raise
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

    def progress(done: int, total: int) -> None:
        bar.total = total
        bar.update(done - bar.n)

    def say(text: str) -> None:
        bar.clear()
        print_note(text)

    return say, progress


def _make_plan(request: ImportRequest) -> Any:
    """Return the import plan: settings of the parameter file, overridden by options."""
    from robot_memory.ingest import IngestSettings, PoseSourceSettings
    from robot_memory.ingest.bag_import import ImportPlan
    from robot_memory.ingest.parameters import (
        check_parameters,
        group_by_tap,
        read_assignments,
        read_parameters,
    )

    values = read_parameters(Path(request.params)) if request.params else {}
    assigned = read_assignments(request.set)
    tap_settings: dict[str, dict[str, Any]] = {}
    if request.params:
        values |= assigned
    else:
        for name in assigned:
            tap, _, setting = name.rpartition('.')
            if tap:
                tap_settings.setdefault(tap, {})[setting] = assigned[name]
        values |= {name: value for name, value in assigned.items() if '.' not in name}
    if assigned:
        plain = {
            name: value for name, value in values.items() if request.params or '.' not in name
        }
        check_parameters(plain, '--set')
    for name in ('source', 'demonstration', 'pose_topic', 'pose_type', 'fixed_frame'):
        if getattr(request, name):
            values[name] = getattr(request, name)
    senses = parse(IngestSettings, _select_values(IngestSettings, values), 'parameter file')
    place = parse(PoseSourceSettings, _select_values(PoseSourceSettings, values), 'parameter file')
    overrides = {
        name: getattr(request, name)
        for name in ('collection', 'session_id')
        if getattr(request, name)
    }
    taps = group_by_tap(values, senses.taps) if request.params else None
    return ImportPlan(
        taps,
        overrides,
        tap_settings,
        place,
        senses.source,
        senses.demonstration,
        senses.session_hours,
    )


def _select_values(declaration: type, values: Mapping[str, Any]) -> dict[str, Any]:
    names = {field.name for field in get_fields(declaration)}
    return {name: value for name, value in values.items() if name in names}


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
