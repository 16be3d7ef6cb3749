"""What a memory replaces, what replaces it, and what it disagrees with, as answers have it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from robot_memory.core.clock import format_instant
from robot_memory.core.fields import arg, to_plain
from robot_memory.core.records import NO_LINKS, Record
from robot_memory.text.quoting import format_label, quote

REPLACES = 'Id of the older memory that this one replaces; both are active.'
REPLACED_BY = 'Id of the newer memory that replaces this one; both are active.'
REPLACEMENT = 'What this one replaced: its text, who replaced it, and when.'
DISAGREES = 'Ids of memories that it disagrees with until an operator decides; see review.'
_LONGEST = 120


@dataclass(frozen=True)
class ReplacementView:
    """What a memory replaced."""

    content: str = arg('Text of the memory that was replaced.')
    replaced_by: str = arg('Who stated the newer one.')
    at: str = arg('When it was stated, UTC, ISO 8601.')


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
