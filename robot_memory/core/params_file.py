"""Parameter files of ROS 2 nodes, read without ROS: whom they name, and what they give."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from robot_memory.core.errors import InvalidArgument, NotFound
from robot_memory.core.json_text import format_value

NODE = 'robot_memory'
"""The node's name where it was given no other."""
_TOKENS = {'**': r'(?:/\w+)*', '*': r'/\w+'}
_Loader: Any = type('_Loader', (yaml.SafeLoader,), {})
"""Reads 1e3 as a number, as ROS does; in YAML 1.1 it is a text."""
_Loader.add_implicit_resolver(
    'tag:yaml.org,2002:float',
    re.compile(r'[-+]?(?:\d+\.?\d*|\.\d+)[eE][-+]?\d+$'),
    [*'-+.0123456789'],
)


def load_yaml(text: str) -> Any:
    """Return what YAML holds; raise yaml.YAMLError for what is none."""
    return yaml.load(text, _Loader)


def read_yaml(path: Path, what: str) -> Any:
    """Return what a file of YAML holds; raise OSError, or InvalidArgument for what is none."""
    try:
        return load_yaml(path.read_text(encoding='utf-8'))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InvalidArgument(
            f'{what} is not valid YAML: {" ".join(str(error).split())}'
        ) from None


def read_node_params(path: Path, node: str) -> dict[str, Any]:
    """
    Return the parameters that a file gives to a node, by their dotted names, later ones win.

    `node` is the full name, as /cell_1/robot_memory. Raise NotFound where there is no such file,
    InvalidArgument where it is none of parameters or none of its keys fits the node.
    """
    return _merge_matching(path, lambda key: matches_node(key, node), node)


def read_any_node_params(path: Path) -> dict[str, Any]:
    """
    Return what a file gives to a node of the name robot_memory, in whatever namespace.

    Raise as `read_node_params` does.
    """
    return _merge_matching(path, lambda key: key.rpartition('/')[2] in (*_TOKENS, NODE), NODE)


def read_keys(path: Path) -> list[tuple[str, Mapping[str, Any]]]:
    """
    Return the keys of a file, each with the parameters below it.

    Raise NotFound where it cannot be read, InvalidArgument where it is no YAML of that form.
    """
    try:
        loaded = read_yaml(path, str(path))
    except OSError as error:
        raise NotFound(f'cannot read the parameter file {path}: {error.strerror}') from None
    if not isinstance(loaded, dict):
        raise InvalidArgument(
            f'{path} contains {format_value(loaded)}; accepted: /**: ros__parameters: ...'
        )
    return list(_iterate_nodes('', loaded))


def matches_node(key: str, node: str) -> bool:
    """Say whether a key of a file fits a node's full name, by the rules of ROS."""
    tokens = key.strip('/').split('/')
    pattern = ''.join(_TOKENS.get(token, f'/{re.escape(token)}') for token in tokens)
    return re.fullmatch(pattern, node) is not None


def find_params_files(arguments: Sequence[str]) -> list[Path]:
    """Return the parameter files that the arguments of a process name after --ros-args."""
    found = []
    for_ros = False
    for at, argument in enumerate(arguments):
        if argument in ('--ros-args', '--'):
            for_ros = argument == '--ros-args'
        elif for_ros and argument == '--params-file' and at + 1 < len(arguments):
            found.append(Path(arguments[at + 1]))
    return found


def _iterate_nodes(
    prefix: str, loaded: Mapping[Any, Any]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the name of each node, namespaces may nest, and its parameters."""
    for key, value in loaded.items():
        if not isinstance(value, Mapping):
            continue
        name = f'{prefix}/{str(key).strip("/")}'
        if isinstance(value.get('ros__parameters'), Mapping):
            yield name, value['ros__parameters']
        else:
            yield from _iterate_nodes(name, value)


def _merge_matching(path: Path, is_meant: Callable[[str], bool], who: str) -> dict[str, Any]:
    """Return what the keys of a file that are meant give; later ones win."""
    keys = read_keys(path)
    found = [values for key, values in keys if is_meant(key)]
    if not found:
        raise InvalidArgument(
            f'{path} has no parameters for {who}: its keys are '
            f'{", ".join(key for key, _ in keys) or "none"}; accepted: {who}, or /** for any '
            'node and namespace, with ros__parameters below it'
        )
    return {name: value for values in found for name, value in _flatten('', values)}


def _flatten(prefix: str, values: Mapping[Any, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        name = f'{prefix}{key}'
        if isinstance(value, Mapping):
            yield from _flatten(f'{name}.', value)
        else:
            yield name, value
