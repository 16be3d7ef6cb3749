"""The settings of a detector of contacts, and how other ones take their place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from robot_memory.detectors.baseline import Baseline
from robot_memory.detectors.contact_settings import ContactSettings
from robot_memory.detectors.event import StampOrder
from robot_memory.detectors.ring_buffer import RingBuffer

RISE_NS = 4 * 10**9
SUNK_NS = 10**9


class TunedDetector:
    """Hold the settings, and what of a stream is measured by them."""

    settings: ContactSettings

    def __init__(self, settings: ContactSettings) -> None:
        """Begin with no reading; `ignored` counts by reason what was not used."""
        self.ignored: Counter[str] = Counter()
        self._order = StampOrder(settings.gap_s, self.ignored)
        self._buffer = RingBuffer(0.0, settings.pre_s, settings.post_s)

    def _list_baselines(self) -> Iterable[Baseline | None]:
        """Return what is known of the sensor at rest."""
        raise NotImplementedError

    def retune(self, settings: ContactSettings) -> None:
        """Take other settings while no contact is under way; the rest is known as before."""
        self.settings = settings
        self._order.retune(settings.gap_s)
        self._quiet_ns = round(settings.quiet_s * 1e9)
        self._max_ns = round(settings.max_duration_s * 1e9)
        reach_s = max(settings.pre_s + RISE_NS / 1e9, settings.quiet_s, SUNK_NS / 1e9)
        self._buffer.retune(reach_s, settings.pre_s, settings.post_s)
        for one in filter(None, self._list_baselines()):
            one.retune(settings.onset_n, settings.onset_nm, settings.baseline_s)
