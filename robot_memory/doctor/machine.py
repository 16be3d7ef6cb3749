"""Checks of what the machine gives: open files, the port of MCP, the environment of ROS."""

from __future__ import annotations

import importlib.util
import os
import re
import resource
from collections.abc import Iterator
from pathlib import Path

from robot_memory.core.errors import InvalidArgument, Unavailable
from robot_memory.core.json_text import format_value
from robot_memory.doctor.finding import Finding, Installation, NotChecked, read_finding
from robot_memory.http.access_control import parse_address
from robot_memory.http.port import listen
from robot_memory.storage.lock_owners import find_users, name_processes

_PROCESSES = Path('/proc')
_LEAST_FILES = 256
"""Open files that a node with its clients may need."""
_NEARLY = 0.9
_RAISE = 'raise it: `ulimit -n 4096` in the shell, LimitNOFILE=4096 in the systemd unit'
_LISTENING = '0A'
_LAST_DOMAIN = 232


def check_files(installation: Installation) -> Iterator[Finding]:
    """Yield a limit of open files that is low, and processes of the store that have reached it."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < _LEAST_FILES:
        yield Finding(
            'open files',
            f'a process here may open {soft} files, fewer than {_LEAST_FILES}',
            _RAISE,
        )
    for pid in find_users(installation.path):
        opened, most = _count_files(pid)
        if most and opened > _NEARLY * most:
            yield Finding(
                'open files',
                f'{name_processes([pid])} has {opened} files open, it may have {most}',
                f'close connections that nobody uses, or restart it; {_RAISE}',
            )


def _count_files(pid: int) -> tuple[int, int]:
    """Return how many files a process has open and may have; 0 where that is not known."""
    folder = _PROCESSES / str(pid)
    try:
        limits = (folder / 'limits').read_text(encoding='ascii')
        opened = len(os.listdir(folder / 'fd'))
    except OSError:
        return 0, 0
    found = re.search(r'^Max open files\s+(\d+)', limits, re.MULTILINE)
    return opened, int(found[1]) if found else 0


def check_port(installation: Installation) -> Iterator[Finding]:
    """Yield a port of MCP that cannot be had, unless a process of this very store has it."""
    mcp = installation.mcp
    if not mcp.mcp_enabled:
        raise NotChecked('mcp_enabled is false')
    if not mcp.mcp_port:
        raise NotChecked('mcp_port is 0: any free port')
    if installation.params is None and find_users(installation.path):
        raise NotChecked('a process has the store open already; --params names its port')
    try:
        address = parse_address(mcp.mcp_host)
    except InvalidArgument as error:
        raise NotChecked(str(error)) from error
    try:
        listen(address, mcp.mcp_port).close()
    except Unavailable as error:
        holders = _find_listeners(mcp.mcp_port)
        if set(holders) & {*find_users(installation.path), os.getpid()}:
            return
        found = read_finding('port', error)
        who = f' ({name_processes(holders)})' if holders else ''
        yield Finding('port', f'{found.found}{who}', found.cure)


def _find_listeners(port: int) -> list[int]:
    """Return the processes that listen on a TCP port, as far as this user may see that."""
    sockets = {f'socket:[{inode}]' for inode in _list_listening(port)}
    if not sockets:
        return []
    return [
        int(folder.name)
        for folder in _PROCESSES.iterdir()
        if folder.name.isdigit() and sockets & _list_links(folder / 'fd')
    ]


def _list_listening(port: int) -> Iterator[str]:
    for name in ('tcp', 'tcp6'):
        try:
            _, *lines = (_PROCESSES / 'net' / name).read_text(encoding='ascii').splitlines()
        except (OSError, ValueError):
            continue
        for _, local, _, state, *rest in map(str.split, lines):
            if state == _LISTENING and int(local.rpartition(':')[2], 16) == port:
                yield rest[5]


def _list_links(folder: Path) -> set[str]:
    """Return what the links of a folder lead to, without those that are gone."""
    found = set()
    try:
        for name in os.listdir(folder):
            found.add(os.readlink(folder / name))
    except OSError:
        return found
    return found


def check_ros(_: Installation) -> Iterator[Finding]:
    """Yield what the environment says that ROS 2 does not accept."""
    if importlib.util.find_spec('rclpy') is None:
        raise NotChecked('no ROS 2 is sourced')
    domain = os.environ.get('ROS_DOMAIN_ID', '')
    if domain and not (domain.isdigit() and int(domain) <= _LAST_DOMAIN):
        yield Finding(
            'ros',
            f'ROS_DOMAIN_ID is {format_value(domain)}',
            f'set it to a number from 0 to {_LAST_DOMAIN}, the same on all machines',
        )
    chosen = os.environ.get('RMW_IMPLEMENTATION', '')
    known = _list_middleware()
    if chosen and known and chosen not in known:
        package = chosen.replace('_', '-')
        yield Finding(
            'ros',
            f'RMW_IMPLEMENTATION is {format_value(chosen)}, which is not installed; there is '
            f'{", ".join(known)}',
            f'unset it, set it to one of these, or `sudo apt install ros-$ROS_DISTRO-{package}`',
        )


def _list_middleware() -> list[str]:
    """Return the implementations of the middleware that are installed, as the index names them."""
    prefixes = filter(None, os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep))
    index = 'share/ament_index/resource_index/rmw_typesupport'
    return sorted({file.name for prefix in prefixes for file in Path(prefix, index).glob('rmw_*')})
