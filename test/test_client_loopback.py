"""With every proxy variable set to a dead address, what is on this machine is asked directly."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp import Client
from proxies import DEAD_PROXIES
from robots import Robot

from robot_memory.client import MemoryClient, SageClient
from robot_memory.client.loopback import exempt_loopback
from robot_memory.mcp_server import HttpBridge

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def bridge(robot: Robot, monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpBridge]:
    for name, value in DEAD_PROXIES.items():
        monkeypatch.setenv(name, value)
    bridge = HttpBridge(robot.memory, port=0, tools='all')
    bridge.start()
    yield bridge
    bridge.stop()


def test_our_clients_ask_a_server_on_this_machine_directly(bridge: HttpBridge) -> None:
    with SageClient(port=bridge.port) as sage, MemoryClient(bridge.url) as memory:
        assert sage.get_stats()
        assert memory.query_records()['total_count'] == 0


@pytest.mark.anyio
async def test_an_mcp_client_asks_the_loopback_directly_once_it_is_exempt(
    bridge: HttpBridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.RaisesGroup(
        pytest.RaisesExc(Exception, match='connection'),
        allow_unwrapped=True,
        flatten_subgroups=True,
    ):
        async with Client(bridge.url) as client:
            await client.list_tools()
    environment = {'NO_PROXY': 'robots.example'}
    exempt_loopback(environment)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    async with Client(bridge.url) as client:
        assert (await client.list_tools()).tools


def test_the_conformance_script_asks_its_own_server_directly(bridge: HttpBridge) -> None:
    path = ROOT / 'scripts/conformance.py'
    spec = importlib.util.spec_from_file_location('conformance_proxied', path)
    assert spec is not None and spec.loader is not None
    conformance = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(conformance)
    assert 'tools' in conformance.read_capabilities(bridge.url)


def test_what_is_exempt_already_stays_exempt() -> None:
    environment = {'NO_PROXY': 'robots.example, 10.0.0.0/8', 'no_proxy': '*'}
    exempt_loopback(environment)
    hosts = 'robots.example,10.0.0.0/8,*,localhost,127.0.0.1,::1'
    assert environment == {'NO_PROXY': hosts, 'no_proxy': hosts}
