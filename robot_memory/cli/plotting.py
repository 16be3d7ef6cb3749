"""The plot command: a perception with its signal, events of a window, or a skill's success."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from robot_memory.cli.common import open_memory, print_note, require_store, show_answer
from robot_memory.cli.options import Options
from robot_memory.cli.text import format_count
from robot_memory.core.errors import InvalidArgument, NotFound
from robot_memory.core.fields import Json, arg
from robot_memory.core.files import SHARED, write_file
from robot_memory.core.records import Record
from robot_memory.core.settings import Settings
from robot_memory.detectors import Picture, Signal
from robot_memory.memory import Memory
from robot_memory.retrieval.events import (
    SINCE,
    UNTIL,
    EventQuestion,
    aggregate_events,
    choose_zone,
    list_events,
)
from robot_memory.retrieval.payloads import load_payload
from robot_memory.storage import Connection
from robot_memory.storage.events.fields import Fields
from robot_memory.storage.events.pages import EventRow
from robot_memory.storage.tables import event_keys, memories
from robot_memory.storage.tables.events import SESSION
from robot_memory.storage.tables.folding import find_digest

if TYPE_CHECKING:
    from robot_memory.plot import Drawn

_WITH_SIGNALS = 200
"""Events of which signals and images are drawn."""


@dataclass(frozen=True)
class PlotRequest:
    """Arguments of the plot command."""

    memory_id: int | None = arg('Perception to plot.', default=None, minimum=1)
    skill: str = arg('Skill whose success is plotted over its trials.', default='', max_length=200)
    since: str = arg(SINCE, default='', max_length=64)
    until: str = arg(UNTIL, default='', max_length=64)
    where: Json | None = arg(
        'Conditions on the events as JSON, as in query_events: {"kind": "contact"}.',
        default=None,
        shape='object',
    )
    limit: int = arg(
        'Maximum number of events; of the commonest kinds the strongest.',
        default=2000,
        minimum=1,
        maximum=20_000,
    )
    collection: str = arg('Collection to read from.', default='default', max_length=128)
    output: str = arg('Output file; empty: memory_ID.png, memories.png or skill.png.', default='')
    width: int = arg('Width in pixels.', default=1200, minimum=480, maximum=8000)
    force: bool = arg('Overwrite an existing file.', default=False)


@dataclass(frozen=True)
class _Selected:
    """Hold the events of a window that are drawn, and what is to be said of the others."""

    events: Sequence[EventRow]
    notes: tuple[str, ...]


def plot(request: PlotRequest, settings: Settings, options: Options) -> None:
    """
    Plot one perception as PNG, the events of a window on a time line, or how a skill goes.

    A perception has its signal, extent, peak and images. A time line has a lane for each kind of
    event; long stretches without events are compressed, and the strongest events named.
    A skill has its success with Wilson intervals, by situation, and where the world changed.
    """
    from robot_memory.plot import draw

    is_span = bool(request.since or request.until)
    count = is_span + (request.memory_id is not None) + bool(request.skill)
    if count != 1:
        given = 'not several of these' if count else 'none is given'
        raise InvalidArgument(
            f'plot requires a perception id, --since or --until, or --skill; {given}'
        )
    require_store(settings)
    if request.skill:
        _plot_skill(request, settings, options)
        return
    name = f'memory_{request.memory_id}.png' if request.memory_id else 'memories.png'
    path = Path(request.output or name)
    selected = _Selected((), ())
    with open_memory(settings, with_model=False) as memory:
        zone = choose_zone(memory)
        guarded = memory.db.files
        with write_file(path, force=request.force, mode=SHARED, guarded=guarded) as file:
            if request.memory_id is not None:
                drawn = [_load_perception(memory, request.memory_id)]
            else:
                selected = _select_events(memory, request, zone)
                drawn = _load_events(memory, selected.events)
            file.write(draw(drawn, request.width, zone, selected.notes))
    for note in selected.notes:
        print_note(note)
    what = 'event' if is_span else 'perception'
    values = {
        'path': str(path),
        'memories': list(dict.fromkeys(one.memory_id for one in drawn if one.memory_id)),
        'events': [one.id for one in selected.events],
        'notes': list(selected.notes),
    }
    show_answer(values, f'{path}: {format_count(len(drawn), what)} plotted', options)


def _plot_skill(request: PlotRequest, settings: Settings, options: Options) -> None:
    from robot_memory.cli.skill_plotting import load_skill
    from robot_memory.plot import draw_skill

    path = Path(request.output or 'skill.png')
    with open_memory(settings, with_model=False) as memory:
        drawing, notes = load_skill(memory, request.collection, request.skill)
        guarded = memory.db.files
        with write_file(path, force=request.force, mode=SHARED, guarded=guarded) as file:
            file.write(draw_skill(drawing, request.width, notes))
    for note in notes:
        print_note(note)
    values = {'path': str(path), 'skill': request.skill, 'trials': drawing.trials, 'notes': notes}
    show_answer(values, f'{path}: {format_count(drawing.trials, "trial")} plotted', options)


def _load_perception(memory: Memory, memory_id: int) -> Drawn:
    with memory.db.read() as connection:
        record = memories.get(connection, [memory_id]).get(memory_id)
        if record is None or record.stamp is None:
            digest = find_digest(connection, memory_id)
            missing = f'was folded into memory {digest}' if digest else 'does not exist'
            what = 'is not a perception with a stamp' if record else missing
            raise NotFound(f'memory {memory_id} {what}; nothing to plot')
        return _load_drawing(connection, record)


def _select_events(memory: Memory, request: PlotRequest, zone: ZoneInfo) -> _Selected:
    """Return the events of a window: of kinds that have more than their share, the strongest."""
    where = {**(request.where or {}), 'collection': request.collection}
    question = EventQuestion(
        where, request.since, request.until, 'onset', False, request.limit, '', zone
    )
    groups = aggregate_events(memory, question, ['count'], '', 'kind', 1).groups
    counts = {group.key: group.count for group in groups if group.count}
    total = sum(counts.values())
    if not total:
        raise NotFound('no events in that time range')
    if total <= request.limit:
        return _Selected(list_events(memory, question).events, ())
    found: list[EventRow] = []
    cut: list[str] = []
    left = request.limit
    for number, kind in enumerate(sorted(counts, key=lambda kind: counts[kind])):
        most = min(counts[kind], max(1, left // (len(counts) - number)), left)
        left -= most
        if not most:
            cut.append(f'no {kind} of {counts[kind]:,}')
            continue
        of_kind = replace(question, where={**where, 'kind': kind}, limit=most)
        strongest = _find_strength(memory, kind) if most < counts[kind] else ''
        if strongest:
            of_kind = replace(of_kind, order_by=strongest, descending=True)
        some = list_events(memory, of_kind).events
        found += some
        if len(some) < counts[kind]:
            how = 'strongest' if strongest else 'first'
            cut.append(f'the {len(some):,} {how} {kind} of {counts[kind]:,}')
    note = f'showing {len(found):,} of {total:,} events: {", ".join(cut)}'
    return _Selected(found, (note,))


def _find_strength(memory: Memory, kind: str) -> str:
    """Return the figure that says how strong an event of a kind is; empty: there is none."""
    with memory.db.read() as connection:
        fields = Fields.read(connection)
    for one in fields.figures:
        if fields.kinds.get(one.kind) == kind and one.unit:
            return f'{one.name} [{one.unit}]'
    return ''


def _load_events(memory: Memory, events: Sequence[EventRow]) -> list[Drawn]:
    """Return what is drawn of events; what lasts is drawn to the end of the others."""
    last = max(max(one.onset if one.end is None else one.end, one.peak) for one in events)
    with memory.db.read() as connection:
        ids = [one.id for one in events if one.id > 0] if len(events) <= _WITH_SIGNALS else []
        records = memories.get(connection, ids)
        loaded = {
            record.id: _load_drawing(connection, record)
            for record in records.values()
            if record.stamp is not None
        }
    return [_draw_event(one, loaded.get(one.id), last) for one in events]


def _draw_event(event: EventRow, loaded: Drawn | None, last: int) -> Drawn:
    from robot_memory.plot import Drawn

    kind = event.names['kind'] or ''
    title = event.text or event.names['label'] or kind
    if kind == SESSION:
        title = ', '.join(
            filter(None, (event.names['task'], f'session {event.names["session_id"]}'))
        )
    strength = next(((name, value, unit) for name, value, unit in event.figures if unit), None)
    return Drawn(
        memory_id=event.memory_id,
        title=title if event.end is not None else f'{title} (lasts)',
        kind=kind,
        stamp_ns=event.onset,
        peak_ns=event.peak,
        end_ns=last if event.end is None else event.end,
        signal=loaded.signal if loaded else None,
        pictures=loaded.pictures if loaded else (),
        baseline=loaded.baseline if loaded else (),
        figure=strength,
    )


def _load_drawing(connection: Connection, record: Record) -> Drawn:
    from robot_memory.plot import Drawn

    assert record.stamp is not None
    identity = event_keys.get(connection, record.id)
    shift = record.stamp - identity.onset if identity else 0  # the clock was wrong by so much
    signal, pictures = None, []
    data, _, kept = load_payload(connection, record.id)
    data = data if isinstance(data, dict) else {}
    for part in kept:
        if part.content is None:
            continue
        if part.name == 'signal':
            signal = Signal.from_npz(part.content)
            signal = replace(signal, stamps_ns=signal.stamps_ns + shift)
        elif part.media_type == 'image/jpeg':
            taken = part.name.rpartition('.')[2]
            stamp_ns = int(taken) + shift if taken.isdigit() else record.stamp
            pictures.append(Picture(stamp_ns, part.content))
    return Drawn(
        memory_id=record.id,
        title=record.content,
        kind=record.perception_type or record.type,
        stamp_ns=record.stamp,
        peak_ns=identity.peak + shift if identity else record.stamp,
        end_ns=identity.end + shift if identity else record.stamp,
        signal=signal,
        pictures=tuple(sorted(pictures, key=lambda picture: picture.stamp_ns)),
        baseline=(*data.get('baseline_force', ()), *data.get('baseline_torque', ())),
    )
