"""The pipeline of one robot's taps: messages in, perceptions and texts to learn out; no ROS."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import Any

from robot_memory.core.fields import NANOSECONDS
from robot_memory.core.no_record import SensorPlace
from robot_memory.detectors import MotionDetector, PoseLookup, SceneDetector, TextEvent
from robot_memory.detectors.effort import LearnedEffort
from robot_memory.detectors.turning import JointHistories, JointPlaces, mark_turning
from robot_memory.ingest.demonstrations import Demonstrations
from robot_memory.ingest.earlier_runs import NOTHING_EARLIER, EarlierRuns, OwnRun
from robot_memory.ingest.handlers import Received, RecordingOrigin, Sensed, TopicHandler
from robot_memory.ingest.late_places import LatePlaces, PlacedEvent
from robot_memory.ingest.no_record import Judged, NoRecordGate, NoRecordPolicy
from robot_memory.ingest.ongoing import OngoingTexts
from robot_memory.ingest.outcomes import OutcomeRunner
from robot_memory.ingest.perceptions import make_learned_text, make_perception
from robot_memory.ingest.pictures_ahead import PicturesAhead
from robot_memory.ingest.pose_source import PoseSource, PoseSourceSettings
from robot_memory.ingest.results import Result
from robot_memory.ingest.stamps import LIVE, ArrivalClock, Dating
from robot_memory.ingest.tap import DEFAULTS, OUTCOME, Tap
from robot_memory.ingest.tap_runner import Detection
from robot_memory.ingest.threaded_runner import list_cameras, make_runner
from robot_memory.lifecycle.perceptions import Perception
from robot_memory.lifecycle.usual_efforts import TopicEffort
from robot_memory.plugins.registry import ExtensionRegistry

_STORE_EFFORTS_NS = 3600 * NANOSECONDS


class Pipeline:
    """
    Feed the detectors of all taps, and pass each result on, in order, through `emit`.

    `resolve` makes a topic's full name of the one in the parameters. Not for several threads at
    once. What it makes depends on the messages and their stamps alone, not on their pace.
    """

    def __init__(
        self,
        taps: Iterable[Tap],
        place: PoseSourceSettings,
        source: str,
        emit: Callable[[str, Result], None],
        warn: Callable[[str], object],
        resolve: Callable[[str], str],
        extensions: ExtensionRegistry,
        arrival: ArrivalClock = LIVE,
        earlier: EarlierRuns = NOTHING_EARLIER,
        recording: RecordingOrigin | None = None,
        no_record: NoRecordPolicy | None = None,
        *,
        pictures: PicturesAhead | None = None,
        threaded: bool = False,
    ) -> None:
        """
        Start with no message; `emit` is called with the tap's name and each result.

        Messages that a `no_record` policy withholds are seen by no detector. `pictures` of a batch
        are decoded beside the rest of it. With `threaded`, taps of pictures run in threads of
        their own, and `flush_silent` hands on what they find.

        Texts of before the end of the last session of `earlier` runs are over, and the first view
        of a camera is compared with their last one. Memories of a `recording` name it.
        """
        self._recording = recording
        self._earlier = earlier
        self._source = source
        self._is_live = arrival.is_host
        self._emit = emit
        used = [tap for tap in taps if tap.settings.topic]
        self._runners = {
            tap.name: make_runner(tap, warn, arrival, extensions, pictures, threaded=threaded)
            for tap in used
            if tap.detector != OUTCOME
        }
        self._outcomes = {
            tap.name: OutcomeRunner(tap, source, resolve, warn, arrival, recording)
            for tap in used
            if tap.detector == OUTCOME
        }
        self._pictures = pictures
        self._cameras = list_cameras(self._runners)
        self._topics = {
            name: resolve(runner.tap.settings.topic) for name, runner in self._runners.items()
        }
        self._learned_ns = 0
        self._look_back()
        self._ongoing_texts = OngoingTexts()
        self._pose_source = PoseSource(place, warn, arrival)
        wait_ns = round(place.pose_tolerance_s * NANOSECONDS)
        self._late = LatePlaces(self._pose_source, emit, wait_ns)
        self._gate: NoRecordGate | None = None
        if no_record is not None and no_record.rules:
            self._gate = NoRecordGate(no_record, self._pose_source, wait_ns)
        self._withheld: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._wiped: set[str] = set()
        self._own_run = OwnRun(earlier)
        self._demonstrations = Demonstrations()
        self._waiting: deque[tuple[int, str, Detection, int]] = deque()
        self._joint_histories = JointHistories()

    def _look_back(self) -> None:
        """Have detectors go on from what earlier runs left, and joints listed for contacts."""
        for name, runner in self._runners.items():
            self._prepare(name, self._earlier.find_learned)
            forgets = isinstance(runner.detector, MotionDetector) and not (
                runner.detector.settings.effort_learning_s
            )
            if forgets and self._is_live:
                self._emit(name, TopicEffort(self._source, self._topics[name], None))

    def _prepare(self, name: str, find_learned: Callable[..., LearnedEffort | None]) -> None:
        """Have a new detector go on from the last view, and what was learned."""
        runner, topic = self._runners[name], self._topics[name]
        detector = runner.detector
        if isinstance(detector, SceneDetector):
            collection = runner.tap.settings.collection
            detector.compare_with(partial(self._earlier.find_last_view, topic, collection))
        elif isinstance(detector, MotionDetector):
            contacts = (one.tap.detector == 'contact' for one in self._runners.values())
            detector.lists_places = any(contacts)
            detector.go_on_from(partial(find_learned, topic))

    def _wipe(self, name: str) -> None:
        """Drop what a tap's detector holds but for what it learned of joints."""
        detector = self._runners[name].detector
        if isinstance(detector, MotionDetector):
            self._own_run.note_learned(self._topics[name], detector.list_learned())
        self._runners[name].wipe(partial(self._prepare, name, self._own_run.find_learned))
        self._joint_histories.forget(name)

    def _store_efforts(self) -> None:
        """Hand on what was learned of joints, for later runs."""
        for name, runner in self._runners.items():
            if isinstance(runner.detector, MotionDetector):
                for learned in runner.detector.list_learned():
                    self._emit(name, TopicEffort(self._source, self._topics[name], learned))

    def list_handlers(self) -> list[TopicHandler]:
        """Return the topics to subscribe to, each with what takes its messages."""
        handlers = [
            TopicHandler(topic, topic, kind, latched, latched)
            for topic, kind, latched in self._pose_source.topics
        ]
        for name, runner in self._runners.items():
            settings = runner.tap.settings
            handlers.append(
                TopicHandler(
                    self._make_title(name),
                    self._topics[name],
                    settings.type,
                    settings.type == 'std_msgs/msg/String',
                    DEFAULTS.get(name, {}).get('topic') == settings.topic,
                    name,
                    runner.takes_blocks,
                )
            )
        for outcomes in self._outcomes.values():
            handlers += outcomes.list_handlers()
        return handlers

    def _make_title(self, name: str) -> str:
        return f'{name} ({self._topics[name]})'

    def receive(self, messages: Sequence[Received]) -> None:
        """
        Take messages in the order in which they came.

        What comes of them does not depend on how many are given at once.
        """
        if self._gate is None:
            self._take(messages)
            return
        kept: list[Received] = []
        for message in messages:
            handler, raw, arrival_ns = message
            if handler.tap in self._runners:
                self._gate.hold(message, self._runners[handler.tap].sense(raw, arrival_ns))
            elif handler.tap:
                self._gate.hold(message, Sensed('', arrival_ns))
            else:
                self._take(kept)
                kept = []
                self._receive_one(message)
            kept = self._sort_out(self._gate.release(arrival_ns), kept)
        self._take(kept)

    def _sort_out(self, judged: Iterable[Judged], kept: list[Received]) -> list[Received]:
        """Return messages that may be kept; what comes before one that may not is taken first."""
        for message, withheld in judged:
            handler, raw, arrival_ns = message
            if withheld is None:
                self._wiped.discard(handler.tap)
                kept.append(message)
                continue
            self._take(kept)
            kept = []
            self._withheld[handler.tap][withheld.value] += 1
            if handler.tap in self._outcomes:
                self._outcomes[handler.tap].withhold(handler.topic, raw, arrival_ns)
                continue
            self._runners[handler.tap].counts['received'] += 1
            if handler.tap not in self._wiped:
                self._wiped.add(handler.tap)
                self._wipe(handler.tap)
        return kept

    def _take(self, messages: Sequence[Received]) -> None:
        """
        Take messages that may be kept.

        Frequent ones are looked at in blocks, ahead of the others; what is complete with one is
        handed on in its turn.
        """
        others: list[int] = []
        blocks: defaultdict[str, list[int]] = defaultdict(list)
        ready: list[tuple[int, str, Detection, int]] = []
        for position, message in enumerate(messages):
            handler = message[0]
            if handler.takes_blocks:
                blocks[handler.tap].append(position)
            else:
                others.append(position)
        if self._pictures is not None:
            self._pictures.begin([messages[at] for at in others], self._cameras)
        for tap, positions in blocks.items():
            raws = [messages[at][1] for at in positions]
            arrivals_ns = [messages[at][2] for at in positions]
            found = self._runners[tap].receive(raws, arrivals_ns)
            ready += [
                (positions[one.position], tap, one, arrivals_ns[one.position]) for one in found
            ]
        self._waiting.extend(sorted(ready, key=itemgetter(0)))
        for position in others:
            self._deliver_before(position)
            self._receive_one(messages[position])
        self._deliver_before(len(messages))

    def _deliver_before(self, position: int) -> None:
        while self._waiting and self._waiting[0][0] < position:
            _, tap, found, arrival_ns = self._waiting.popleft()
            self._deliver(tap, found, arrival_ns)

    def _receive_one(self, message: Received) -> None:
        handler, raw, arrival_ns = message
        self._late.release(arrival_ns)
        if handler.tap in self._outcomes:
            found = self._outcomes[handler.tap].receive(handler.topic, raw, arrival_ns)
            self._emit_all(handler.tap, found)
            return
        if handler.tap:
            for detection in self._runners[handler.tap].receive([raw], [arrival_ns]):
                self._deliver(handler.tap, detection, arrival_ns)
            return
        newest_ns = self._pose_source.receive(
            handler.topic, handler.type, handler.latched, raw, arrival_ns
        )
        self._late.release(arrival_ns)
        if self._pose_source.is_full:
            under_way = [runner.since_ns for runner in self._runners.values()]
            waiting = [found.event for _, _, found, _ in self._waiting]
            under_way += [one.stamp_ns for one in waiting if not isinstance(one, JointPlaces)]
            under_way += [] if self._gate is None else self._gate.stamps_ns
            under_way += self._late.stamps_ns
            self._pose_source.drop_before(min([newest_ns, *filter(None, under_way)]))

    def _emit_all(self, name: str, results: Iterable[Result]) -> None:
        for result in results:
            self._late.hand_on(name, result)

    def _deliver(self, name: str, found: Detection, arrival_ns: int) -> None:
        event = found.event
        if isinstance(event, TextEvent):
            self._deliver_text(name, event, found.dating)
        elif isinstance(event, JointPlaces):
            self._joint_histories.add(name, event)
        else:
            self._deliver_placed(name, event, found.dating, arrival_ns)

    def _deliver_placed(self, name: str, event: Any, dating: Dating, arrival_ns: int) -> None:
        tap = self._runners[name].tap
        is_motion = tap.detector == 'motion' and not event.kind
        if tap.detector == 'contact':
            event = mark_turning(event, self._joint_histories)
        texts = self._list_ongoing(dating, event.stamp_ns)
        shown = self._demonstrations.find(event) if is_motion else ''

        def make(place: PoseLookup | None) -> Perception:
            perception = make_perception(
                event,
                tap,
                self._topics[name],
                self._source,
                texts,
                place,
                shown,
                dating.stamped_by,
                stamp_is_local=dating.is_local,
            )
            perception.context['sense'].update(self._describe_recording(dating))
            edges = self._pose_source.list_edges(event.stamp_ns)
            return replace(perception, transforms=edges)

        stamp_ns, frame = event.stamp_ns, event.frame_id
        self._late.place(PlacedEvent(name, arrival_ns, stamp_ns, frame, is_motion, make))

    def _describe_recording(self, dating: Dating) -> dict[str, Any]:
        return {} if self._recording is None else self._recording.describe(dating.arrival_ns)

    def _list_ongoing(self, dating: Dating, stamp_ns: int) -> list[str]:
        found = self._ongoing_texts.list_at(stamp_ns)
        if not found:
            return []
        comparable = dating.is_local or not self._is_live
        since_ns = self._earlier.find_last_end(stamp_ns) if comparable else 0
        return [text.text for text in found if text.stamp_ns >= since_ns]

    def _deliver_text(self, name: str, event: TextEvent, dating: Dating) -> None:
        tap = self._runners[name].tap
        settings = tap.detector_settings
        ongoing = ('meanwhile',) if event.is_fault else ('meanwhile', 'both')
        if settings.use in ongoing:
            self._ongoing_texts.add(name, event)
        if settings.take_picture:
            for runner in self._runners.values():
                runner.expect(event.stamp_ns)
        if settings.use in ('learned', 'both'):
            recorded = self._describe_recording(dating)
            learned = make_learned_text(
                event, tap, self._topics[name], self._source, recorded, dating
            )
            self._late.hand_on(name, learned)

    def change_tap(self, tap: Tap) -> None:
        """Take other settings of a tap from its next event on."""
        if tap.name in self._runners:
            self._runners[tap.name].change(tap)

    def set_demonstration(self, name: str, now_ns: int) -> None:
        """Take what moves from now on for a demonstration of that name; empty: no longer."""
        self._demonstrations.begin(name, now_ns)

    def flush_silent(self, now_ns: int) -> None:
        """Hand on what is under way on topics that have fallen silent; live, now and then."""
        if self._gate is not None:
            self._take(self._sort_out(self._gate.release(now_ns), []))
        for name, runner in self._runners.items():
            for found in runner.flush_silent(now_ns):
                self._deliver(name, found, now_ns)
        for name, outcomes in self._outcomes.items():
            self._emit_all(name, outcomes.flush_silent(now_ns))
        self._late.release(now_ns)
        self._learned_ns = self._learned_ns or now_ns
        if not 0 <= now_ns - self._learned_ns < _STORE_EFFORTS_NS:
            self._learned_ns = now_ns
            self._store_efforts()

    def finish(self) -> None:
        """End all streams: what was under way is handed on, marked as broken off."""
        if self._gate is not None:
            self._take(self._sort_out(self._gate.release_all(), []))
        self._store_efforts()
        for name, runner in self._runners.items():
            for found in runner.finish():
                self._deliver(name, found, found.dating.arrival_ns)
        for name, outcomes in self._outcomes.items():
            self._emit_all(name, outcomes.finish())
        self._late.release_all()

    def report(self, kept: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, int]]:
        """
        Return by topic how many messages came, by reason how many were not used, and the events.

        `kept` says by tap what became of what was handed on.
        """
        found = self._pose_source.report()
        for name, runner in self._runners.items():
            counted = {**runner.report(), **self._withheld[name]}
            found[self._make_title(name)] = {**counted, **kept.get(name, {})}
        for name, outcomes in self._outcomes.items():
            found |= outcomes.report({**self._withheld[name], **kept.get(name, {})})
        return found

    def locate(
        self, target: str, frame: str, now_ns: int, *, of_frame: bool = False
    ) -> SensorPlace | None:
        """Return where a sensor of a frame is now in another, as `Locator` says."""
        if of_frame:
            return self._pose_source.find_frame(target, frame, now_ns)
        places = self._pose_source.list_places(target, Sensed(frame, now_ns))
        return max(places, key=lambda one: sum((one.spread or ())[::3]) if one else 0.0)
