"""What the occasions of memories come to, and which of them an answer bears."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from zoneinfo import ZoneInfo

from robot_memory.core.clock import format_instant
from robot_memory.core.evidence import describe_evidence
from robot_memory.core.fields import arg, to_plain
from robot_memory.core.records import NO_LINKS, Record, is_simulated
from robot_memory.storage import Connection
from robot_memory.storage.indexes.occasions import Occasion
from robot_memory.storage.tables import observations, replacements

OBSERVED = 'How often and how well it was observed; facts only.'


@dataclass(frozen=True)
class ObservedView:
    """How often and how well a fact was observed, its first statement included."""

    count: int = arg('Number of occasions outside of simulation, the first statement included.')
    first_at: str = arg('First occasion, UTC, ISO 8601.')
    last_at: str = arg('Last occasion, UTC, ISO 8601.')
    tries: int = arg('Occasions outside of simulation whose context has task.success.')
    successes: int = arg('Those of them where task.success is true.')
    simulated_count: int = arg('Number of occasions in simulation (env.sim_or_real: sim).')
    simulated_tries: int = arg('Occasions in simulation whose context has task.success.')
    simulated_successes: int = arg('Those of them where task.success is true.')


def view_observed(record: Record) -> ObservedView | None:
    """Return the view of what was observed of a record; None where it was not read."""
    return view_each_observed([record])[0]


def view_each_observed(records: Sequence[Record]) -> list[ObservedView | None]:
    """Return the view of what was observed of each record; None where it was not read."""
    read = [record.evidence for record in records if record.evidence is not None]
    instants = dict.fromkeys(at for found in read for at in (found.first_at, found.last_at))
    times = dict(zip(instants, map(format_instant, instants), strict=True))
    return [
        None
        if found is None
        else ObservedView(
            found.count,
            times[found.first_at],
            times[found.last_at],
            found.tries,
            found.successes,
            found.simulated_count,
            found.simulated_tries,
            found.simulated_successes,
        )
        for found in (record.evidence for record in records)
    ]


def describe_observed(record: Record, now: int, zone: ZoneInfo) -> dict[str, Any]:
    """Return in metadata what was observed of a record, and in words (`evidence`)."""
    evidence = record.evidence
    words = '' if evidence is None else describe_evidence(evidence, now, zone)
    if evidence is None and is_only_simulated(record):
        words = 'simulated'
    return {
        'observed': to_plain(view_observed(record)),
        'simulated': is_only_simulated(record) or None,
        'evidence': words or None,
    }


def is_only_simulated(record: Record) -> bool:
    """Say whether a record was observed in simulation only."""
    if record.evidence is not None:
        return not record.evidence.count
    return is_simulated(record.context) == 1


def complete(
    connection: Connection,
    records: Sequence[Record],
    occasion: Occasion | None = None,
    place: str = '',
) -> list[Record]:
    """
    Return records with their evidence and links, and with the occasion that answers.

    That is the newest that passes `occasion`; where nothing is asked of it, the memory's own
    statement, but with the latest place: the partition `spatial`, or that of the dotted path
    `place`.
    """
    ids = [record.id for record in records if record.type == 'fact']
    if not ids:
        return list(records)
    facts = [record for record in records if record.type == 'fact']
    evidence = observations.summarize(connection, facts)
    linked = replacements.read(connection, ids)
    again = [each for each in ids if evidence[each].is_repeated]
    passing = {} if occasion is None else observations.choose(connection, again, occasion)
    partition = place.partition('.')[0] or 'spatial'
    path = ''.join(f'."{step}"' for step in (place or partition).split('.'))
    moved = {}
    if again and (occasion is None or place):
        moved = observations.read_places(connection, again, f'${path}')
    found = []
    for record in records:
        if record.id in passing:
            record = replace(record, **vars(passing[record.id]))
        if record.id in moved:
            context = {**record.context, partition: moved[record.id][partition]}
            record = replace(record, context=context)
        links = linked.get(record.id, NO_LINKS)
        found.append(replace(record, evidence=evidence.get(record.id), links=links))
    return found
