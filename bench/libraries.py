"""Time our own code beside libraries that could do the same; what is not installed is left out."""

from __future__ import annotations

import functools
import importlib
import io
import time
from collections.abc import Callable
from dataclasses import dataclass, make_dataclass
from typing import Any

import numpy as np
from PIL import Image

from robot_memory.core.fields import arg, parse
from robot_memory.detectors.images import decode_compressed, hash_image
from robot_memory.detectors.poses import Pose
from robot_memory.metrics.registry import Registry

ROUNDS = 5
CALL = {'insight': 'The red cup needs 12 N', 'n': 5, 'confidence': 0.5, 'tags': ['cup', 'force']}


@dataclass(frozen=True)
class Call:
    """Hold a request like those of the tools."""

    insight: str = arg('A text.')
    n: int = arg('A number.', default=5, minimum=1, maximum=100)
    confidence: float = arg('A share.', default=0.5, minimum=0, maximum=1)
    tags: tuple[str, ...] = arg('Words.', default=())


def main() -> None:
    """Print microseconds a call, the best of five rounds."""
    show('parse a request, fields', 2000, lambda: parse(Call, CALL, 'learn'))
    measure_with('pydantic', lambda it: parse_by_pydantic(it))
    measure_with('msgspec', lambda it: parse_by_msgspec(it))
    half = (0.0, 0.0, 0.5**0.5, 0.5**0.5)
    pose, other = Pose((1.0, 2.0, 3.0), half), Pose((0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 1.0))
    show('chain and interpolate poses, own', 5000, lambda: (pose @ other).interpolate(other, 0.3))
    measure_with('scipy.spatial.transform', lambda it: chain_by_scipy(it, half))
    picture = io.BytesIO()
    noise = np.random.default_rng(0).integers(0, 255, (45, 80, 3), np.uint8)
    Image.fromarray(noise).resize((1280, 720)).save(picture, 'JPEG')
    data = picture.getvalue()
    show('decode and hash 1280 x 720, ours', 20, lambda: hash_image(decode_compressed(data).image))
    measure_with('cv2', lambda it: decode_by_opencv(it, data))
    registry = Registry()
    show('time a request, own', 20_000, lambda: registry.record_request('recall', 0.001))
    measure_with('prometheus_client', lambda it: count_by_prometheus(it))


def show(name: str, times: int, call: Callable[[], Any]) -> None:
    """Print the time of a call."""
    rounds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(times):
            call()
        rounds.append((time.perf_counter() - start) / times)
    print(f'{name}: {min(rounds) * 1e6:.1f} us')


def measure_with(name: str, measure: Callable[[Any], None]) -> None:
    """Measure with a library where it is installed."""
    try:
        library = importlib.import_module(name)
    except ImportError:
        print(f'{name}: not installed')
        return
    measure(library)


def parse_by_pydantic(pydantic: Any) -> None:
    """Parse the same request, with the same bounds."""
    bounded = pydantic.Field
    model = pydantic.create_model(
        'Call',
        insight=(str, ...),
        n=(int, bounded(5, ge=1, le=100)),
        confidence=(float, bounded(0.5, ge=0, le=1)),
        tags=(tuple[str, ...], ()),
    )
    show('parse a request, pydantic', 2000, lambda: model.model_validate(CALL))


def parse_by_msgspec(msgspec: Any) -> None:
    """Parse the same request, without the bounds."""
    hints = [('insight', str), ('n', int), ('confidence', float), ('tags', tuple[str, ...])]
    kind = make_dataclass('Call', hints)
    show('parse a request, msgspec', 2000, lambda: msgspec.convert(CALL, kind))


def chain_by_scipy(transform: Any, half: tuple[float, ...]) -> None:
    """Chain the same poses and interpolate their rotations."""
    kind = transform.Rotation
    turn, still = kind.from_quat(half), kind.from_quat((0, 0, 0, 1))
    at = np.array((0.0, 1.0, 0.0))

    def chain() -> Any:
        ends = kind.concatenate([turn * still, still])
        return turn.apply(at), transform.Slerp([0, 1], ends)([0.3])

    show('chain and interpolate poses, scipy', 500, chain)


def decode_by_opencv(cv2: Any, data: bytes) -> None:
    """Decode the same picture, at a quarter of its sides, and make it small."""
    array = np.frombuffer(data, np.uint8)
    flags = cv2.IMREAD_REDUCED_COLOR_4
    show('decode 1280 x 720, cv2', 20, lambda: cv2.resize(cv2.imdecode(array, flags), (9, 8)))


def count_by_prometheus(client: Any) -> None:
    """Time the same request: a summary, which has no quantiles, and a histogram."""
    own = client.CollectorRegistry()
    for kind in (client.Summary, client.Histogram):
        name = kind.__name__.lower()
        seconds = kind(f'seconds_{name}', 'Seconds.', ['tool'], registry=own)
        show(f'time a request, {name}', 20_000, functools.partial(observe, seconds))


def observe(seconds: Any) -> None:
    """Count a second for a tool."""
    seconds.labels('recall').observe(1)


if __name__ == '__main__':
    main()
