"""Subscriptions of the taps: what comes is taken raw, in turns, and fed to the pipeline."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from operator import attrgetter
from typing import Any, NamedTuple

from rclpy.callback_groups import CallbackGroup
from rclpy.clock import ROSClock
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.subscription import Subscription

from robot_memory.core.errors import Unavailable
from robot_memory.core.heap import trim_heap
from robot_memory.core.no_record import SensorPlace
from robot_memory.ingest import Pipeline, ReceivedMessage, TopicHandler
from robot_memory.ingest.tap import Tap
from robot_memory.ingest.threaded_runner import PICTURES
from robot_memory.ros.message_types import import_type
from robot_memory.ros.publishers import SubscriptionStatus, update_status
from robot_memory.ros.qos_overrides import declare_overrides
from robot_memory.ros.sequences import NumberedMessage, SequenceMerger

_SHORTEST_S, _LONGEST_S = 0.02, 0.1
"""Between two turns: what is looked at in longer blocks costs less."""
_FULL = 0.25
"""The share of a reader's queue that may come in a turn, as far as turns can be so short."""
_MATCH_S = 0.25
_MATCH_ANEW = 4
"""Of so many times once publishers are looked at even if as many are there as before."""
_TRIM_S = 2.0
"""How long after a queue that was full what its messages took is given back."""
_MAX_OVERLAP = 40
"""Matches after which a replaced subscription ends in any case: 10 s, longer than discovery."""
_GID_BYTES = 16
_NOBODY: dict[str, bytes] = {}
_DEPTH = 1000
_PICTURES_DEPTH = 30


class TapSubscriber:
    """
    Subscribe to the topics of the taps, in a thread of its own.

    Ten times a second, or up to fifty where queues fill, it takes all that came, raw, and feeds it
    to the pipeline in the order in which it was sent. rclpy's executor would wake up for every
    single message, at a quarter of a millisecond each; it never sees these subscriptions.
    """

    def __init__(self, node: Node, pipeline: Pipeline) -> None:
        """Listen from now on; raise Unavailable for a type whose package is not there."""
        self._node = node
        self._pipeline = pipeline
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._subscriptions: list[AdaptiveSubscription] = []
        try:
            self._subscriptions += self._subscribe(pipeline.list_handlers())
        except BaseException:
            for subscription in self._subscriptions:
                subscription.close()
            raise
        self._thread = threading.Thread(target=self._run, name='taps', daemon=True)
        self._thread.start()

    def _subscribe(self, handlers: Iterable[TopicHandler]) -> Iterator[AdaptiveSubscription]:
        """Yield the subscriptions; say so where this ROS has no introspection of services."""
        for handler in handlers:
            try:
                yield AdaptiveSubscription(self._node, handler)
            except Unavailable as error:
                if not handler.introspection:
                    raise
                self._node.get_logger().warning(
                    f'{handler.name} is left out: {error}. Introspection of services came with '
                    'ROS 2 Iron, that of actions with Kilted; before, take fields of feedback or '
                    'of a result topic'
                )

    def _run(self) -> None:
        period_s, matched, looks, trim_at = _SHORTEST_S, 0.0, 0, math.inf
        while not self._stop.wait(period_s):
            try:
                now = time.monotonic()
                if now - matched >= _MATCH_S:
                    matched = now
                    self._follow(is_anew=looks % _MATCH_ANEW == 0)
                    looks += 1
                fullest = self._drain()
                period_s = choose_period(period_s, fullest)
                if fullest > _FULL:
                    trim_at = now + _TRIM_S
                elif now >= trim_at:
                    trim_heap()
                    trim_at = math.inf
            except Exception as error:
                self._node.get_logger().error(
                    f'a tap cycle failed, taps continue: {error!r}', throttle_duration_sec=5.0
                )

    def _follow(self, *, is_anew: bool) -> None:
        for subscription in self._subscriptions:
            if is_anew or not subscription.is_settled:
                subscription.follow()

    def _drain(self, *, last: bool = False) -> float:
        """Feed what came to the pipeline; return how full the fullest queue was, 0 to 1."""
        taken: list[TakenMessage] = []
        fullest = 0.0
        for subscription in self._subscriptions:
            of_topic = subscription.take(last=last)
            fullest = max(fullest, len(of_topic) / subscription.depth)
            taken += of_topic
        taken.sort(key=attrgetter('sent_ns'))
        clock = self._node.get_clock()
        now_ns = clock.now().nanoseconds
        simulated = is_time_simulated(self._node)
        received = [
            ReceivedMessage(one.handler, one.raw, (not simulated and one.received_ns) or now_ns)
            for one in taken
        ]
        with self._lock:
            self._pipeline.receive(received)
            self._pipeline.flush_silent(now_ns)
        return fullest

    def report(self, kept: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, int]]:
        """Return the counts of messages, lost ones included; `kept` as for the pipeline."""
        with self._lock:
            found = self._pipeline.report(kept)
        for subscription in self._subscriptions:
            if subscription.lost and subscription.handler.name in found:
                found[subscription.handler.name]['lost'] = subscription.lost
        subscribed = {subscription.handler.name for subscription in self._subscriptions}
        return {title: counts for title, counts in found.items() if title in subscribed}

    def list_statuses(self) -> dict[str, SubscriptionStatus]:
        """Return how each topic is connected to its publishers, by its name in the report."""
        return {
            subscription.handler.name: subscription.status for subscription in self._subscriptions
        }

    def change_tap(self, tap: Tap) -> None:
        """Take other settings of a tap from its next event on."""
        with self._lock:
            self._pipeline.change_tap(tap)

    def set_demonstration(self, name: str, now_ns: int) -> None:
        """Begin or end the recording of a demonstration."""
        with self._lock:
            self._pipeline.set_demonstration(name, now_ns)

    def locate(self, target: str, frame: str, *, of_frame: bool = False) -> SensorPlace | None:
        """Return where a sensor of a frame is now in another, as `Locator` says."""
        now_ns = self._node.get_clock().now().nanoseconds
        with self._lock:
            return self._pipeline.locate(target, frame, now_ns, of_frame=of_frame)

    def close(self) -> None:
        """Stop listening, and hand on what is under way."""
        self._stop.set()
        self._thread.join()
        self._drain(last=True)
        for subscription in self._subscriptions:
            subscription.close()
        self._pipeline.finish()


