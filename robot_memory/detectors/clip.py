"""Clip: the small pictures around the moment of an event, from the last seconds and the next."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from PIL import Image

from robot_memory.detectors.event import Event, Picture
from robot_memory.detectors.images import encode_jpeg

SIDE = 160
QUALITY = 75


class ClipFrame(NamedTuple):
    """Hold a small picture that nobody needed as a JPEG yet."""

    stamp_ns: int
    image: Image.Image


class ClipRecorder:
    """
    Keep the pictures of the last `pre_s` seconds, and hold events until `post_s` have passed.

    It takes the first picture of each 1 / `film_hz` s, on a grid of the stamps: so the same
    pictures, wherever in the stream it begins.
    """

    def __init__(self, pre_s: float, post_s: float, film_hz: float) -> None:
        """Begin with nothing."""
        self._pre_ns = round(pre_s * 1e9)
        self._post_ns = round(post_s * 1e9)
        self._step_ns = round(1e9 / film_hz)
        self._step = -1
        self._before: deque[ClipFrame] = deque()
        self._held: deque[tuple[Event, list[ClipFrame]]] = deque()

    @property
    def since_ns(self) -> int:
        """Return the stamp of the oldest event that is held; 0: there is none."""
        return self._held[0][0].stamp_ns if self._held else 0

    def add_picture(self, stamp_ns: int, make_image: Callable[[], Image.Image]) -> list[Event]:
        """Take the next picture, made small if it is kept; return the events that end before."""
        events = []
        while self._held and self._held[0][0].stamp_ns + self._post_ns < stamp_ns:
            events.append(_attach_clip(*self._held.popleft()))
        while self._before and self._before[0].stamp_ns < stamp_ns - self._pre_ns:
            self._before.popleft()
        if stamp_ns // self._step_ns != self._step:
            self._step = stamp_ns // self._step_ns
            frame = ClipFrame(stamp_ns, make_image())
            self._before.append(frame)
            for _, frames in self._held:
                frames.append(frame)
        return events

    def hold(self, event: Event) -> list[Event]:
        """Take an event at the picture just seen; return it if nothing may follow."""
        frames = [frame for frame in self._before if frame.stamp_ns < event.stamp_ns]
        if not self._post_ns:
            return [_attach_clip(event, frames)]
        self._held.append((event, frames))
        return []

    def flush(self) -> list[Event]:
        """Return the events that are held, with the clip so far, and drop the pictures."""
        events = [_attach_clip(event, frames) for event, frames in self._held]
        self._held.clear()
        self._before.clear()
        self._step = -1
        return events


def _attach_clip(event: Event, frames: list[ClipFrame]) -> Event:
    film = (Picture(frame.stamp_ns, encode_jpeg(frame.image, SIDE, QUALITY)) for frame in frames)
    return replace(event, film=tuple(film))
