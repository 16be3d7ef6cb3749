"""
Do to a live node what docs/bounds.md bounds, and print what came of it.

`bench/hostile_user.py [--gigabytes 3]`: connections that are held open and that ask for `/health`
all the time; requests that are none; a bomb of zstd as a recording; a PNG of 64 million pixels.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import random
import socket
import statistics
import struct
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'torture'))
sys.path.insert(1, str(Path(__file__).resolve().parents[1] / 'test'))
sys.path.insert(2, str(Path(__file__).resolve().parent))

import faces
from measured_process import run_measured

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

HELD, ASKING, ASKED = 128, 128, 40
STRANGE = 2_000
PATIENCE_SECONDS = 0.1
"""How long an answer to what is no request is waited for: to some there is none."""
PNG_SIDE = 8_000
"""Pixels; 64 million in all."""


def main() -> None:
    """Print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--gigabytes', type=int, default=3, help='What the bomb unpacks to.')
    asked = parser.parse_args()
    faces.choose_domain()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        node = faces.Node(folder)
        try:
            measure_connections(node.port)
            measure_log(node, folder / 'node.log')
            if fault := node.stop():
                raise RuntimeError(fault)
        finally:
            node.kill()
        measure_file(folder, asked.gigabytes)
        measure_png()


def measure_connections(port: int) -> None:
    """Print what /health and a recall take beside those who hold connections and who ask."""
    calls: dict[str, Callable[[], bool]] = {
        '/health': lambda: ask_health(port),
        'recall': lambda: ask_recall(port),
    }
    idle = {name: time_calls(call) for name, call in calls.items()}
    held = [socket.create_connection(('127.0.0.1', port)) for _ in range(HELD)]
    report('beside connections that are held', HELD, calls, idle)
    child = os.fork()
    if not child:
        ask_for_ever(port)
    try:
        report('beside sockets on /health as well', ASKING, calls, idle)
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
        for one in held:
            one.close()


def report(
    what: str,
    number: int,
    calls: dict[str, Callable[[], bool]],
    idle: dict[str, tuple[int, list[float]]],
) -> None:
    """Print how many calls were answered, and in which times."""
    for name, call in calls.items():
        answered, seconds = time_calls(call)
        middle, high = (1000 * one for one in pick_quantiles(seconds))
        before, before_high = (1000 * one for one in pick_quantiles(idle[name][1]))
        print(
            f'{number} {what}: {answered} of {ASKED} {name} answered, median {middle:.0f} and p95'
            f' {high:.0f} ms; idle {before:.0f} and {before_high:.0f} ms',
            flush=True,
        )


