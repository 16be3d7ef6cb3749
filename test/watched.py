"""Processes watched from inside: the addresses they try, names they look up, what they write."""

from __future__ import annotations

import ipaddress
import os
import shutil
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

SHIM = Path(__file__).with_name('watched.cpp')
DISCOVERY = ipaddress.ip_address('239.255.0.1')
"""The group that DDS participants find each other through."""
FIRST_DDS_PORT = 7400


STORE_FILES = r'memory\.db(-wal|-shm|-journal)?|\.memory\.db\.(writing|reserve(\.part)?)'
"""Names of what a process may write beside a store."""


@dataclass(frozen=True)
class Watch:
    """A fresh home, and a library in each process started there that notes what it does."""

    home: Path
    log: Path
    library: Path

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment to start a process in."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith('XDG_')}
        kept.pop('ORT_DISABLE_TELEMETRY', None)
        return {
            **kept,
            'HOME': str(self.home),
            'TMPDIR': str(self.home / 'tmp'),
            'LD_PRELOAD': str(self.library),
            'WATCHED_LOG': str(self.log),
            'PYTHONDONTWRITEBYTECODE': '1',
        }

    def events(self) -> list[tuple[str, str]]:
        """Return (call, object) of each name looked up, address tried, file opened to write."""
        lines = self.log.read_text(errors='replace').splitlines()
        return [(call, what) for call, _, what in (line.partition(' ') for line in lines)]

    def tried(self) -> set[str]:
        """Return the names and addresses tried, but for this machine's own and DDS discovery."""
        return {
            f'{call} {what}'
            for call, what in self.events()
            if call != 'open' and not _stays_here(call, what)
        }

    def written(self) -> set[str]:
        """
        Return the files that were opened to write and those in the home; in it, relative.

        Those of coverage, which measures every process of `make coverage`, are left out, and so
        are devices and shared memory, but for the folders of the tests, which may be in it.
        """
        opened = {os.path.normpath(what) for call, what in self.events() if call == 'open'}
        there = {str(path) for path in self.home.rglob('*') if path.is_file()}
        ours, left_out = f'{self.home.parents[1]}/', ('/dev/', '/proc/')
        return {
            name.removeprefix(f'{self.home}/')
            for name in opened | there
            if name.startswith(ours) or not name.startswith(left_out)
            if not name.startswith(tuple(_list_measurements()))
        }


def _list_measurements() -> list[str]:
    """Return what the names of coverage's data files begin with, where it measures."""
    if 'COVERAGE_PROCESS_CONFIG' not in os.environ:
        return []
    import coverage

    measuring = coverage.Coverage.current()
    assert measuring, 'processes are measured, but not this one'
    return [f'{os.path.abspath(str(measuring.get_option("run:data_file")))}.']


def _stays_here(call: str, what: str) -> bool:
    if call == 'lookup':
        return False
    host, _, port = what.rpartition(' ')
    address = ipaddress.ip_address(host)
    if address == DISCOVERY:
        return int(port) >= FIRST_DDS_PORT
    return address.is_loopback or address.is_unspecified or _is_own(address)


def _is_own(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Say whether an interface of this machine has the address: only then can it be bound."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((str(address), 0))
        except OSError:
            return False
    return True


def build_library(folder: Path) -> Path:
    """Compile the library; skip where there is no compiler, which only a build with ROS needs."""
    compiler = shutil.which('g++')
    if compiler is None:
        pytest.skip('watching a process needs g++')
    library = folder / 'watched.so'
    flags = ['-shared', '-fPIC', '-O1', '-std=c++17', '-o', str(library), str(SHIM), '-ldl']
    subprocess.run([compiler, *flags], check=True)
    return library
