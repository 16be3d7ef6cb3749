"""The node's parameters, read without ROS: so that an import runs with the same settings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

from robot_memory.core import params_file
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import get_fields
from robot_memory.core.json_text import format_value
from robot_memory.core.settings import McpSettings, NodeSettings, Settings
from robot_memory.ingest.ingest_settings import IngestSettings
from robot_memory.ingest.pose_source import PoseSourceSettings
from robot_memory.ingest.tap import TapSettings, get_detector_settings

OF_ROS = ('use_sim_time', 'start_type_description_service')
"""Parameters that every node has."""
LIVE_INGEST = ('demonstration',)
"""The settings of `IngestSettings` that can be changed while the node runs."""
_QOS = 'qos_overrides.'


def read_parameters(path: Path) -> dict[str, Any]:
    """
    Return the parameters that a file gives to the node robot_memory, by their dotted names.

    Raise NotFound or InvalidArgument for a file that gives it none, InvalidArgument for a name
    that the node does not have.
    """
    found = params_file.read_any_node_params(path)
    check_parameters(found, str(path))
    return found


def check_parameters(found: Mapping[str, Any], origin: str) -> None:
    """Raise InvalidArgument for a name that the node does not have; `origin` says who set it."""
    names = found.get('taps')
    taps = group_by_tap(found, names if isinstance(names, list) else IngestSettings().taps)
    declared = (Settings, McpSettings, NodeSettings, IngestSettings, PoseSourceSettings)
    known = list_names(*declared) + list(OF_ROS)
    for tap, given in taps.items():
        known += [f'{tap}.{name}' for name in _list_tap_names(tap, given)]
    wrong = find_unknown(found, known, taps)
    if wrong:
        raise InvalidArgument(
            f'{origin} sets {", ".join(wrong)} for the node {params_file.NODE}, which has no such '
            f'parameter{_suggest(wrong, known)}; `memory_node --help` lists all parameters'
        )


def read_assignments(texts: Iterable[str]) -> dict[str, Any]:
    """Return the values of NAME=VALUE by name, typed as in YAML; raise InvalidArgument."""
    found = {}
    for text in texts:
        name, equals, value = text.partition('=')
        if not name.strip() or not equals:
            raise InvalidArgument(
                f'set must be NAME=VALUE, such as wrench.onset_n=1, not {format_value(text)}'
            )
        try:
            found[name.strip()] = params_file.load_yaml(value)
        except yaml.YAMLError:
            raise InvalidArgument(f'set has no valid value: {format_value(text)}') from None
    return found


def list_names(*declarations: type) -> list[str]:
    """Return the names of the fields of declarations."""
    return [field.name for declaration in declarations for field in get_fields(declaration)]


def _list_tap_names(tap: str, given: Mapping[str, Any]) -> list[str]:
    common = list_names(TapSettings)
    shared = {name: value for name, value in given.items() if name in common}
    return common + list_names(get_detector_settings(tap, shared))


def find_unknown(given: Iterable[str], known: Collection[str], taps: Iterable[str]) -> list[str]:
    """
    Return the names that were given and that the node does not have.

    Raise InvalidArgument for those that begin with the name of a tap: they are mistyped.
    """
    wrong = [name for name in given if name not in known and not name.startswith(_QOS)]
    mistyped = [name for name in wrong if name.startswith(tuple(f'{tap}.' for tap in taps))]
    if mistyped:
        tap = mistyped[0].partition('.')[0]
        prefix = f'{tap}.'
        takes = sorted(name.removeprefix(prefix) for name in known if name.startswith(prefix))
        raise InvalidArgument(
            f'unknown parameter {", ".join(mistyped)}; {tap} accepts {", ".join(takes)}'
        )
    return wrong


def _suggest(wrong: Iterable[str], known: Collection[str]) -> str:
    """Return what the names may stand for, in words."""
    near = {near for name in wrong for near in get_close_matches(name, known, 1)}
    return f' ({", ".join(sorted(near))}?)' if near else ''


def group_by_tap(parameters: Mapping[str, Any], names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the settings that parameters give to each of the named taps."""
    return {
        name: {
            key.removeprefix(f'{name}.'): value
            for key, value in parameters.items()
            if key.startswith(f'{name}.')
        }
        for name in filter(None, names)
    }
