"""Text: an instruction that a person or a planner gave, a warning that a node logged."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass

from robot_memory.core.fields import arg, validate

LEVELS = {'debug': 10, 'info': 20, 'warn': 30, 'error': 40, 'fatal': 50}
MINUTE_NS = 60 * 10**9
FOREVER_NS = 10**20


def name_level(level: int) -> str:
    """Return the name of the severity of a log message: 'warn' for 30 to 39."""
    below = [name for name, number in LEVELS.items() if number <= level]
    return below[-1] if below else 'unset'


@dataclass(frozen=True, slots=True)
class TextReading:
    """Hold a text; a log message has a `level` of rcl_interfaces/Log and its logger's `name`."""

    stamp_ns: int
    text: str
    level: int = 0
    name: str = ''


@dataclass(frozen=True)
class TextSettings:
    """Settings of the text detector."""

    use: str = arg(
        'learned: store the text as a memory; meanwhile: attach it to events while it is valid; '
        'both.',
        default='both',
        choices=('learned', 'meanwhile', 'both'),
    )
    lasts_s: float = arg(
        'Time for which a text stays valid if no other text follows, in seconds; 0: until the '
        'next one, or the end of the session.',
        default=0.0,
        minimum=0.0,
        maximum=86_400.0,
    )
    repeat_s: float = arg(
        'Time within which an identical text is a repetition, in seconds.',
        default=5.0,
        minimum=0.0,
        maximum=86_400.0,
    )
    min_level: str = arg(
        'Minimum severity of log messages.', default='warn', choices=tuple(LEVELS)
    )
    max_per_minute: int = arg(
        'Maximum texts stored per minute.', default=12, minimum=1, maximum=600
    )
    max_length: int = arg(
        'Maximum length in characters; longer texts are discarded.',
        default=500,
        minimum=1,
        maximum=2000,
    )
    take_picture: bool = arg('Store a camera image when a text arrives.', default=True)

    def __post_init__(self) -> None:
        """Refuse settings that no text can meet."""
        validate(self)


@dataclass(frozen=True)
class TextEvent:
    """
    Hold a text that matters, and until when it holds.

    A fault has the `level` of its log message (rcl_interfaces/Log), and the name of its `logger`.
    """

    stamp_ns: int
    until_ns: int
    text: str
    level: int = 0
    logger: str = ''

    @property
    def is_fault(self) -> bool:
        """Say whether it is a log message rather than an instruction."""
        return self.level > 0


class TextDetector:
    """Find the texts that matter in the stream of one topic."""

    def __init__(self, settings: TextSettings = TextSettings()) -> None:
        """Start without a text; `ignored` counts by reason what was not used."""
        self.settings = settings
        self.ignored: Counter[str] = Counter()
        self._seen: dict[str, int] = {}
        self._recent: deque[int] = deque(maxlen=settings.max_per_minute)

    def retune(self, settings: TextSettings) -> None:
        """Take other settings; texts that came before still count."""
        self.settings = settings
        self._recent = deque(self._recent, maxlen=settings.max_per_minute)

    def feed(self, reading: TextReading) -> list[TextEvent]:
        """Take the next text and return it if it matters."""
        text = ' '.join(reading.text.split())
        reason = self._find_reason_to_skip(reading, text)
        if reason:
            self.ignored[reason] += 1
            return []
        stamp_ns = reading.stamp_ns
        before_ns = self._seen.pop(text, None)
        self._seen[text] = stamp_ns
        if len(self._seen) > 4 * self.settings.max_per_minute:
            del self._seen[next(iter(self._seen))]
        if before_ns is not None and 0 <= stamp_ns - before_ns < self.settings.repeat_s * 1e9:
            self.ignored['repeated'] += 1
            return []
        full = len(self._recent) == self._recent.maxlen
        if full and 0 <= stamp_ns - self._recent[0] < MINUTE_NS:
            self.ignored['too many a minute'] += 1
            return []
        self._recent.append(stamp_ns)
        said = f'{reading.name}: {text}' if reading.name else text
        lasts_ns = round(self.settings.lasts_s * 1e9) or FOREVER_NS
        return [TextEvent(stamp_ns, stamp_ns + lasts_ns, said, reading.level, reading.name)]

    def pause(self) -> list[TextEvent]:
        """Return nothing: a text is never under way."""
        return []

    def finish(self) -> list[TextEvent]:
        """Reset; a text is never under way, so nothing is returned."""
        self._seen.clear()
        self._recent.clear()
        return []

    @property
    def since_ns(self) -> int:
        """Return 0: a text is handed on at once."""
        return 0

    def _find_reason_to_skip(self, reading: TextReading, text: str) -> str:
        if reading.stamp_ns <= 0:
            return 'no stamp'
        if not text:
            return 'empty'
        if len(text) > self.settings.max_length:
            return 'too long'
        low = reading.name and reading.level < LEVELS[self.settings.min_level]
        return 'level' if low else ''