def pick_quantiles(seconds: list[float]) -> tuple[float, float]:
    """Return median and 95th percentile."""
    return statistics.median(seconds), sorted(seconds)[len(seconds) * 95 // 100]


def time_calls(call: Callable[[], bool]) -> tuple[int, list[float]]:
    """Call so often, each on a connection of its own; return how many were answered, and when."""
    answered, seconds = 0, []
    for _ in range(ASKED):
        start = time.perf_counter()
        with contextlib.suppress(OSError, http.client.HTTPException):
            answered += call()
        seconds.append(time.perf_counter() - start)
    return answered, seconds


def ask_health(port: int) -> bool:
    """Say whether /health is answered."""
    connection = http.client.HTTPConnection('127.0.0.1', port, timeout=60)
    connection.request('GET', '/health')
    response = connection.getresponse()
    response.read()
    connection.close()
    return response.status == 200


def ask_recall(port: int) -> bool:
    """Say whether a recall is answered."""
    call = {'name': 'recall', 'arguments': {'query': 'the red cup'}}
    body = json.dumps({'jsonrpc': '2.0', 'id': 1, 'method': 'tools/call', 'params': call})
    kinds = {'content-type': 'application/json', 'accept': 'application/json, text/event-stream'}
    connection = http.client.HTTPConnection('127.0.0.1', port, timeout=60)
    connection.request('POST', '/mcp', body, kinds)
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response.status == 200 and b'"isError":false' in content


def ask_for_ever(port: int) -> None:
    """Keep so many sockets asking for /health; this process is killed."""
    sockets: list[socket.socket] = []
    while True:
        while len(sockets) < ASKING:
            with contextlib.suppress(OSError):
                one = socket.create_connection(('127.0.0.1', port))
                one.sendall(b'GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n')
                sockets.append(one)
        for one in sockets:
            with contextlib.suppress(OSError):
                one.recv(4096)
            one.close()
        sockets.clear()


def measure_log(node: faces.Node, log: Path) -> None:
    """Print how many lines and tracebacks strangers leave in the log."""
    before, chance = log.read_bytes().count(b'\n'), random.Random(1)
    strange = [*make_strange()]
    for _ in range(STRANGE):
        with (
            contextlib.suppress(OSError),
            socket.create_connection(('127.0.0.1', node.port), timeout=10) as one,
        ):
            one.settimeout(PATIENCE_SECONDS)
            one.sendall(chance.choice(strange))
            if chance.random() < 0.5:
                one.recv(4096)
    text = log.read_bytes()
    lines = text.count(b'\n') - before
    print(
        f'{STRANGE} requests that are none: {lines} lines in the log,'
        f' {text.count(b"Traceback")} tracebacks, alive: {ask_health(node.port)}',
        flush=True,
    )


def make_strange() -> Iterator[bytes]:
    """Yield requests that are none, or ask for what is not there."""
    yield from (b'\x16\x03\x01\x02\x00\x01\x00', b'\r\n' * 50, b'\xff' * 3_000, b'GET')
    yield b'GET / HTTP/9.9\r\n\r\n'
    yield b'GET /health HTTP/1.1\r\nhost: evil.example\r\n\r\n'
    yield b'GET /' + b'a' * 70_000 + b' HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n'
    for path in ('/mcp', '/', '/../etc/passwd', '/\x1b[2J', '/admin'):
        for method in ('GET', 'DELETE', 'PUT', 'TRACE'):
            yield f'{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n'.encode()
    for body in (b'{', b'[]', b'nul', b'\xff\xfe', b'{"jsonrpc":"2.0"}', b'[' * 5_000):
        for kind in (b'application/json', b'text/plain', b''):
            yield (
                b'POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: ' + kind
                + b'\r\naccept: application/json, text/event-stream\r\ncontent-length: '
                + str(len(body)).encode() + b'\r\n\r\n' + body
            )  # fmt: skip
    yield b'POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 99999999999\r\n\r\nx'
    yield b'POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: -1\r\n\r\nx'
    yield b'POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'


def make_bomb(gigabytes: int) -> bytes:
    """Return so many GB of zeros, packed."""
    packer, block = zstd.ZstdCompressor(), bytes(1 << 24)
    parts = [packer.compress(block) for _ in range(gigabytes * 64)]
    return b''.join([*parts, packer.flush()])


def measure_file(folder: Path, gigabytes: int) -> None:
    """Print what an import of a recording takes that is packed as a file."""
    bag = folder / 'bag'
    bag.mkdir()
    packed = bag / 'bag_0.mcap.zstd'
    packed.write_bytes(make_bomb(gigabytes))
    size = packed.stat().st_size
    run_import(folder, packed, f'a file of {size:,} bytes that unpacks to {gigabytes} GB')


def run_import(folder: Path, path: Path, what: str) -> None:
    """Print how an import ends, with its processor time and the most memory of it."""
    line = ('import', str(path), '--db', str(folder / 'i.db'), '--model', 'none')
    done = run_measured('robot-memory', *line, folder=folder)
    print(
        f'{what}: ended with {done.status}, {done.seconds:.1f} s of the processor,'
        f' {done.most_mb:.0f} MB at most, the mapped file with it:'
        f' {" ".join(done.said.split()):.300}',
        flush=True,
    )


def measure_png() -> None:
    """Print what a PNG of 64 million pixels takes."""
    from robot_memory.detectors import images

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
        )

    lines = zlib.compress(bytes(PNG_SIDE * (PNG_SIDE + 1)), 9)
    head = struct.pack('>IIBBBBB', PNG_SIDE, PNG_SIDE, 8, 0, 0, 0, 0)
    png = b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', head) + chunk(b'IDAT', lines) + chunk(b'IEND', b'')
    start = time.process_time()
    try:
        images.decode_compressed(png)
        said = 'decoded'
    except Exception as error:
        said = f'refused: {error}'
    seconds = time.process_time() - start
    print(f'a PNG of {len(png):,} bytes with {PNG_SIDE**2:,} pixels: {seconds:.3f} s, {said}')


if __name__ == '__main__':
    main()
