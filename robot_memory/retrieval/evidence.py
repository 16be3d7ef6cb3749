"""What the occasions of memories come to, and what replaces what, as answers have it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from robot_memory.core.clock import format_instant, format_instants
from robot_memory.core.evidence import describe_evidence
from robot_memory.core.fields import arg, to_plain
from robot_memory.core.records import NO_LINKS, Record, is_simulated
from robot_memory.text.quoting import format_label, quote

OBSERVED = 'How often and how well it was observed; facts only.'
REPLACES = 'Id of the older memory that this one replaces; both are active.'
REPLACED_BY = 'Id of the newer memory that replaces this one; both are active.'
REPLACEMENT = 'What this one replaced: its text, who replaced it, and when.'
DISAGREES = 'Ids of memories that it disagrees with until an operator decides; see review.'
_LONGEST = 120


@dataclass(frozen=True)
class ObservedView:
    """How often and how well a fact was observed, its first statement included."""

    count: int = arg('Number of occasions outside of simulation, the first statement included.')
    first_at: str = arg('First occasion, UTC, ISO 8601.', typed='instant')
    last_at: str = arg('Last occasion, UTC, ISO 8601.', typed='instant')
    tries: int = arg('Occasions outside of simulation whose context has task.success.')
    successes: int = arg('Those of them where task.success is true.')
    simulated_count: int = arg('Number of occasions in simulation (env.sim_or_real: sim).')
    simulated_tries: int = arg('Occasions in simulation whose context has task.success.')
    simulated_successes: int = arg('Those of them where task.success is true.')


def view_observed(record: Record, times: Mapping[int, str] | None = None) -> ObservedView | None:
    """
    Return the view of what was observed of a record; None where it was not read.

    `times` has its instants in words, where many are shown.
    """
    found = record.evidence
    if found is None:
        return None
    if times is None:
        times = format_instants((found.first_at, found.last_at))
    return ObservedView(
        found.count,
        times[found.first_at],
        times[found.last_at],
        found.tries,
        found.successes,
        found.simulated_count,
        found.simulated_tries,
        found.simulated_successes,
    )


def view_evidence(record: Record, times: Mapping[int, str]) -> dict[str, Any]:
    """Return the fields of a view that tell what was observed of a record, and its links."""
    return {
        'observed': view_observed(record, times),
        'simulated': is_only_simulated(record) or None,
        **view_links(record),
    }


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


@dataclass(frozen=True)
class ReplacementView:
    """What a memory replaced."""

    content: str = arg('Text of the memory that was replaced.')
    replaced_by: str = arg('Who stated the newer one.')
    at: str = arg('When it was stated, UTC, ISO 8601.', typed='instant')


def view_replacement(record: Record) -> ReplacementView | None:
    """Return the view of what a record replaced."""
    old = record.links.replaces
    if old is None:
        return None
    return ReplacementView(old.content, old.replaced_by, format_instant(old.at))


def view_links(record: Record) -> dict[str, Any]:
    """Return the fields of a view that tell the links of a record; none where it has no links."""
    links = record.links
    if links is NO_LINKS:
        return {}
    return {
        'replaces': None if links.replaces is None else links.replaces.memory_id,
        'replaced_by': links.replaced_by,
        'replacement': view_replacement(record),
        'disagrees': links.disagrees or None,
    }


def describe_links(record: Record) -> dict[str, Any]:
    """Return in metadata the links that a record has."""
    found = view_links(record)
    plain = {**found, 'replacement': to_plain(found.get('replacement'))}
    return {name: value for name, value in plain.items() if value is not None}


def format_links(metadata: dict[str, Any]) -> str:
    """Return in words, for a prompt, the links that the metadata of a result name."""
    said = ''
    old = metadata.get('replacement')
    if metadata.get('replaces') and isinstance(old, dict):
        said += (
            f' (replaces mem_{metadata["replaces"]} since {old["at"][:10]}, by '
            f'{format_label(old["replaced_by"])}: {quote(old["content"], _LONGEST)})'
        )
    if metadata.get('replaced_by'):
        said += f' (replaced by mem_{metadata["replaced_by"]})'
    if metadata.get('disagrees'):
        names = ', '.join(f'mem_{each}' for each in metadata['disagrees'])
        said += f' (disagrees with {names}; not decided)'
    return said
