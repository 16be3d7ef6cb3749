"""Commands about the store itself: status, clock, index, upgrade."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from robot_memory.cli.common import (
    NOT_SET_UP,
    is_set_up,
    open_memory,
    print_note,
    require_store,
    show_answer,
)
from robot_memory.cli.options import Options
from robot_memory.cli.text import Paint, format_count, render_table
from robot_memory.core.clock import format_instant
from robot_memory.core.errors import NotFound, Unavailable
from robot_memory.core.fields import arg
from robot_memory.core.progress import make_progress_bar, move_bar
from robot_memory.core.settings import Settings, find_store_path
from robot_memory.memory import Memory
from robot_memory.status.limits import report_limits
from robot_memory.status.summary import measure_free_bytes
from robot_memory.storage import Connection, Database, epochs
from robot_memory.storage.admin.limits import Limit
from robot_memory.storage.admin.report import Report, report
from robot_memory.storage.indexes import other_vectors, vectors
from robot_memory.storage.schema_runner import STEPS
from robot_memory.storage.tables import maps, regions
from robot_memory.storage.upgrade import copy_of
from robot_memory.tools.get_memory_stats import get_memory_stats


@dataclass(frozen=True)
class NoArguments:
    """Take no arguments."""


def report_status(_: NoArguments, settings: Settings, options: Options) -> None:
    """Print store statistics and whether the embedding model is ready."""
    path = require_store(settings)
    loads = is_set_up(settings)
    with open_memory(settings, with_model=loads) as memory:
        memory.wait_for_models(options.wait)
        embedder, second = memory.embedder.get_if_loaded(), memory.vectorizer.get_second()
        stats = get_memory_stats.run(memory, {})
        with memory.db.read() as connection:
            found = report(connection, path)
            clock = _describe_clock(memory, connection)
            limits = report_limits(memory, connection)
            places = report_places(connection)
        room = measure_free_bytes(memory)
    state = {
        'clock': clock,
        'no_record': memory.no_record.describe(),
        **places,
        'today': stats.today,
        'this_week': stats.this_week,
        'disk_free_mb': None if room is None else round(room / 1e6, 1),
        'limits': [dataclasses.asdict(one) for one in limits],
        'model': embedder.name if embedder else None,
        'model_state': memory.embedder.state if loads else 'off',
        'model_reason': memory.embedder.reason if loads else NOT_SET_UP,
        'second_model': second.name if second else None,
        'second_model_state': memory.second.state,
        'second_model_reason': memory.second.reason,
    }
    values = {**dataclasses.asdict(found), **state}
    rows = _format_status(found, state, limits)
    show_answer(values, render_table(rows, Paint(sys.stdout)), options, painted=True)


def _format_status(
    found: Report, state: Mapping[str, Any], limits: Sequence[Limit]
) -> dict[str, str]:
    """Return the report as table rows."""
    kinds = [format_count(number, kind) for kind, number in found.active.items()]
    gone = [f'{found.invalidated} forgotten', f'{found.superseded} superseded']
    gone += [f'{found.folded} folded'] if found.folded else []
    active = f'{sum(found.active.values())} active'
    kept = f', existing vectors from {found.vectors_of}' if found.vectors_of else ''
    ready = f'ready, {state["model"]}' if state['model'] else state['model_reason']
    beside = ''.join(
        f'; {one["vectors"]} from {name}, {one["waiting"]} missing'
        for name, one in found.other_models.items()
    )
    second = state['second_model_state']
    return {
        'store': f'{found.path}, {found.bytes / 1e6:.1f} MB, {found.store_id}',
        'disk': f'{state["disk_free_mb"]} MB free',
        'memories': ', '.join([f'{active} ({", ".join(kinds)})' if kinds else active, *gone]),
        'new': f'{state["today"]} today, {state["this_week"]} this week',
        'collections': ', '.join(f'{name} {n}' for name, n in found.collections.items()) or 'none',
        'sessions': f'{found.open_sessions} open, {found.ended_sessions} ended',
        'payloads': (
            f'{format_count(found.parts, "part")}, {found.part_bytes / 1e6:.1f} MB, '
            f'{found.parts_removed} evicted'
        ),
        **{f'limit of {one.name}': one.describe() for one in limits},
        'vectors': f'{found.waiting_for_vector} missing{kept}{beside}',
        'model': ready,
        'second model': (
            f'ready, {state["second_model"]}'
            if state['second_model']
            else {'off': 'none'}.get(second, state['second_model_reason'])
        ),
        'audit': f'line {found.audit_line}, head {found.audit_head or "none"}',
        'clock': state['clock'],
        **format_places(state),
        **{
            f'no-record {name}': ', '.join(names)
            for name, names in state['no_record'].items()
            if names
        },
    }


def report_places(connection: Connection) -> dict[str, Any]:
    """Return which map holds in which frame, and what else places rest on."""
    return {
        'maps': {
            frame: {
                'name': one.of.name,
                'revision': one.of.revision,
                'mapping': one.is_mapping,
            }
            for frame, one in maps.list_current(connection).items()
        },
        'map_changes': maps.count_changes(connection),
        'anchors': maps.count_anchors(connection),
        'regions': regions.count(connection),
    }


def format_places(state: Mapping[str, Any]) -> dict[str, str]:
    """Return the rows of maps and regions, where there are any."""
    rows = {
        f'map of {frame}': f'{one["name"]} r{one["revision"]}'
        + (', being mapped' if one['mapping'] else '')
        for frame, one in state['maps'].items()
    }
    if rows:
        changes = format_count(state['map_changes'], 'change')
        rows['map history'] = f'{changes}, {format_count(state["anchors"], "anchor")}'
    return rows | ({'regions': str(state['regions'])} if state['regions'] else {})


def _describe_clock(memory: Memory, connection: Connection) -> str:
    known = memory.timekeeper.judge_now(connection)
    return f'{"trusted" if known.trusted else "suspect"}: {known.reason}'


@dataclass(frozen=True)
class ClockRequest:
    """Arguments of the clock command."""

    action: str = arg(
        'show: list the clock epochs; trust: confirm that the present time is right.',
        default='show',
        choices=('show', 'trust'),
    )


def manage_clock(request: ClockRequest, settings: Settings, options: Options) -> None:
    """
    List the clock epochs of the store, or confirm that the present clock is right.

    Memories of a suspect clock are kept; decay and retention wait until it is trusted.
    """
    require_store(settings)
    with open_memory(settings, with_model=False) as memory:
        if request.action == 'trust':
            memory.timekeeper.trust(memory.caller)
        with memory.db.read() as connection:
            rows = epochs.list_all(connection)
    values = [
        {
            'epoch': row.id,
            'from': format_instant(row.epoch.first.wall + row.judgement.offset),
            'until': format_instant(row.epoch.last.wall + row.judgement.offset),
            'state': 'trusted' if row.judgement.trusted else 'suspect',
            'reason': row.judgement.reason,
            'offset_s': row.judgement.offset / 1e6,
            'time_uncertain': row.judgement.uncertain,
        }
        for row in rows
    ]
    lines = [
        f'{value["epoch"]:>4}  {str(value["from"])[:19]} to {str(value["until"])[:19]} UTC  '
        f'{value["state"]}: {value["reason"]}'
        + (f'; corrected by {value["offset_s"]:+.0f} s' if value['offset_s'] else '')
        + (', time uncertain' if value['time_uncertain'] else '')
        for value in values
    ]
    show_answer(values, '\n'.join(lines) or 'nothing was written yet', options)


def index(_: NoArguments, settings: Settings, options: Options) -> None:
    """Install the embedding model if needed and compute missing vectors."""
    require_store(settings)
    sets_up = settings.model != 'none' and not is_set_up(settings)
    with open_memory(settings) as memory:
        if sets_up:
            print_note('installing the embedding model (once per machine) ...')
        memory.wait_for_models(None, None)
        embedder = memory.embedder.get_if_loaded()
        if embedder is None:
            raise Unavailable(f'cannot compute vectors: {memory.embedder.reason}')
        made = 0
        with make_progress_bar(title='vectors', unit=' vectors') as bar:
            for made, waiting in memory.reindexer.run():
                move_bar(bar, made, made + waiting)
        with memory.db.read() as connection:
            left = vectors.count_missing(connection)
            left += other_vectors.count_missing(connection)
    values = {'made': made, 'waiting': left, 'model': embedder.name}
    text = f'{format_count(made, "vector")} computed, {left} missing, model {embedder.name}'
    show_answer(values, text, options)


def upgrade(_: NoArguments, settings: Settings, options: Options) -> None:
    """Upgrade the database to this release; a copy of the old file is kept for 30 days."""
    path = find_store_path(settings)
    if not path.exists():
        raise NotFound(f'no store at {path}; nothing to upgrade')
    with make_progress_bar(title='upgrade', unit='memory') as bar:
        db = Database(path, upgrade=True, progress=partial(move_bar, bar))
    db.close()
    before, now = db.upgraded_from, len(STEPS)
    kept = None if before is None else str(copy_of(path))
    values = {'path': str(path), 'from_version': before, 'version': now, 'copy': kept}
    done = f'upgraded from schema version {before} to {now}; copy of the old file: {kept}'
    show_answer(values, done if kept else f'{path} is already up to date', options)
