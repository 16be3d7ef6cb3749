"""Where and when nothing is recorded: the rules, read from the settings and their file."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from zoneinfo import ZoneInfo

from robot_memory.core.daily_times import DailyTime, parse_daily_time
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.folders import expand_path
from robot_memory.core.json_text import format_value
from robot_memory.core.regions import Region, Vector, find_region, parse_regions
from robot_memory.core.settings import Settings
from robot_memory.core.suggestions import suggest
from robot_memory.core.zones import to_local

_SUFFIX = '.regions.yaml'
_KEYS = ('regions', 'no_record')
_NO_RECORD_KEYS = ('zones', 'times')


@dataclass(frozen=True)
class SensorPlace:
    """
    Hold a position in metres in a frame that was asked for, and the turn into that frame.

    `turn` are the rows of a rotation matrix; `spread` is the upper triangle of the covariance of
    the position there, None: it has none.
    """

    position: Vector
    turn: tuple[Vector, Vector, Vector] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    spread: tuple[float, ...] | None = None


class Locator(Protocol):
    """
    Say where a sensor of a frame is now in another; the empty frame is the robot's.

    With `of_frame` it is where the origin of the frame is, whatever stands for sensors.
    """

    def __call__(self, target: str, frame: str, *, of_frame: bool = False) -> SensorPlace | None:
        """Return where, or None where that is unknown."""


def find_nothing(target: str, frame: str, *, of_frame: bool = False) -> SensorPlace | None:
    """Know no place: that of processes which receive no poses."""
    return None


class Withheld(enum.Enum):
    """Say why something is not kept; the value is the reason in counts."""

    ZONE = 'no-record zone'
    PLACE_UNKNOWN = 'no-record zone: place unknown'
    TIME = 'no-record time'
    CLOCK_SUSPECT = 'no-record time: clock suspect'

    @property
    def counter(self) -> str:
        """Return the name of its counter in the registry."""
        return f'withheld_{self.label}'

    @property
    def label(self) -> str:
        """Return its label in the metrics."""
        return self.name.lower()


@dataclass(frozen=True)
class NoRecordRules:
    """Hold the zones and the daily times in which nothing is recorded, and all named regions."""

    zones: tuple[Region, ...] = ()
    times: tuple[DailyTime, ...] = ()
    regions: tuple[Region, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.zones or self.times)

    def covers_time(self, instant: int, zone: ZoneInfo) -> bool:
        """Say whether an instant in microseconds lies in a no-record time of a time zone."""
        local = to_local(instant, zone)
        return any(time.covers(local) for time in self.times)

    def describe(self) -> dict[str, list[str]]:
        """Return the names of the zones, and the times as they were written."""
        return {
            'zones': [f'{zone.name} ({zone.frame})' for zone in self.zones],
            'times': [time.text for time in self.times],
        }


def read_rules(settings: Settings, store: Path) -> NoRecordRules:
    """
    Return the rules of the settings and of their file, which may stand beside the store.

    Raise InvalidArgument for what is not accepted, and for a file that cannot be read: nothing
    may be recorded because a rule is not known.
    """
    path = _choose_file(settings, store)
    file = {} if path is None else _read_file(path)
    try:
        regions = parse_regions(file.get('regions') or {})
        given = _read_no_record(file.get('no_record') or {})
        zones = [find_region(regions, name, 'no_record.zones') for name in given['zones']]
        times = [_parse_time(text, 'no_record.times') for text in given['times']]
    except InvalidArgument as error:
        raise InvalidArgument(f'{path}: {error}') from None
    zones += [
        find_region(regions, one, 'no_record_zones') for one in settings.no_record_zones if one
    ]
    times += [_parse_time(one, 'no_record_times') for one in settings.no_record_times if one]
    return NoRecordRules(tuple(dict.fromkeys(zones)), tuple(dict.fromkeys(times)), regions)


def _choose_file(settings: Settings, store: Path) -> Path | None:
    if settings.regions_file:
        return expand_path(settings.regions_file, 'regions_file')
    beside = store.with_suffix(_SUFFIX)
    return beside if beside.exists() else None


def _read_file(path: Path) -> Mapping[Any, Any]:
    # Here: most commands have no such file, and would wait for the parser at their start.
    from robot_memory.core.params_file import read_yaml

    try:
        loaded = read_yaml(path, f'regions_file {path}')
    except OSError as error:
        raise InvalidArgument(f'cannot read regions_file {path}: {error.strerror}') from None
    loaded = {} if loaded is None else loaded
    if not isinstance(loaded, Mapping):
        raise InvalidArgument(
            f'regions_file {path} contains {format_value(loaded)}; accepted: regions: and '
            'no_record:'
        )
    _refuse_unknown(loaded, _KEYS, str(path))
    return loaded


def _read_no_record(given: Any) -> dict[str, list[Any]]:
    if not isinstance(given, Mapping):
        raise InvalidArgument(
            f'no_record must have zones and times, as lists, and is {format_value(given)}'
        )
    _refuse_unknown(given, _NO_RECORD_KEYS, 'no_record')
    found = {name: given.get(name) or [] for name in _NO_RECORD_KEYS}
    for name, value in found.items():
        if not isinstance(value, list) or any(not isinstance(one, str) for one in value):
            raise InvalidArgument(
                f'no_record.{name} must be a list of texts, not {format_value(value)}'
            )
    return found


def _parse_time(text: str, argument: str) -> DailyTime:
    try:
        return parse_daily_time(text)
    except InvalidArgument as error:
        raise InvalidArgument(f'{argument}: {error}') from None


def _refuse_unknown(given: Mapping[Any, Any], accepted: Sequence[str], where: str) -> None:
    for key in given:
        if key not in accepted:
            raise InvalidArgument(
                f'{where}: unknown key {format_value(key)}{suggest(key, accepted)}; accepted: '
                f'{", ".join(accepted)}'
            )
