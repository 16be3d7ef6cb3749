"""What a node holds while it is inactive or active: MCP's port, the store, services and MCP."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import socket
import threading

from rclpy.node import Node

from robot_memory.core.authority import THE_STORE
from robot_memory.core.settings import McpSettings, NodeSettings, Settings, find_store_path
from robot_memory.http.access_control import AccessControl, parse_address
from robot_memory.http.port import listen
from robot_memory.http.token import read_principals
from robot_memory.lifecycle.authority import calling
from robot_memory.lifecycle.maps import begin_map
from robot_memory.memory import Memory
from robot_memory.ros.actions import Actions
from robot_memory.ros.services import Services
from robot_memory.storage.read_only import ReadOnlyStore

logger = logging.getLogger(__name__)
_PATIENCE_SECONDS = 1.0
"""How long calls that are under way have to end in when the store closes."""


class Serving:
    """
    Hold an open store, its services and its MCP server; calls are refused until they are let in.

    The port is taken before the store is opened: a second node must not carry out a call.
    """

    def __init__(
        self,
        node: Node,
        settings: Settings,
        mcp_settings: McpSettings,
        own_settings: NodeSettings,
        refusal: str,
    ) -> None:
        """
        Open them, and refuse calls with the words `refusal`.

        Raise a RobotMemoryError where the store cannot be opened, what the MCP settings are
        refused with, Unavailable where the port is taken.
        """
        self._mcp_settings = mcp_settings
        with contextlib.ExitStack() as closers:
            listening = _take_port(mcp_settings)
            if listening is not None:
                closers.callback(listening.close)
            self.memory = closers.enter_context(
                Memory(settings, upgrade=True, read_only_fallback=True)
            )
            self.memory.admission.refuse(refusal)
            _begin_map(self.memory, own_settings)
            services = Services(node, self.memory)
            closers.callback(services.close)
            actions = Actions(node, self.memory)
            closers.callback(actions.close)
            closers.callback(self.memory.admission.wait_until_empty, _PATIENCE_SECONDS)
            self._closers = closers.pop_all()
        logger.info('store: %s', find_store_path(settings))
        self._serve_mcp(listening)

    def _serve_mcp(self, listening: socket.socket | None) -> None:
        """Serve MCP soon: importing its SDK takes most of a second; clients wait at the port."""
        if listening is None:
            logger.info('MCP: off')
            return
        starter = threading.Thread(
            target=self._start_bridge, args=(listening,), name='mcp-start', daemon=True
        )
        self._stop = contextlib.ExitStack()
        starter.start()
        self._closers.callback(self._stop_bridge, starter)

    def _start_bridge(self, listening: socket.socket) -> None:
        from robot_memory.mcp_server import HttpBridge

        settings = self._mcp_settings
        try:
            bridge = HttpBridge(
                self.memory,
                settings.mcp_host,
                settings.mcp_port,
                token_file=settings.mcp_token_file,
                allowed_hosts=settings.mcp_allowed_hosts,
                tools=settings.mcp_tools,
                output_schemas=settings.mcp_output_schemas,
                listening=listening,
            )
            bridge.start()
        except Exception as error:  # whatever it is, services and taps go on
            logger.exception('MCP cannot be served: %s', error)
            return
        self._stop.callback(bridge.stop)
        token = ' (token required)' if bridge.asks_for_token else ''
        # Who waits for this line calls at once; until the node is active, calls are refused.
        if self.memory.admission.wait_until_admitted():
            logger.info('MCP: %s%s', bridge.url, token)

    def _stop_bridge(self, starter: threading.Thread) -> None:
        starter.join()
        self._stop.close()

    def close(self) -> None:
        """End MCP and the services and close the store; what was acknowledged is in the file."""
        self.memory.stop_waiting()
        self.memory.admission.end('the node is being closed')
        self._closers.close()


def choose_mcp_settings(settings: McpSettings, namespace: str, *, is_given: bool) -> McpSettings:
    """Return how MCP is served: in a namespace only on a port that `is_given`."""
    if not settings.mcp_enabled or namespace == '/' or is_given:
        return settings
    logger.warning(
        'MCP is disabled: a node in namespace %s requires its own mcp_port, which is not set '
        '(e.g. mcp_port:=%d; 0 selects a free port; mcp_enabled:=false silences this warning)',
        namespace,
        settings.mcp_port + 1,
    )
    return dataclasses.replace(settings, mcp_enabled=False)


def _begin_map(memory: Memory, settings: NodeSettings) -> None:
    """Have the map of the parameters hold, as the store's own work; a read-only one is left."""
    try:
        with calling(THE_STORE):
            current = begin_map(memory, settings)
    except ReadOnlyStore as error:
        logger.warning('the map of the parameters is not kept: %s', error)
        return
    if current is not None:
        logger.info('map: %s in %s', current.of.label, settings.map_frame)


def _take_port(settings: McpSettings) -> socket.socket | None:
    if not settings.mcp_enabled:
        return None
    address = parse_address(settings.mcp_host)
    principals = read_principals(settings.mcp_token_file)
    AccessControl.create(address, principals, settings.mcp_allowed_hosts)
    return listen(address, settings.mcp_port)
