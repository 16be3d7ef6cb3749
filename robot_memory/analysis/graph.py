"""What belongs together: objects, parameters, robots, tasks and tags that records name at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from robot_memory.analysis.window import Analysis, Window, cite, format_ids
from robot_memory.core.records import Record
from robot_memory.text.categories import CONFIDENCES

_LEAST = 2
_NODES = 200
_EDGES = 300
_OF_ONE = 20
"""Nodes that are taken of one record; its pairs grow with their square."""
_EXAMPLES = 10
_LONGEST = 100
_IDENTITIES = ('id', 'name', 'type', 'model')
_OBJECTS = ('object', 'objects', 'target', 'target_object')
_TROUBLE = ('gotcha', 'postmortem')

Node = tuple[str, str]
"""A kind (object, parameter, robot, task, tag) and a name."""


def analyse(window: Window) -> Analysis:
    """Join what is named together on at least two occasions: an exchange of words is one."""
    holders: dict[Node, list[Record]] = defaultdict(list)
    together: dict[tuple[Node, Node], list[Record]] = defaultdict(list)
    crowded = 0
    counted: set[tuple[object, str]] = set()

    def is_new(what: object, record: Record) -> bool:
        occasion = (what, record.event_id or f'mem_{record.id}')
        known = occasion in counted
        counted.add(occasion)
        return not known

    for record in window.records:
        found = sorted(set(_list_nodes(record)))
        crowded += len(found) > _OF_ONE
        for node in found[:_OF_ONE]:
            if is_new(node, record):
                holders[node].append(record)
        for pair in combinations(found[:_OF_ONE], 2):
            if is_new(pair, record):
                together[pair].append(record)
    nodes = sorted(holders.items(), key=lambda item: (-len(item[1]), item[0]))
    shown = {node for node, _ in nodes[:_NODES]}
    edges = sorted(
        (item for item in together.items() if len(item[1]) >= _LEAST),
        key=lambda item: (-len(item[1]), item[0]),
    )
    kept = [item for item in edges if shown.issuperset(item[0])][:_EDGES]
    results = {
        'records': len(window.records),
        'nodes': [
            {'id': _format_node(node), 'kind': node[0], 'name': node[1], 'count': len(records)}
            for node, records in nodes[:_NODES]
        ],
        'edges': [
            {
                'from': _format_node(one),
                'to': _format_node(other),
                'count': len(records),
                'record_ids': format_ids(records, _EXAMPLES),
            }
            for (one, other), records in kept
        ],
        'nodes_left_out': len(nodes[_NODES:]),
        'edges_left_out': len(edges) - len(kept),
        'records_with_more_nodes_than_taken': crowded,
        'cannot_say': _list_unknowns(window.records, nodes, edges),
    }
    return Analysis(
        results, tuple(_derive_insights(nodes, edges)), tuple(_derive_recommendations(nodes))
    )


def _list_unknowns(
    records: Sequence[Record], nodes: Sequence[object], edges: Sequence[object]
) -> list[str]:
    if not records:
        return ['The window has no records.']
    if not nodes:
        return ['No record names an object, parameter, robot, task or tag.']
    return [] if edges else ['No pair of entities occurs in two records.']


def _format_node(node: Node) -> str:
    return ':'.join(node)


def _list_nodes(record: Record) -> Iterator[Node]:
    """Give what a record names: from its context's partitions, and its tags."""
    for tag in record.tags:
        if tag not in CONFIDENCES:
            yield 'tag', tag[:_LONGEST]
    context = record.context
    spatial = context.get('spatial')
    for part in (context, spatial if isinstance(spatial, Mapping) else {}):
        for key in _OBJECTS:
            yield from (('object', text) for text in _list_names(part.get(key)))
    params = context.get('params')
    if isinstance(params, Mapping):
        yield from (('parameter', str(name)[:_LONGEST]) for name in params)
    for kind in ('robot', 'task'):
        yield from ((kind, text) for text in _list_names(context.get(kind)))


def _list_names(value: Any) -> Iterator[str]:
    """Give the names in a value: a text, an object's identity, or those of a list."""
    if isinstance(value, str) and value.strip():
        yield value.strip()[:_LONGEST]
    elif isinstance(value, Mapping):
        named = next((value[key] for key in _IDENTITIES if isinstance(value.get(key), str)), None)
        yield from _list_names(named)
    elif isinstance(value, list):
        for item in value[:_OF_ONE]:
            if not isinstance(item, list):
                yield from _list_names(item)


def _derive_insights(
    nodes: Sequence[tuple[Node, list[Record]]],
    edges: Sequence[tuple[tuple[Node, Node], list[Record]]],
) -> Iterator[str]:
    for (one, other), records in edges[:5]:
        yield (
            f'{one[0]} {one[1]!r} and {other[0]} {other[1]!r} occur together in {len(records)} '
            f'records ({cite(records)}).'
        )
    joined = {node for pair, _ in edges for node in pair}
    for node, records in nodes:
        if node not in joined and len(records) >= _LEAST and node[0] != 'tag':
            yield (
                f'{node[0]} {node[1]!r} is isolated: {len(records)} records name nothing else '
                f'twice with it ({cite(records)}).'
            )
            return


def _derive_recommendations(nodes: Sequence[tuple[Node, list[Record]]]) -> Iterator[str]:
    for node, records in nodes:
        trouble = [record for record in records if record.category in _TROUBLE]
        if node[0] in ('object', 'task', 'robot') and len(trouble) >= _LEAST:
            yield (
                f'Handle {node[0]} {node[1]!r} with care: {len(trouble)} gotchas and postmortems '
                f'name it ({cite(trouble)}).'
            )
