"""The node `robot_memory`: services, taps, and the bridge to MCP, over one memory."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import logging
import queue
import socket
import sys
import threading
from collections import Counter
from collections.abc import Sequence
from typing import Any

import rclpy
from rcl_interfaces.msg import SetParametersResult
from rclpy.exceptions import NameValidationException, ParameterException
from rclpy.executors import Executor
from rclpy.impl.logging_severity import LoggingSeverity
from rclpy.impl.rcutils_logger import RcutilsLogger
from rclpy.node import Node
from rclpy.parameter import Parameter

from robot_memory.core import configuration, params_file
from robot_memory.core.errors import InvalidArgument, RobotMemoryError
from robot_memory.core.settings import LIVE_SETTINGS, McpSettings, Settings, find_store_path
from robot_memory.ingest import (
    IngestSettings,
    Pipeline,
    PoseSourceSettings,
    QueuedEventWriter,
    SessionFinder,
    StoredRuns,
)
from robot_memory.ingest.parameters import LIVE_INGEST, find_unknown
from robot_memory.ingest.stamps import LIVE
from robot_memory.lifecycle import conversations
from robot_memory.mcp_server.access_control import AccessControl, parse_address
from robot_memory.mcp_server.port import listen
from robot_memory.mcp_server.token import read_principals
from robot_memory.memory import Memory
from robot_memory.ros import namespaces, parameters, services, session
from robot_memory.ros.diagnostics import Diagnostics
from robot_memory.ros.executor import DispatchOnceExecutor
from robot_memory.ros.taps import TapSubscriber, is_time_simulated
from robot_memory.status.logs import JsonLines

logger = logging.getLogger(__name__)
_THREADS = 6
"""One for what writes, one for timers, and the rest for recalls."""


class _ToNodeLogger(logging.Handler):
    """Pass the log records of the core on to the node's logger."""

    def __init__(self, logger: RcutilsLogger) -> None:
        super().__init__()
        self._logger = logger

    def emit(self, record: logging.LogRecord) -> None:
        text = self.format(record)
        if record.levelno >= logging.ERROR:
            self._logger.error(text)
        elif record.levelno >= logging.WARNING:
            self._logger.warning(text)
        elif record.levelno >= logging.INFO:
            self._logger.info(text)
        else:
            self._logger.debug(text)


