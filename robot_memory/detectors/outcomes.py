"""The goals of an action, each followed to its end and then told as a trial, once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.trials import Trial
from robot_memory.detectors.outcome_fields import Missing, OutcomeFields, OutcomeSettings

SUCCEEDED, CANCELED, ABORTED = 4, 5, 6
"""The states in which a goal has ended, by their numbers in action_msgs/GoalStatus."""
_SUCCESS = {SUCCEEDED: True, ABORTED: False, CANCELED: None}
_MISSING = {
    'goal': 'no goal',
    'feedback': 'no feedback',
    'result': 'no result',
    'topic': 'no message of the result topic',
}
UNUSABLE = 'unusable value'
_MAX_OPEN, _MAX_DECIDED = 256, 4096


@dataclass(frozen=True)
class Outcome:
    """Hold a trial, and the server's stamp of when its goal was accepted; 0: unknown."""

    trial: Trial
    stamp_ns: int
    heard_ns: int


@dataclass
class _Goal:
    heard_ns: int
    messages: dict[str, Any] = field(default_factory=dict)
    stamp_ns: int = 0
    status: int = 0
    ended_ns: int = 0

    def is_over(self, now_ns: int, wait_ns: int) -> bool:
        """Say whether nothing that comes now is of this goal."""
        return bool(self.ended_ns) and now_ns - self.ended_ns > wait_ns


class GoalFollower:
    """
    Follow the goals of one action; `now_ns` is always when a message came.

    A goal is complete when it has ended and all that is preferred is there, or `wait_s` later. A
    measurement on the result topic is that of the only goal it can be of: the last one that comes
    while the goal is under way, else the first one after. `ignored` counts, by reason, goals of
    which no trial was made, and measurements that could be of several.
    """

    def __init__(self, settings: OutcomeSettings) -> None:
        """Begin with no goal; raise InvalidArgument for settings that are not accepted."""
        self.fields = OutcomeFields(settings)
        self.ignored: Counter[str] = Counter()
        self.ended = 0
        self._settings = settings
        self._wait_ns = round(settings.wait_s * 1e9)
        self._listens = False
        self._open: dict[UUID, _Goal] = {}
        self._decided: dict[UUID, None] = {}

    def note_message(self, goal_id: UUID, source: str, message: Any, now_ns: int) -> None:
        """Take the goal, the latest feedback, or the result of a goal."""
        goal = self._find(goal_id, now_ns)
        if goal is not None:
            goal.messages[source] = message

    def note_answer(self, goal_id: UUID, accepted: bool, stamp_ns: int, now_ns: int) -> None:
        """Take the server's answer to a request."""
        goal = self._find(goal_id, now_ns)
        if goal is None:
            return
        goal.stamp_ns = goal.stamp_ns or stamp_ns
        if not accepted:
            self._decide(goal_id)
            self.ignored['rejected'] += 1

    def note_states(self, states: Sequence[tuple[UUID, int, int]], now_ns: int) -> None:
        """
        Take the states of goals: of each its id, its state, and when it was accepted.

        What has ended by the first message and is not known yet ended before there was a tap.
        """
        for goal_id, status, stamp_ns in states:
            if not self._listens and status in _SUCCESS and goal_id not in self._open:
                self._find(goal_id, now_ns)
                self._decide(goal_id)
                self.ignored['ended before'] += 1
                continue
            self.note_status(goal_id, status, stamp_ns, now_ns)
        self._listens = True

    def note_status(self, goal_id: UUID, status: int, stamp_ns: int, now_ns: int) -> None:
        """Take the state of a goal, `stamp_ns` being when it was accepted; 0: not said."""
        goal = self._find(goal_id, now_ns)
        if goal is None:
            return
        goal.stamp_ns = stamp_ns or goal.stamp_ns
        if status in _SUCCESS and not goal.ended_ns:
            goal.status, goal.ended_ns = status, now_ns
            self.ended += 1

    def note_measurement(self, message: Any, now_ns: int) -> None:
        """Take a message of the result topic."""
        waiting = [
            goal
            for goal in self._open.values()
            if not goal.is_over(now_ns, self._wait_ns)
            and not (goal.ended_ns and 'topic' in goal.messages)
        ]
        if len(waiting) == 1:
            waiting[0].messages['topic'] = message
        elif waiting:
            self.ignored['could be of several goals'] += 1

    def list_complete(self, now_ns: int) -> list[Outcome]:
        """Return the trials of the goals that are complete by now, in the order of their ends."""
        ready = [
            goal_id
            for goal_id, goal in self._open.items()
            if goal.ended_ns
            and (
                self.fields.preferred <= goal.messages.keys()
                or goal.is_over(now_ns, self._wait_ns)
            )
        ]
        return self._complete(ready)

    def finish(self) -> list[Outcome]:
        """Return the trials of all goals that have ended; count the others."""
        found = self._complete([one for one, goal in self._open.items() if goal.ended_ns])
        self.ignored['not ended'] += len(self._open)
        self._open.clear()
        return found

    def withhold_open(self) -> None:
        """Make no trial of the goals that are known so far, whatever comes of them."""
        for goal_id in list(self._open):
            self._decide(goal_id)
            self.ignored['withheld'] += 1

    def _find(self, goal_id: UUID, now_ns: int) -> _Goal | None:
        if goal_id in self._decided:
            return None
        if goal_id not in self._open:
            if len(self._open) >= _MAX_OPEN:
                self._decide(next(iter(self._open)))
                self.ignored['not ended'] += 1
            self._open[goal_id] = _Goal(now_ns)
        return self._open[goal_id]

    def _decide(self, goal_id: UUID) -> _Goal:
        self._decided[goal_id] = None
        if len(self._decided) > _MAX_DECIDED:
            del self._decided[next(iter(self._decided))]
        return self._open.pop(goal_id)

    def _complete(self, goal_ids: list[UUID]) -> list[Outcome]:
        goal_ids.sort(key=lambda goal_id: self._open[goal_id].ended_ns)
        found = []
        for goal_id in goal_ids:
            goal = self._decide(goal_id)
            try:
                trial = self._make_trial(goal_id, goal)
            except Missing as missing:
                self.ignored[_MISSING[str(missing)]] += 1
                continue
            except InvalidArgument:
                self.ignored[UNUSABLE] += 1
                continue
            if trial.success is None and not trial.results:
                self.ignored['canceled'] += 1
                continue
            found.append(Outcome(trial, goal.stamp_ns, goal.heard_ns))
        return found

    def _make_trial(self, goal_id: UUID, goal: _Goal) -> Trial:
        """Return the trial of a goal; raise Missing or InvalidArgument where it is not whole."""
        received, fields = goal.messages, self.fields
        return Trial(
            self._settings.skill,
            fields.read_situation(received),
            {one.name: one.read(received, may_be_name=True) for one in fields.numbers},
            {one.name: one.read(received, may_be_name=True) for one in fields.params},
            self._read_results(received),
            _SUCCESS[goal.status],
            robot=self._settings.robot or None,
            key=str(goal_id),
        )

    def _read_results(self, received: dict[str, Any]) -> dict[str, Any]:
        """Return the results that are there: of a goal that failed there may be none."""
        found = {}
        for one in self.fields.results:
            try:
                found[one.name] = one.read(received, may_be_name=False)
            except (Missing, InvalidArgument):
                self.ignored['without result'] += 1
        return found
