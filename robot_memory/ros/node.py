"""The node `robot_memory`: services, taps, and the bridge to MCP, over one memory."""

from __future__ import annotations

import dataclasses
import gc
import logging
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.impl.logging_severity import LoggingSeverity
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.parameter import Parameter

from robot_memory.core import configuration, params_file
from robot_memory.core.errors import InvalidArgument, RobotMemoryError, Unavailable
from robot_memory.core.heap import trim_heap
from robot_memory.core.settings import LIVE_SETTINGS, McpSettings, NodeSettings, Settings
from robot_memory.ingest import IngestSettings, PoseSourceSettings
from robot_memory.ingest.parameters import LIVE_INGEST, find_unknown, group_by_tap
from robot_memory.ingest.tap import Tap, change_tap
from robot_memory.lifecycle import conversations
from robot_memory.ros import namespaces, parameters
from robot_memory.ros.diagnostics import Diagnostics
from robot_memory.ros.kept_events import KeptEventPublisher
from robot_memory.ros.listening import Listening
from robot_memory.ros.logs import NodeLogHandler
from robot_memory.ros.services import retry_replies
from robot_memory.ros.serving import Serving, choose_mcp_settings
from robot_memory.status.logs import JsonLines
from robot_memory.storage.read_only import ROOM_SECONDS, RoomWatch

logger = logging.getLogger(__name__)
SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE
_QUIET_SECONDS = 1.0
"""How long calls that are under way are waited for before a store is opened anew."""


