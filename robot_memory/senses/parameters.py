"""The node's parameter file, read without ROS: so that an import runs with the same settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from robot_memory.errors import InvalidArgument, NotFound
from robot_memory.json_text import shown

_NODE = 'robot_memory'


def read_parameters(path: Path) -> dict[str, Any]:
    """
    Return the parameters that a file gives to the node robot_memory, by their dotted names.

    The keys /**, /*, robot_memory and any with a namespace before it count, later ones win, as in
    ROS. Raise NotFound, or InvalidArgument for a file that is none of parameters.
    """
    try:
        loaded = yaml.safe_load(path.read_text(encoding='utf-8'))
    except OSError as error:
        raise NotFound(f'{path} cannot be read: {error}') from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InvalidArgument(f'{path} is not YAML: {" ".join(str(error).split())}') from None
    if not isinstance(loaded, dict):
        raise InvalidArgument(f'{path} holds {shown(loaded)}; accepted: /**: ros__parameters: ...')
    found: dict[str, Any] = {}
    for key, values in _nodes('', loaded):
        if key.rpartition('/')[2] in ('**', '*', _NODE):
            found.update(_flat('', values))
    if not found:
        raise InvalidArgument(
            f'{path} gives no parameters to {_NODE}; accepted: /**: ros__parameters: ...'
        )
    return found


def _nodes(prefix: str, loaded: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the name of each node, namespaces may nest, and its parameters."""
    for key, value in loaded.items():
        if not isinstance(value, Mapping):
            continue
        name = f'{prefix}/{key}'
        if isinstance(value.get('ros__parameters'), Mapping):
            yield name, value['ros__parameters']
        else:
            yield from _nodes(name, value)


def _flat(prefix: str, values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        name = f'{prefix}{key}'
        if isinstance(value, Mapping):
            yield from _flat(f'{name}.', value)
        else:
            yield name, value


def taps_of(parameters: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Return the settings that parameters give to each of the named taps."""
    return {
        name: {
            key.removeprefix(f'{name}.'): value
            for key, value in parameters.items()
            if key.startswith(f'{name}.')
        }
        for name in filter(None, names)
    }
