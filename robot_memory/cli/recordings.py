"""Commands on perceptions: import recordings, plot perceptions."""

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
from robot_memory.core.clock import parse_instant
from robot_memory.core.errors import InvalidArgument, NotFound
from robot_memory.core.fields import arg, get_fields, parse
from robot_memory.core.files import SHARED, write_file
from robot_memory.core.json_text import format_value
from robot_memory.core.progress import make_progress_bar
from robot_memory.core.records import Record
from robot_memory.core.settings import Settings
from robot_memory.detectors import Picture, Signal
from robot_memory.retrieval.payloads import load_payload
from robot_memory.storage import Connection
from robot_memory.storage.tables import event_keys, memories

_IN_ONE_PLOT = 200


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


@dataclass(frozen=True)
class PlotRequest:
    """Arguments of the plot command."""

    memory_id: int | None = arg('Perception to plot.', default=None, minimum=1)
    since: str = arg('Plot all perceptions measured since this time (UTC, ISO 8601).', default='')
    until: str = arg('Plot only perceptions measured before this time.', default='')
    collection: str = arg('Collection to read from.', default='default', max_length=128)
    output: str = arg('Output file; empty: memory_ID.png or memories.png.', default='')
    force: bool = arg('Overwrite an existing file.', default=False)


def plot(request: PlotRequest, settings: Settings, options: Options) -> None:
    """Plot perceptions as PNG: signal, extent, peak and images."""
    from robot_memory.plot import draw

    span = bool(request.since or request.until)
    if span == (request.memory_id is not None):
        raise InvalidArgument('plot requires a perception id, or --since and --until')
    name = f'memory_{request.memory_id}.png' if request.memory_id else 'memories.png'
    path = Path(request.output or name)
    with open_memory(settings, with_model=False) as memory:
        guarded = memory.db.files
        with write_file(path, force=request.force, mode=SHARED, guarded=guarded) as file:
            with memory.db.read() as connection:
                drawn = [
                    _load_drawing(connection, record)
                    for record in _select_records(connection, request)
                ]
            if not drawn:
                raise NotFound('no perceptions in that time range')
            file.write(draw(drawn))
    text = f'{path}: {format_count(len(drawn), "perception")} plotted'
    show_answer({'path': str(path), 'memories': [one.memory_id for one in drawn]}, text, options)


def _select_records(connection: Connection, request: PlotRequest) -> list[Record]:
    if request.memory_id is not None:
        record = memories.get(connection, [request.memory_id]).get(request.memory_id)
        if record is None or record.stamp is None:
            what = 'is not a perception with a stamp' if record else 'does not exist'
            raise NotFound(f'memory {request.memory_id} {what}; nothing to plot')
        return [record]
    span = (
        _parse_nanoseconds('since', request.since, 0),
        _parse_nanoseconds('until', request.until, 2**62),
    )
    found = memories.list_perceptions(connection, request.collection, *span, _IN_ONE_PLOT + 1)
    if len(found) > _IN_ONE_PLOT:
        print_note(
            f'more than {_IN_ONE_PLOT} perceptions in that time range; plotting the first ones'
        )
    return found[:_IN_ONE_PLOT]


def _parse_nanoseconds(name: str, text: str, default: int) -> int:
    if not text:
        return default
    try:
        return parse_instant(text) * 1000
    except ValueError:
        raise InvalidArgument(
            f'{name} must be a time such as 2026-11-21T08:30:00, not {format_value(text)}'
        ) from None


def _load_drawing(connection: Connection, record: Record) -> Any:
    from robot_memory.plot import Drawn

    assert record.stamp is not None
    identity = event_keys.get(connection, record.id)
    signal, pictures = None, []
    data, _, kept = load_payload(connection, record.id)
    data = data if isinstance(data, dict) else {}
    for part in kept:
        if part.content is None:
            continue
        if part.name == 'signal':
            signal = Signal.from_npz(part.content)
        elif part.media_type == 'image/jpeg':
            taken = part.name.rpartition('.')[2]
            stamp_ns = int(taken) if taken.isdigit() else record.stamp
            pictures.append(Picture(stamp_ns, part.content))
    return Drawn(
        memory_id=record.id,
        title=record.content,
        kind=record.perception_type or record.type,
        stamp_ns=record.stamp,
        peak_ns=identity.peak if identity else record.stamp,
        end_ns=identity.end if identity else record.stamp,
        signal=signal,
        pictures=tuple(sorted(pictures, key=lambda picture: picture.stamp_ns)),
        baseline=(*data.get('baseline_force', ()), *data.get('baseline_torque', ())),
    )
