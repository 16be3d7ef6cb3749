"""Streams of pictures: scenes that are drawn or given, with noise, flicker and drift."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from robot_memory.detectors import (
    DecodedImage,
    Event,
    ImageReading,
    SceneDetector,
    SceneSettings,
    decode_compressed,
)

BICUBIC = Image.Resampling.BICUBIC
START_NS = 10**18
TENTH_NS = 10**8
SECOND_NS = 10**9
SPARE = 100_000


def table(block: tuple[int, int] | None = None, width: int = 320, height: int = 240) -> Any:
    """Return a picture of a table, with a red block whose upper left corner is at `block`."""
    pixels = np.full((height, width, 3), (176, 180, 186), float)
    pixels[height // 3 :] = (140, 110, 80)
    pixels[height // 2 : height // 2 + 30, width - 80 : width - 30] = (60, 70, 90)
    if block:
        x, y = block
        pixels[y : y + 30, x : x + 40] = (190, 30, 30)
    return pixels


def reading(pixels: Any, stamp_ns: int, frame_id: str = 'camera') -> ImageReading:
    image = Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))
    return ImageReading(stamp_ns, frame_id, DecodedImage(image, *image.size))


def stream(
    scenes: Any,
    frames: int = 12,
    noise: float = 3.0,
    flicker: float = 0.12,
    drift: float = 0.0,
    start_ns: Any = START_NS,
) -> list[ImageReading]:
    """
    Return each scene for so many pictures at 10 Hz.

    `noise` is its standard deviation, `flicker` and `drift` are shares of the brightness: one
    comes and goes, the other adds up over the whole stream.
    """
    random = np.random.default_rng(2)
    # Each picture's noise is a cut of one long draw, at a place of its own.
    drawn: dict[int, NDArray[np.float32]] = {}
    held = [scene for scene in scenes for _ in range(frames)]
    readings = []
    for count, scene in enumerate(held):
        gain = 1 + flicker * np.sin(1.7 * count) + drift * count / len(held)
        if scene.size not in drawn:
            drawn[scene.size] = random.standard_normal(scene.size + SPARE, np.float32)
        begin = random.integers(SPARE)
        noisy = drawn[scene.size][begin : begin + scene.size].reshape(scene.shape) * noise
        noisy += (scene * gain).astype(np.float32)
        readings.append(reading(noisy, start_ns + count * TENTH_NS))
    return readings


def feed(detector: SceneDetector, readings: list[ImageReading]) -> list[Event]:
    return [event for one in readings for event in detector.feed(one)]


def run(readings: list[ImageReading], **changes: Any) -> list[Event]:
    """Return what a detector makes of a whole stream."""
    detector = SceneDetector(SceneSettings(**changes))
    return feed(detector, readings) + detector.finish()


def stamps(events: list[Event]) -> list[float]:
    """Return when the pictures were taken, in seconds after the start."""
    return [(event.stamp_ns - START_NS) / 1e9 for event in events]


def opened(jpeg: bytes) -> Image.Image:
    picture = Image.open(io.BytesIO(jpeg))
    assert picture.format == 'JPEG'
    return picture


def softened(pixels: Any, radius: float) -> Any:
    """Return a picture out of focus, by a Gaussian of so many pixels."""
    image = Image.fromarray(pixels.astype(np.uint8))
    return np.asarray(image.filter(ImageFilter.GaussianBlur(radius)), float)


def trembling(pixels: Any, count: int) -> list[NDArray[Any]]:
    """Return so many cuts of a picture, each 4 pixels smaller and up to a pixel off the middle."""
    random = np.random.default_rng(5)
    image = Image.fromarray(pixels.astype(np.uint8))
    size = image.width - 4, image.height - 4
    scenes = []
    for x, y in random.uniform(1, 3, (count, 2)):
        shifted = image.transform(size, Image.Transform.AFFINE, (1, 0, x, 0, 1, y), BICUBIC)
        scenes.append(np.asarray(shifted, float))
    return scenes


def elsewhere(seed: int, width: int = 320, height: int = 240) -> Any:
    """Return a picture that has nothing in common with another of the kind."""
    random = np.random.default_rng(seed)
    fields = random.integers(20, 230, (6, 8, 3), np.uint8)
    return np.asarray(Image.fromarray(fields).resize((width, height), Image.Resampling.BOX), float)


def looks(
    pixels: Any, count: int = 8, noise: float = 6.0, flicker: float = 0.1, quality: int = 0
) -> list[str]:
    """Return what kept pictures of one scene look like, one stream each."""
    found = []
    for one in stream([pixels], count, noise, flicker):
        view = one.view
        if quality:
            buffer = io.BytesIO()
            view.image.save(buffer, 'JPEG', quality=quality)
            view = decode_compressed(buffer.getvalue())
        (event,) = run([ImageReading(START_NS, '', view)])
        found.append(event.data['look'])
    return found
