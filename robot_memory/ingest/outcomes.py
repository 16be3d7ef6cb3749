"""One tap of an action at work: its hidden topics are read, and its goals become trials."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.json_text import format_value
from robot_memory.detectors.outcomes import GoalFollower, Outcome
from robot_memory.ingest import messages
from robot_memory.ingest.action_types import STATUS, check_path, define_action, define_message
from robot_memory.ingest.handlers import RecordingOrigin, TopicHandler
from robot_memory.ingest.messages import to_nanoseconds
from robot_memory.ingest.stamps import ArrivalClock, is_near
from robot_memory.ingest.tap import Tap
from robot_memory.lifecycle.trials import Report

_REQUESTS, _RESPONSES = (0, 1), (2, 3)
"""Events of a service, by their numbers in service_msgs/ServiceEventInfo."""
_MAX_CALLS = 1024


class OutcomeRunner:
    """
    Take the serialized messages of one action, and hand on a report of each goal that ended.

    `warn` is told why a message cannot be read. Nothing in a message can raise. It only listens:
    no goal is sent, changed or canceled, and no service of the action is called.
    """

    def __init__(
        self,
        tap: Tap,
        source: str,
        resolve: Callable[[str], str],
        warn: Callable[[str], object],
        arrival: ArrivalClock,
        recording: RecordingOrigin | None,
    ) -> None:
        """Begin with no goal; raise InvalidArgument where a type has no definition or field."""
        self.tap = tap
        self._settings = tap.detector_settings
        self._action = resolve(tap.settings.topic)
        self._follower = GoalFollower(self._settings)
        self._source = source
        self._warn = warn
        self._arrival = arrival
        self._recording = recording
        self._calls: dict[tuple[str, bytes, int], UUID] = {}
        self._takers: dict[str, tuple[str, Callable[[Any, int], None]]] = {}
        self._handlers: list[TopicHandler] = []
        self.counts: dict[str, Counter[str]] = {}
        self._check_fields()
        self._add_handlers(resolve)

    def _check_fields(self) -> None:
        settings, kind = self._settings, self.tap.settings.type
        types = {name: f'{kind}_{name.capitalize()}' for name in ('goal', 'result', 'feedback')}
        try:
            define_action(kind, settings.definitions)
            if settings.result_topic:
                define_message(settings.result_type, settings.definitions)
                types['topic'] = settings.result_type
            for field in self._follower.fields.list_paths():
                check_path(field, types[field.source])
        except InvalidArgument as error:
            raise InvalidArgument(f'tap {format_value(self.tap.name)}: {error}') from None

    def _add_handlers(self, resolve: Callable[[str], str]) -> None:
        """List the topics to subscribe to: the state of goals, and what fields are read of."""
        kind, hidden = self.tap.settings.type, f'{self._action}/_action'
        sources = self._follower.fields.sources
        self._add(f'{hidden}/status', STATUS, self._take_states, '', title=self._action)
        if 'feedback' in sources:
            self._add(
                f'{hidden}/feedback', f'{kind}_FeedbackMessage', self._take_feedback, 'feedback'
            )
        if 'goal' in sources:
            topic = f'{hidden}/send_goal/_service_event'
            self._add(topic, f'{kind}_SendGoal_Event', self._take_goal, 'goal')
        if 'result' in sources:
            topic = f'{hidden}/get_result/_service_event'
            self._add(topic, f'{kind}_GetResult_Event', self._take_result, 'result')
        if 'topic' in sources:
            topic = resolve(self._settings.result_topic)
            take = self._follower.note_measurement
            self._add(topic, self._settings.result_type, take, 'topic')

    def _add(
        self,
        topic: str,
        kind: str,
        take: Callable[[Any, int], None],
        source: str,
        title: str = '',
    ) -> None:
        optional = bool(source) and source not in self._follower.fields.required
        self._handlers.append(
            TopicHandler(
                f'{self.tap.name} ({title or topic})',
                topic,
                kind,
                latched=source != 'topic',
                optional=optional,
                tap=self.tap.name,
                introspection=kind.endswith('_Event'),
            )
        )
        self._takers[topic] = kind, take
        self.counts[topic] = Counter()

    def list_handlers(self) -> list[TopicHandler]:
        """Return the topics to subscribe to, that of the state of the goals first."""
        return self._handlers

    def receive(self, topic: str, raw: bytes | memoryview, arrival_ns: int) -> list[Report]:
        """Take a message of one of the topics; return what is complete with it."""
        counts = self.counts[topic]
        counts['received'] += 1
        kind, take = self._takers[topic]
        try:
            take(messages.decode(raw, kind), arrival_ns)
        except Exception as error:  # the decoder raises whatever broken bytes lead it to
            counts['unreadable'] += 1
            self._warn(f'{topic}: cannot read a message: {error!r}')
        return self.flush_silent(arrival_ns)

    def withhold(self, topic: str, raw: bytes | memoryview, arrival_ns: int) -> None:
        """Take a message that must not be kept: the goals that it names make no trial."""
        self._follower.withhold_open()
        counts = self.counts[topic]
        counts['received'] += 1
        kind, take = self._takers[topic]
        try:
            take(messages.decode(raw, kind), arrival_ns)
        except Exception as error:
            counts['unreadable'] += 1
            self._warn(f'{topic}: cannot read a message: {error!r}')
        self._follower.withhold_open()

    def _take_states(self, message: Any, now_ns: int) -> None:
        states = [
            (_read_id(one.goal_info), int(one.status), to_nanoseconds(one.goal_info.stamp))
            for one in message.status_list
        ]
        self._follower.note_states(states, now_ns)

    def _take_feedback(self, message: Any, now_ns: int) -> None:
        follower = self._follower
        follower.note_message(_read_id(message), 'feedback', message.feedback, now_ns)

    def _take_goal(self, event: Any, now_ns: int) -> None:
        goal_id = self._match(event, 'send_goal')
        for request in event.request:
            self._follower.note_message(_read_id(request), 'goal', request.goal, now_ns)
        for response in event.response if goal_id is not None else ():
            assert goal_id is not None
            stamp_ns = to_nanoseconds(response.stamp)
            self._follower.note_answer(goal_id, bool(response.accepted), stamp_ns, now_ns)

    def _take_result(self, event: Any, now_ns: int) -> None:
        goal_id = self._match(event, 'get_result')
        for response in event.response if goal_id is not None else ():
            assert goal_id is not None
            self._follower.note_message(goal_id, 'result', response.result, now_ns)
            self._follower.note_status(goal_id, int(response.status), 0, now_ns)

    def _match(self, event: Any, service: str) -> UUID | None:
        """Return the goal that an event is of: a response does not name it, its request did."""
        info = event.info
        call = (service, bytes(info.client_gid), int(info.sequence_number))
        if info.event_type in _REQUESTS and len(event.request):
            self._calls[call] = _read_id(event.request[0])
            if len(self._calls) > _MAX_CALLS:
                del self._calls[next(iter(self._calls))]
        return self._calls.get(call)

    def flush_silent(self, now_ns: int) -> list[Report]:
        """Return what is complete by now: nothing more of it is waited for."""
        return [self._report(one) for one in self._follower.list_complete(now_ns)]

    def finish(self) -> list[Report]:
        """End the stream and return what has ended."""
        return [self._report(one) for one in self._follower.finish()]

    def _report(self, outcome: Outcome) -> Report:
        stamp_ns = outcome.stamp_ns
        origin = {'topic': self._action, 'source': self._source}
        if not stamp_ns:
            stamp_ns, origin['stamped_by'] = outcome.heard_ns, self._arrival.name
        described = self._recording.describe(outcome.heard_ns) if self._recording else {}
        return Report(
            outcome.trial,
            self.tap.settings.collection,
            stamp=stamp_ns,
            stamp_is_local=is_near(self._arrival, stamp_ns, outcome.heard_ns),
            world=self._settings.world,
            origin={name: value for name, value in {**origin, **described}.items() if value},
        )

    def report(self, kept: Mapping[str, int]) -> dict[str, dict[str, int]]:
        """
        Return the counts by topic: of the action itself how many goals ended, of others messages.

        `kept` says what became of the trials.
        """
        found = {one.name: dict(self.counts[one.topic]) for one in self._handlers}
        first = self._handlers[0]
        found[first.name] = {
            'received': self._follower.ended,
            'unreadable': self.counts[first.topic]['unreadable'],
            **self._follower.ignored,
            **kept,
        }
        return {
            name: {reason: number for reason, number in counts.items() if number}
            for name, counts in found.items()
        }


def _read_id(message: Any) -> UUID:
    return UUID(bytes=bytes(message.goal_id.uuid))
