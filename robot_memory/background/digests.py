"""Digests: one perception that says in words and figures what folded events were."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any
from zoneinfo import ZoneInfo

from robot_memory.core.authority import THE_STORE, get_lowest
from robot_memory.core.records import Record, make_record
from robot_memory.core.zones import format_local, to_local
from robot_memory.storage.events.pages import EventRow
from robot_memory.storage.tables.folding import Candidate
from robot_memory.text.categories import PROTECTED, classify

_HOUR = 3600 * 10**9
_SAID = 6
"""Figures that the text of a digest names; the context has all of them."""


@dataclass(frozen=True)
class DigestKey:
    """
    Say which events may share a digest: those of one hour that agree in all of this.

    `retired` is the clock epoch in which retention retired them, None where it did not.
    """

    hour: int
    collection: str
    session_id: str | None
    actor_id: str | None
    robot: str | None
    world: str | None
    retired: int | None


def make_key(candidate: Candidate) -> DigestKey:
    """Return the digest that a candidate belongs to, those of its kind and label aside."""
    return DigestKey(
        candidate.onset // _HOUR,
        candidate.collection,
        candidate.session_id,
        candidate.actor_id,
        candidate.robot,
        candidate.world,
        candidate.retired,
    )


def make_digest(
    key: DigestKey,
    candidates: Sequence[Candidate],
    events: Sequence[EventRow],
    zone: ZoneInfo,
    now: int,
) -> Record:
    """
    Return the digest of some events of one kind and label, in the order of their onsets.

    It has the lowest authority and confidence of what it stands for, and is dated by the first.
    """
    first, last = events[0], events[-1]
    figures = _summarise(events)
    kind, label = first.names['kind'] or '', first.names['label']
    topics = sorted({one.names['topic'] or '' for one in events} - {''})
    tasks = sorted({one.names['task'] or '' for one in events} - {''})
    digest: dict[str, Any] = {
        'count': len(events),
        'kind': kind,
        'label': label,
        'first': format_local(first.onset // 1000, zone),
        'last': format_local(last.onset // 1000, zone),
        'topics': topics,
        'tasks': tasks,
        'figures': figures,
    }
    context: dict[str, Any] = {'digest': {name: one for name, one in digest.items() if one}}
    for name, field, value in (
        ('robot', 'id', key.robot),
        ('env', 'sim_or_real', key.world),
        ('task', 'name', tasks[0] if len(tasks) == 1 else None),
    ):
        if value is not None:
            context[name] = {field: value}
    text = _describe(digest, key, zone)
    found = classify(text)
    if found.category in PROTECTED:
        found = replace(found, category='observation', tags=('observation', *found.tags[1:]))
    authority = get_lowest(*(one.authority for one in candidates))
    writer = replace(THE_STORE, authority=authority)
    return replace(
        make_record('perception', text, found, context, now, writer),
        collection=key.collection,
        session_id=key.session_id,
        actor_id=key.actor_id,
        confidence=min(one.confidence for one in candidates),
        perception_type=candidates[0].perception_type,
        strategy_name='episodic',
        stamp=first.onset,
    )


def _summarise(events: Sequence[EventRow]) -> dict[str, dict[str, Any]]:
    """Return smallest, largest and mean value of each figure, and how many events have it."""
    values: dict[tuple[str, str], list[float]] = {}
    for event in events:
        for name, value, unit in event.figures:
            values.setdefault((name, unit), []).append(value)
    lasted = [(one.end - one.onset) / 1e9 for one in events if one.end is not None]
    if any(lasted):
        values['duration', 's'] = lasted
    return {
        name: {
            'count': len(found),
            'min': round(min(found), 6),
            'max': round(max(found), 6),
            'mean': round(fmean(found), 6),
            'unit': unit,
        }
        for (name, unit), found in values.items()
    }


def _describe(digest: dict[str, Any], key: DigestKey, zone: ZoneInfo) -> str:
    begin = to_local(key.hour * _HOUR // 1000, zone)
    end = to_local((key.hour + 1) * _HOUR // 1000, zone)
    what = ', '.join(filter(None, (digest['kind'], digest['label'])))
    where = f' on {", ".join(digest["topics"])}' if digest['topics'] else ''
    many = 'event' if digest['count'] == 1 else 'events'
    parts = [f'{digest["count"]} {many} ({what}){where}, {begin:%Y-%m-%d %H:%M} to {end:%H:%M %z}']
    for name, one in list(digest['figures'].items())[:_SAID]:
        unit = f' {one["unit"]}' if one['unit'] else ''
        parts.append(
            f'{name.replace("_", " ")} {one["min"]:.3g} to {one["max"]:.3g}{unit}, '
            f'mean {one["mean"]:.3g}{unit}'
        )
    if digest['tasks']:
        parts.append(f'task {", ".join(digest["tasks"][:3])}')
    return '; '.join(parts)
