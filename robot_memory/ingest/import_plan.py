"""What an import reads, and how, from what it is told."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from robot_memory.archive.raw_lines import is_archive
from robot_memory.core.errors import InvalidArgument, NotFound
from robot_memory.core.fields import get_fields, parse
from robot_memory.ingest import IngestSettings, PoseSourceSettings
from robot_memory.ingest.bag_import import ImportPlan
from robot_memory.ingest.parameters import (
    check_parameters,
    group_by_tap,
    read_assignments,
    read_parameters,
)
from robot_memory.ingest.recording import list_recordings
from robot_memory.tools.import_request import ImportRequest


def find_files(request: ImportRequest) -> tuple[list[Path], list[Path]]:
    """
    Return the recordings and the archives that are meant.

    Raise InvalidArgument for archives beside recordings or options, NotFound where there is none.
    """
    found = [one for bag in request.bags for one in _walk(Path(bag))]
    archives = [path for path in found if is_archive(path.name)]
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
    return bags, archives


def _walk(path: Path) -> Iterator[Path]:
    """Yield the recordings and archives at a path, or in the folders below it."""
    yield from list_recordings(path)
    if path.is_dir():
        yield from sorted(one for one in path.rglob('*.jsonl*') if is_archive(one.name))


def make_plan(request: ImportRequest) -> ImportPlan:
    """Return the import plan: settings of the parameter file, overridden by options."""
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
