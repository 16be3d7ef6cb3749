"""Checks of settings: of the environment and files, of a node's parameters, and of its tokens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from robot_memory.core.configuration import read_fallbacks
from robot_memory.core.errors import InvalidArgument, RobotMemoryError
from robot_memory.core.fields import check, get_fields
from robot_memory.core.params_file import read_any_node_params
from robot_memory.core.settings import (
    McpSettings,
    NodeSettings,
    Settings,
    find_store_path,
    refuse_unusable,
)
from robot_memory.core.zones import get_zone
from robot_memory.doctor.finding import Finding, Installation, NotChecked, read_finding
from robot_memory.http.access_control import AccessControl, parse_address
from robot_memory.http.token import read_principals
from robot_memory.ingest import IngestSettings, PoseSourceSettings
from robot_memory.ingest.parameters import check_parameters, group_by_tap
from robot_memory.ingest.tap import make_tap


def check_settings(installation: Installation) -> Iterator[Finding]:
    """Yield values of the environment, ~/.sage/config.json and options that are not taken."""
    settings = installation.settings
    try:
        problem = read_fallbacks(given=['db_path']).warnings
    except RobotMemoryError as error:
        problem = [str(error)]
    for text in problem:
        yield Finding('settings', text, 'correct it, or remove it from where it is named')
    for ask in (lambda: refuse_unusable(settings), lambda: get_zone(settings.time_zone)):
        try:
            ask()
        except RobotMemoryError as error:
            yield read_finding('settings', error)


def check_params(installation: Installation) -> Iterator[Finding]:
    """Yield what is wrong in the node's parameter file: names that it has not, values."""
    if installation.params is None:
        raise NotChecked('no parameter file is named (--params)')
    path = installation.params
    try:
        given = read_any_node_params(path)
    except RobotMemoryError as error:
        yield read_finding('parameters', error, f'correct {path}, or name another file')
        return
    for text in _list_refused(given, path):
        yield Finding('parameters', text, f'correct or remove it in {path}')


def _list_refused(given: Mapping[str, Any], path: Path) -> Iterator[str]:
    """Yield what of parameters the node does not have, or does not accept."""
    problem = ''
    try:
        check_parameters(given, str(path))
    except InvalidArgument as error:
        problem = str(error)
        yield problem
    for declaration in (Settings, McpSettings, NodeSettings, IngestSettings, PoseSourceSettings):
        _, refused = split_values(declaration, given)
        yield from (f'{path}: {text}' for text in refused)
    names = given.get('taps')
    taps = names if isinstance(names, list) else IngestSettings().taps
    for tap, values in group_by_tap(given, map(str, taps)).items():
        try:
            make_tap(tap, values)
        except InvalidArgument as error:
            if str(error) != problem:
                yield f'{path}: {error}'


def split_values(declaration: type, given: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the values of a declaration's fields that are accepted, and why others are not."""
    values: dict[str, Any] = {}
    refused = []
    for field in get_fields(declaration):
        value = given.get(field.name)
        if value in (None, ''):
            continue
        try:
            values[field.attribute] = check(field, value)
        except InvalidArgument as error:
            refused.append(str(error))
            continue
        if field.kind == 'number' and isinstance(value, int):
            refused.append(
                f'{field.name} is {value}, an integer: ROS parameters are typed, write {value}.0'
            )
    return values, refused


def apply_params(installation: Installation) -> Installation:
    """Return the installation with what the node's parameter file says, as far as it can be."""
    if installation.params is None:
        return installation
    try:
        given = read_any_node_params(installation.params)
    except RobotMemoryError:
        return installation
    before, default = installation.settings, Settings()
    values, _ = split_values(Settings, given)
    own = {name: one for name, one in values.items() if _is_default(before, default, name)}
    settings = replace(before, **own)
    mcp = McpSettings(**split_values(McpSettings, given)[0])
    try:
        path = find_store_path(settings)
    except RobotMemoryError:
        path = installation.path
    return replace(installation, path=path, settings=settings, mcp=mcp)


def _is_default(settings: Settings, default: Settings, name: str) -> bool:
    return bool(getattr(settings, name) == getattr(default, name))


def check_tokens(installation: Installation) -> Iterator[Finding]:
    """Yield what is wrong with the tokens of MCP, or that there is none where one is needed."""
    mcp = installation.mcp
    if not mcp.mcp_enabled:
        raise NotChecked('mcp_enabled is false')
    try:
        principals = read_principals(mcp.mcp_token_file)
        AccessControl.create(parse_address(mcp.mcp_host), principals, mcp.mcp_allowed_hosts)
    except RobotMemoryError as error:
        yield read_finding('tokens', error)
