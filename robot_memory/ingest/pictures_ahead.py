"""Pictures decoded and made small in a thread beside, while other messages are looked at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol

from robot_memory.detectors.image_change import CELLS_ACROSS
from robot_memory.ingest.fast_readings import Raw
from robot_memory.ingest.handlers import Received


class Camera(Protocol):
    """A tap whose pictures can be decoded ahead."""

    def read(self, raw: Raw, stamp_ns: int) -> Any:
        """Return the reading in a message; whatever is wrong with the bytes raises."""

    def choose_wanted(self, raws: Sequence[Raw]) -> Sequence[Raw]:
        """Return those of the next messages that are likely not above its rate."""


class PicturesAhead:
    """
    Decode the pictures of a batch of messages in a thread of its own.

    What comes of them does not depend on it: who needs a picture waits for it, and one that was
    not begun is decoded there and then. At most those of one batch are held. Use it as a context
    manager.
    """

    def __init__(self) -> None:
        """Begin with no picture."""
        self._pool = ThreadPoolExecutor(1, 'pictures')
        self._begun: dict[int, tuple[Raw, Future[Any]]] = {}

    def __enter__(self) -> PicturesAhead:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop; what was begun is dropped."""
        self._pool.shutdown(cancel_futures=True)

    def __len__(self) -> int:
        """Return how many pictures were begun that nobody has taken."""
        return len(self._begun)

    def begin(self, messages: Iterable[Received], cameras: Mapping[str, Camera]) -> None:
        """Begin to decode the pictures among the messages of a batch, by the taps' names."""
        self.drop()
        raws: dict[str, list[Raw]] = {}
        for handler, raw, _ in messages:
            if handler.tap in cameras:
                raws.setdefault(handler.tap, []).append(raw)
        for tap, given in raws.items():
            camera = cameras[tap]
            for raw in camera.choose_wanted(given):
                self._begun[id(raw)] = raw, self._pool.submit(_prepare, camera, raw)

    def take(self, raw: Raw) -> Any:
        """Return the reading in a message that was begun, or raise what it raised; else None."""
        _, decoded = self._begun.pop(id(raw), (raw, None))
        return None if decoded is None else decoded.result()

    def drop(self) -> None:
        """Forget the pictures that nobody has taken."""
        for _, decoded in self._begun.values():
            decoded.cancel()
        self._begun.clear()


def _prepare(camera: Camera, raw: Raw) -> Any:
    """Return the reading in a message, of no stamp, whose small picture is made."""
    reading = camera.read(raw, 0)
    reading.view.average(CELLS_ACROSS)
    return reading