def choose_period(period_s: float, fullest: float) -> float:
    """Return how long to wait for the next turn, by how full a queue got in the last one."""
    fitting_s = period_s * _FULL / fullest if fullest else _LONGEST_S
    return min(max(fitting_s, _SHORTEST_S), 2 * period_s, _LONGEST_S)


class TakenMessage(NamedTuple):
    """Hold a message as it was taken, with when it was sent and received; 0: not known."""

    handler: TopicHandler
    raw: bytes
    sent_ns: int
    received_ns: int


class _PolledGroup(CallbackGroup):
    """Keep an executor's hands off."""

    def can_execute(self, _: Any) -> bool:
        return False

    def beginning_execution(self, _: Any) -> bool:
        return False

    def ending_execution(self, _: Any) -> None:
        pass


class AdaptiveSubscription:
    """
    Subscribe to one topic as its publishers offer, and follow when they come and go.

    Reliable where all publishers are, best effort where one is not, and what they keep for late
    comers only where all of them do and it is wanted; `qos_overrides` stand above that. While
    there is no publisher, instructions are subscribed to as reliable, all else as best effort. A
    replaced subscription stays until its successor has received from every publisher.
    """

    def __init__(self, node: Node, handler: TopicHandler) -> None:
        self.handler = handler
        self._node = node
        self._type = import_type(handler.type)
        self._merger: SequenceMerger[TakenMessage] = SequenceMerger()
        self._overrides = declare_overrides(node, handler.topic)
        pictures = handler.type in PICTURES
        self.depth = self._overrides.pop('depth') or (_PICTURES_DEPTH if pictures else _DEPTH)
        publishers = self._list_publishers()
        self._offered = self._choose_policies(publishers)
        self._subscription = self._subscribe()
        self._replaced: list[Subscription[Any]] = []
        self._delivering: set[bytes] = set()
        self._resending: set[bytes] = set()
        self._overlap = 0
        self.status = update_status(
            SubscriptionStatus(handler), publishers, self._make_qos(), self._overrides
        )

    def _list_publishers(self) -> list[Any]:
        return list(self._node.get_publishers_info_by_topic(self.handler.topic))

    def _choose_policies(self, publishers: list[Any]) -> dict[str, Any]:
        offers = [info.qos_profile for info in publishers if info.topic_type == self.handler.type]
        asked = {offer.reliability for offer in offers}
        # One instruction is all that may come: none may be lost before its publisher is known.
        reliable = asked == {ReliabilityPolicy.RELIABLE} or (self.handler.latched and not asked)
        kept = {offer.durability for offer in offers} == {DurabilityPolicy.TRANSIENT_LOCAL}
        return {
            'reliability': ReliabilityPolicy.RELIABLE
            if reliable
            else ReliabilityPolicy.BEST_EFFORT,
            'durability': DurabilityPolicy.TRANSIENT_LOCAL
            if kept and self.handler.latched
            else DurabilityPolicy.VOLATILE,
            **self._overrides,
        }

    def _make_qos(self) -> QoSProfile:
        return QoSProfile(history=HistoryPolicy.KEEP_LAST, depth=self.depth, **self._offered)

    def _subscribe(self) -> Subscription[Any]:
        return self._node.create_subscription(
            self._type,
            self.handler.topic,
            _ignore,
            self._make_qos(),
            callback_group=_PolledGroup(),
            raw=True,
        )

    @property
    def is_settled(self) -> bool:
        """Say whether nothing was replaced, and as many publishers are there as before."""
        number = self._node.count_publishers(self.handler.topic)
        return not self._replaced and number == self.status.publishers

    def follow(self) -> None:
        """Change to what the publishers offer now, and end what was replaced before."""
        publishers = self._list_publishers()
        self._overlap += 1
        present = {
            bytes(info.endpoint_gid)[:_GID_BYTES]
            for info in publishers
            if info.topic_type == self.handler.type
        }
        if self._replaced and (present <= self._delivering or self._overlap >= _MAX_OVERLAP):
            self._end_replaced()
        wanted = self._choose_policies(publishers)
        if wanted != self._offered:
            self._offered = wanted
            self._replaced.append(self._subscription)
            self._subscription = self._subscribe()
            self._delivering.clear()
            self._overlap = 0
        # From these the reliable subscription goes on to bring what the replaced one missed.
        self._resending = present & self._delivering if _is_reliable(self._subscription) else set()
        self.status = update_status(self.status, publishers, self._make_qos(), self._overrides)

    def _end_replaced(self) -> None:
        for subscription in self._replaced:
            self._node.destroy_subscription(subscription)
        self._replaced.clear()

    def take(self, *, last: bool = False) -> list[TakenMessage]:
        """Return what has come, each message once; the `last` time what is held as well."""
        if self._replaced or self._merger.holds:
            return self._take_merged(last=last)
        merger, found = self._merger, []
        for message, publisher, number in self._take_from(self._subscription):
            if merger.accept(publisher, number):
                found.append(message)
        return found

    def _take_merged(self, *, last: bool) -> list[TakenMessage]:
        """Return what has come while several subscriptions bring it, or did."""
        subscriptions = (*self._replaced, self._subscription)
        reliable = [_is_reliable(subscription) for subscription in subscriptions]
        taken = []
        for subscription, is_reliable in zip(subscriptions, reliable, strict=True):
            in_order = is_reliable or not any(reliable)
            for message, publisher, number in self._take_from(subscription):
                taken.append(NumberedMessage(message, publisher, number, in_order))
                if self._replaced and subscription is self._subscription:
                    self._delivering.add(publisher)
        if self._replaced:  # what one of them lost, another may have
            taken.sort(key=lambda message: message.number or 0)
        found = list(self._merger.merge(taken))
        if last or not self._replaced:
            found += self._merger.release(keep=set() if last else self._resending)
        return found

    def _take_from(
        self, subscription: Subscription[Any]
    ) -> Iterator[tuple[TakenMessage, bytes, int | None]]:
        """Yield what a subscription has, each with its publisher and its number."""
        handler, kind, handle = self.handler, self._type, subscription.handle
        with handle:
            for _ in range(self.depth):
                taken = handle.take_message(kind, True)
                if taken is None:
                    return
                raw, info = taken
                gid = (info.get('publisher_gid') or _NOBODY).get('data') or b''
                sent_ns, received_ns = info.get('source_timestamp'), info.get('received_timestamp')
                message = TakenMessage(handler, raw, sent_ns or 0, received_ns or 0)
                yield message, gid[:_GID_BYTES], info.get('publication_sequence_number')

    @property
    def lost(self) -> int:
        """Return how many messages never came, by the numbers of their publishers."""
        return self._merger.lost

    def close(self) -> None:
        """End the subscription."""
        self._end_replaced()
        self._node.destroy_subscription(self._subscription)


def _is_reliable(subscription: Subscription[Any]) -> bool:
    return bool(subscription.qos_profile.reliability == ReliabilityPolicy.RELIABLE)


def is_time_simulated(node: Node) -> bool:
    """Say whether the time of a node is that of a simulation or a recording (/clock)."""
    clock = node.get_clock()
    return isinstance(clock, ROSClock) and bool(clock.ros_time_is_active)


def _ignore(_: Any) -> None:
    """Stand where rclpy wants a callback."""
