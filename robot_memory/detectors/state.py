"""States: a flag or a number that says in which mode a robot, a gripper or a program is."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import asdict, dataclass
from math import inf

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import arg, validate
from robot_memory.core.json_text import format_value
from robot_memory.detectors.confidence import rate_evidence
from robot_memory.detectors.event import UNUSABLE, Event, StampOrder
from robot_memory.detectors.formatting import format_number

_ENDLESS_S = 1e9
_FAULT = re.compile(
    r'stop|fault|error|fail|lost|loss|emergency|violation|alarm|collision|overheat|disconnect'
    r'|停|故障|错误|失败|丢失|报警|碰撞',
    re.IGNORECASE,
)
"""Words of states that are faults, where the settings do not say which are."""


@dataclass(frozen=True, slots=True)
class StateReading:
    """Hold the value of a state as text ('true', '3', 'RUNNING'), and what was said of it."""

    stamp_ns: int
    value: str
    words: str = ''


@dataclass(frozen=True)
class StateSettings:
    """Settings of the state detector."""

    name: str = arg(
        'Name of what has the state; empty: the last part of the topic name.',
        default='',
        max_length=100,
    )
    states: tuple[str, ...] = arg(
        'Names of values, as "VALUE: name" ("3: protective stop"). A value without a name is '
        'called by the name and the value, true by the name alone.',
        default=(),
    )
    rest: tuple[str, ...] = arg(
        'Values that are not stored as events: the usual state.', default=('false', '0')
    )
    faults: tuple[str, ...] = arg(
        'Values that are faults; empty: those whose name says so (stop, fault, error, lost, ...).',
        default=(),
    )
    min_duration_s: float = arg(
        'Shorter states are ignored, in seconds.', default=0.0, minimum=0.0, maximum=3600.0
    )

    def __post_init__(self) -> None:
        """Refuse entries of `states` that name no value."""
        validate(self)
        for entry in self.states:
            value, colon, name = entry.partition(':')
            if not (value.strip() and colon and name.strip()):
                raise InvalidArgument(
                    f'states accepts "VALUE: name", e.g. "3: protective stop", not '
                    f'{format_value(entry)}'
                )


class StateDetector:
    """
    Find the stretches in which one topic has a value that is not the usual one.

    Such a state is an event at once, broken off until it has ended, so that it is known while it
    lasts. Topics that are published on a change only may be silent: silence ends nothing.
    """

    def __init__(self, settings: StateSettings = StateSettings()) -> None:
        """Start without a value; `ignored` counts by reason what was not used."""
        self.settings = settings
        self.ignored: Counter[str] = Counter()
        self._order = StampOrder(_ENDLESS_S, self.ignored)
        pairs = (entry.partition(':') for entry in settings.states)
        self._names = {value.strip(): name.strip() for value, _, name in pairs}
        self._value: str | None = None
        self._words = ''
        self._since_ns = self._last_ns = 0
        self._is_first = True

    def feed(self, reading: StateReading) -> list[Event]:
        """Take the next value; return the state that it ends, and the one that it begins."""
        if self._order.judge(reading.stamp_ns) == UNUSABLE:
            return []
        self._last_ns = reading.stamp_ns
        if reading.value == self._value:
            return []
        ended = self._end(reading.stamp_ns, broken_off=False)
        self._is_first = self._value is None
        self._value, self._since_ns = reading.value, reading.stamp_ns
        self._words = ' '.join(reading.words.split())[:300]
        if self.settings.min_duration_s:
            return ended
        return ended + self._end(reading.stamp_ns, broken_off=True)

    def pause(self) -> list[Event]:
        """Return nothing: a state lasts while nothing is heard of it."""
        return []

    def finish(self) -> list[Event]:
        """End the stream: return the state that lasts, as broken off, and forget it."""
        lasting = self._end(self._last_ns, broken_off=True)
        self._value = None
        return lasting if self._last_ns > self._since_ns else []

    @property
    def since_ns(self) -> int:
        """Return 0: a state is handed on as it begins."""
        return 0

    def _end(self, at_ns: int, *, broken_off: bool) -> list[Event]:
        """Return the present state as an event that ends at a stamp; nothing of the usual one."""
        value, settings = self._value, self.settings
        if value is None or value in settings.rest:
            return []
        seconds = (at_ns - self._since_ns) / 1e9
        if seconds < settings.min_duration_s:
            if not broken_off:
                self.ignored['short'] += 1
            return []
        name = self._describe(value)
        words = self._words or name[:1].upper() + name[1:]
        if seconds:
            words += f' for {format_number(seconds)} s'
        if broken_off:
            words += ', not ended' if not seconds else ', broken off: the stream ended'
        data: dict[str, object] = {'kind': name, 'value': value, 'duration_s': round(seconds, 4)}
        if self._is_first:
            data['began_before'] = True
        if self._is_fault(value, name):
            data['fault'] = True
        metadata = {'detector': 'state', 'units': {'time': 's'}, 'settings': asdict(settings)}
        return [
            Event(
                'proprioceptive',
                words,
                self._since_ns,
                self._since_ns,
                at_ns,
                '',
                f'{settings.name} {value}'.strip()[:200],
                data,
                metadata,
                broken_off=broken_off,
                confidence=rate_evidence(inf, flaws=broken_off + self._is_first),
            )
        ]

    def _describe(self, value: str) -> str:
        """Return the name of a value."""
        name = self.settings.name or 'state'
        return self._names.get(value) or (name if value == 'true' else f'{name} {value}')[:200]

    def _is_fault(self, value: str, name: str) -> bool:
        faults = self.settings.faults
        return value in faults if faults else _FAULT.search(name) is not None