class MemoryNode(LifecycleNode):
    """
    Serve a robot's memory, as a managed node.

    Raise a RobotMemoryError or rclpy's own error for a parameter that is not accepted.
    """

    def __init__(self) -> None:
        """Declare the parameters; nothing is opened yet."""
        super().__init__('robot_memory')
        self._lock = threading.RLock()
        self._is_closed = False
        self._failure: Exception | None = None
        self._serving: Serving | None = None
        self._listening: Listening | None = None
        self._log_handler = NodeLogHandler(self.get_logger())
        retry_replies(self.services)  # of parameters and of the states
        try:
            self._read_parameters()
            self._diagnostics = Diagnostics(self)
            self._kept_events = KeptEventPublisher(self)
            self._room_watch = RoomWatch()
            self._room_timer = self.create_timer(
                ROOM_SECONDS,
                self._reopen_with_room,
                callback_group=MutuallyExclusiveCallbackGroup(),
                clock=Clock(clock_type=ClockType.STEADY_TIME),
            )
            self.add_on_set_parameters_callback(self._apply_changes)
        except BaseException:
            self._log_handler.close()
            raise

    # Parameters

    def _read_parameters(self) -> None:
        for path in params_file.find_params_files(sys.argv):
            params_file.read_node_params(path, self.get_fully_qualified_name())
        given = {name: one.value for name, one in self._get_overrides().items() if one.value != ''}
        found = configuration.read_fallbacks(given=given)
        if 'db_path' not in {**given, **found.values}:
            found.values['db_path'] = namespaces.choose_store(self.get_namespace())
        self._settings = parameters.declare(self, Settings, LIVE_SETTINGS, found.values)
        found.log()
        if self._settings.debug:
            self.get_logger().set_level(LoggingSeverity.DEBUG)
        if self._settings.log_format == 'json':
            self._log_handler.setFormatter(JsonLines())
        self._mcp_settings = choose_mcp_settings(
            parameters.declare(self, McpSettings),
            self.get_namespace(),
            is_given='mcp_port' in self._get_overrides(),
        )
        self._own_settings = parameters.declare(self, NodeSettings)
        self.autostart = self._own_settings.autostart
        self._ingest = parameters.declare(self, IngestSettings, live=LIVE_INGEST)
        self._place = parameters.declare(self, PoseSourceSettings)
        self._taps = self._declare_taps()
        self._check_unknown(self._ingest.taps)

    def _declare_taps(self) -> list[Tap]:
        names = [name for name in self._ingest.taps if name]
        twice = [name for name, number in Counter(names).items() if number > 1]
        if twice:
            raise InvalidArgument(f'taps contains {", ".join(twice)} twice; names must be unique')
        return [parameters.declare_tap(self, name) for name in names]

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

    def _apply_changes(self, changes: list[Parameter[Any]]) -> SetParametersResult:
        """Let changed numbers take effect; the ranges were checked by rclpy."""
        with self._lock:
            try:
                self._change_taps(changes)
            except RobotMemoryError as error:
                return SetParametersResult(successful=False, reason=str(error))
            new = parameters.select_changed(self._settings, changes)
            self._settings = dataclasses.replace(self._settings, **new)
            self._ingest = dataclasses.replace(
                self._ingest, **parameters.select_changed(self._ingest, changes)
            )
            if self._serving is not None:
                self._serving.memory.change_settings(self._settings)
            for change in changes:
                if change.name == 'auto_save' and self._serving is not None:
                    conversations.set_auto_save(self._serving.memory, change.value)
                if change.name == 'demonstration' and self._listening is not None:
                    now_ns = self.get_clock().now().nanoseconds
                    self._listening.taps.set_demonstration(change.value, now_ns)
        return SetParametersResult(successful=True)

    def _change_taps(self, changes: list[Parameter[Any]]) -> None:
        """Change settings of taps, all or none; raise what they are refused with."""
        values = {change.name: change.value for change in changes}
        given = group_by_tap(values, [tap.name for tap in self._taps])
        changed = [
            change_tap(tap, given[tap.name]) if given[tap.name] else tap for tap in self._taps
        ]
        if self._listening is not None:
            for tap in changed:
                if given[tap.name]:
                    self._listening.change_tap(tap)
        self._taps = changed

    # Transitions

    def start(self) -> None:
        """Configure and activate; raise the reason where that fails."""
        for trigger in (self.trigger_configure, self.trigger_activate):
            if trigger() != SUCCESS:
                raise self._failure or Unavailable('the node cannot start: the log says why')

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Take MCP's port, open the store and offer the services."""
        return self._make_transition('configure', self._configure)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Subscribe to the topics of the taps, and let calls in."""
        return self._make_transition('activate', self._activate)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Let no call in, and stop the taps: what is under way is written."""
        return self._make_transition('deactivate', self._deactivate)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """End the services and MCP, and close the store."""
        return self._make_transition('cleanup', self._clean_up)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Close all that is open."""
        return self._make_transition('shutdown', self._close_parts)

    def _make_transition(self, name: str, act: Callable[[], None]) -> TransitionCallbackReturn:
        """Make a transition; where it fails the state stays, and the reason is told."""
        with self._lock:
            try:
                if self._is_closed:
                    raise Unavailable('the node is ending')
                act()
            except Exception as error:
                self._failure = error
                is_fault = not isinstance(error, RobotMemoryError)
                if is_fault or not self.autostart:  # else the process ends with it
                    logger.error('%s failed: %s', name, error, exc_info=is_fault)
                self._diagnostics.note_failure(f'{name} failed: {error}')
                return FAILURE
            self._failure = None
            self._diagnostics.note_failure('')
            return SUCCESS

    def _configure(self) -> None:
        self._serving = Serving(
            self,
            self._settings,
            self._mcp_settings,
            self._own_settings,
            self._describe_inactivity(),
        )
        self._diagnostics.attach(self._serving.memory)

    def _describe_inactivity(self) -> str:
        name = self.get_fully_qualified_name()
        return (
            f'{name} is inactive and takes no calls: activate it, e.g. `ros2 lifecycle set '
            f'{name} activate`'
        )

    def _activate(self) -> None:
        assert self._serving is not None
        memory = self._serving.memory
        self._listening = Listening(self, memory, self._ingest, self._place, self._taps)
        self._diagnostics.listen(self._listening.taps, self._listening.writer)
        self._kept_events.begin(memory)
        memory.admission.admit()

    def _deactivate(self) -> None:
        if self._serving is not None:
            self._serving.memory.admission.refuse(self._describe_inactivity())
        if self._listening is not None:
            self._listening.close()
            self._diagnostics.stop_listening()
            self._listening = None
            self._kept_events.end()

    def _clean_up(self) -> None:
        if self._serving is not None:
            self._diagnostics.detach()
            self._serving.close()
            self._serving = None
            # The parts of a memory refer to each other: else its models would stay for a while.
            gc.collect()
            trim_heap()

    def _close_parts(self) -> None:
        self._deactivate()
        self._clean_up()

    def _reopen_with_room(self) -> None:
        """Open a store anew for writing where it was opened on a full disk that has room now."""
        with self._lock:
            if self._serving is None:
                return
            memory, was_active = self._serving.memory, self._listening is not None
            if not self._room_watch.has_room(memory.db.path, memory.db.source):
                return
            if was_active:
                memory.admission.refuse('the store is being opened anew for writing; try again')
                if not memory.admission.wait_until_empty(_QUIET_SECONDS):
                    memory.admission.admit()
                    return
            self._room_watch.try_once()
            path = memory.db.path
            logger.warning('the disk of %s has room: it is opened anew for writing', path)
            back = [self.trigger_cleanup, self.trigger_configure]
            if was_active:
                back = [self.trigger_deactivate, *back, self.trigger_activate]
            if any(trigger() != SUCCESS for trigger in back):
                self._end_without_store()

    def _end_without_store(self) -> None:
        """End the process of a node that starts by itself: whoever respawns it tries again."""
        if self.autostart:
            logger.error('the store cannot be opened anew: %s', self._failure)
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)

    # The end

    def stop_waiting(self) -> None:
        """Have long calls, and those that wait for another process, give up: the node ends."""
        serving = self._serving
        if serving is not None:
            serving.memory.admission.refuse('the node is ending')
            serving.memory.stop_waiting()

    def close(self) -> None:
        """End the bridge, the taps and the memory; what was acknowledged is in the file."""
        with self._lock:
            if not self._is_closed:
                self._is_closed = True
                self._close_parts()
                self._diagnostics.close()
                self._log_handler.close()