class MemoryNode(Node):
    """
    Serve a robot's memory.

    Raise a RobotMemoryError where the store cannot be opened, a parameter is not accepted or
    the port of MCP is taken.
    """

    def __init__(self) -> None:
        """Declare the parameters, open the store and begin to listen."""
        super().__init__('robot_memory')
        self._closers = contextlib.ExitStack()
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def _open(self) -> None:
        handler = _ToNodeLogger(self.get_logger())
        core = logging.getLogger('robot_memory')
        core.setLevel(logging.DEBUG)
        core.addHandler(handler)
        self._closers.callback(core.removeHandler, handler)
        for path in params_file.find_params_files(sys.argv):
            params_file.read_node_params(path, self.get_fully_qualified_name())
        given = {name: one.value for name, one in self._get_overrides().items() if one.value != ''}
        found = configuration.read_fallbacks(given=given)
        if 'db_path' not in {**given, **found.values}:
            found.values['db_path'] = namespaces.choose_store(self.get_namespace())
        settings = parameters.declare(self, Settings, LIVE_SETTINGS, found.values)
        found.log()
        if settings.debug:
            self.get_logger().set_level(LoggingSeverity.DEBUG)
        if settings.log_format == 'json':
            handler.setFormatter(JsonLines())
        self._mcp_settings = self._choose_mcp_settings()
        self._mcp_socket = self._take_port()
        self.memory = self._closers.enter_context(
            Memory(settings, upgrade=True, read_only_fallback=True)
        )
        services.serve(self, self.memory)
        ingest = parameters.declare(self, IngestSettings, live=LIVE_INGEST)
        self._taps = self._start_taps(ingest)
        self._check_unknown(ingest.taps)
        self.add_on_set_parameters_callback(self._apply_changes)
        logger.info('store: %s', find_store_path(settings))

    def _get_overrides(self) -> dict[str, Parameter[Any]]:
        """Return the parameters that the node was started with, declared or not."""
        # rclpy has no public list of them.
        return getattr(self, '_parameter_overrides', {})

    def _check_unknown(self, taps: Sequence[str]) -> None:
        """Refuse mistyped settings of a tap; warn of other parameters that mean nothing here."""
        known = [name for name in self._get_overrides() if self.has_parameter(name)]
        for tap in filter(None, taps):
            known += [f'{tap}.{name}' for name in self.get_parameters_by_prefix(tap)]
        for name in find_unknown(self._get_overrides(), known, filter(None, taps)):
            logger.warning('ignoring unknown parameter %s', name)

    def _start_taps(self, settings: IngestSettings) -> TapSubscriber:
        """Subscribe to the topics of the taps."""
        place = parameters.declare(self, PoseSourceSettings)
        names = [name for name in settings.taps if name]
        twice = [name for name, number in Counter(names).items() if number > 1]
        if twice:
            raise InvalidArgument(f'taps contains {", ".join(twice)} twice; names must be unique')
        taps = [parameters.declare_tap(self, name) for name in names]
        finder = SessionFinder(self.memory, settings.source, settings.session_hours)
        writer = QueuedEventWriter(self.memory, taps, finder)
        warn = functools.partial(self.get_logger().warning, throttle_duration_sec=5.0)
        pipeline = Pipeline(
            taps,
            place,
            settings.source,
            writer.enqueue,
            warn,
            self.resolve_topic_name,
            self.memory.extensions,
            dataclasses.replace(LIVE, replaces_zero=self._is_real_time),
            StoredRuns(finder),
        )
        subscriber = TapSubscriber(self, pipeline)
        diagnostics = Diagnostics(self, self.memory, subscriber, writer)
        for close in (diagnostics.log_all, writer.close, subscriber.close):  # the last one first
            self._closers.callback(close)
        if settings.demonstration:
            subscriber.set_demonstration(
                settings.demonstration, self.get_clock().now().nanoseconds
            )
        return subscriber

    def _choose_mcp_settings(self) -> McpSettings:
        """Return how MCP is served: in a namespace only on a port that was given."""
        mcp_settings = parameters.declare(self, McpSettings)
        where = self.get_namespace()
        if not mcp_settings.mcp_enabled or where == '/' or 'mcp_port' in self._get_overrides():
            return mcp_settings
        logger.warning(
            'MCP is disabled: a node in namespace %s requires its own mcp_port, which is not set '
            '(e.g. mcp_port:=%d; 0 selects a free port; mcp_enabled:=false silences this warning)',
            where,
            mcp_settings.mcp_port + 1,
        )
        return dataclasses.replace(mcp_settings, mcp_enabled=False)

    def _is_real_time(self) -> bool:
        return not is_time_simulated(self)

    def _take_port(self) -> socket.socket | None:
        """
        Take MCP's port, before anything is served: a second node must not carry out a call.

        Raise what the MCP settings are refused with, Unavailable where the port is taken.
        """
        if not self._mcp_settings.mcp_enabled:
            return None
        address = parse_address(self._mcp_settings.mcp_host)
        principals = read_principals(self._mcp_settings.mcp_token_file)
        AccessControl.create(address, principals, self._mcp_settings.mcp_allowed_hosts)
        listening = listen(address, self._mcp_settings.mcp_port)
        self._closers.callback(listening.close)
        return listening

    def serve_mcp(self) -> None:
        """Serve MCP, too."""
        where = 'off'
        if self._mcp_settings.mcp_enabled:
            from robot_memory.mcp_server import HttpBridge

            bridge = HttpBridge(
                self.memory,
                self._mcp_settings.mcp_host,
                self._mcp_settings.mcp_port,
                token_file=self._mcp_settings.mcp_token_file,
                allowed_hosts=self._mcp_settings.mcp_allowed_hosts,
                tools=self._mcp_settings.mcp_tools,
                output_schemas=self._mcp_settings.mcp_output_schemas,
                listening=self._mcp_socket,
            )
            bridge.start()
            self._closers.callback(bridge.stop)
            token = ' (token required)' if bridge.asks_for_token else ''
            where = f'{bridge.url}{token}'
        logger.info('MCP: %s', where)

    def _apply_changes(self, changes: list[Parameter[Any]]) -> SetParametersResult:
        """Let changed numbers take effect; the ranges were checked by rclpy."""
        new = parameters.select_changed(self.memory.settings, changes)
        self.memory.change_settings(dataclasses.replace(self.memory.settings, **new))
        for change in changes:
            if change.name == 'auto_save':
                conversations.set_auto_save(self.memory, change.value)
            if change.name == 'demonstration':
                self._taps.set_demonstration(change.value, self.get_clock().now().nanoseconds)
        return SetParametersResult(successful=True)

    def close(self) -> None:
        """End the bridge, the taps and the memory; what was acknowledged is in the file."""
        self._closers.close()


def main(signals: queue.SimpleQueue[int]) -> None:
    """Run the node until there is a signal."""
    stop = threading.Event()
    try:
        for path in params_file.find_params_files(sys.argv):
            params_file.read_keys(path)
        warning = session.initialise()
        node = MemoryNode()
    except RobotMemoryError as error:
        sys.exit(_format_error(error))
    except (ParameterException, NameValidationException) as error:
        sys.exit(f'robot_memory: [invalid_argument] {error}')
    if warning:
        node.get_logger().warning(warning)
    executor = DispatchOnceExecutor(num_threads=_THREADS)
    executor.add_node(node)
    spinner = threading.Thread(target=_spin, args=(executor, node, stop), name='spinner')
    spinner.start()
    failure = ''
    try:
        # The services answer already: importing the MCP SDK takes most of a second. Clients
        # that connect before wait at the port.
        node.serve_mcp()
        signals.get()
    except RobotMemoryError as error:
        failure = _format_error(error)
    finally:
        stop.set()
        node.memory.stop_waiting()
        executor.shutdown(timeout_sec=1.0)
        spinner.join()
        node.close()
        node.destroy_node()
        rclpy.shutdown()
    sys.exit(failure or 0)


def _format_error(error: RobotMemoryError) -> str:
    return f'robot_memory: [{error.code}] {error}'


def _spin(executor: Executor, node: Node, stop: threading.Event) -> None:
    """Spin until the executor is shut down; an exception in a callback is logged."""
    while not stop.is_set():
        try:
            executor.spin()
        except Exception as error:
            node.get_logger().error(f'a callback failed, the node continues: {error!r}')
