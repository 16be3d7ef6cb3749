"""
Print how long a recall takes while many clients export the whole store, beside when none does.

A server of MCP over HTTP is a process of its own, and so are the clients that export; blocks of
recalls without and beside them take turns.
"""

from __future__ import annotations

import argparse
import http.client
import json
import multiprocessing
import os
import statistics
import sys
import tempfile
import threading
import time
from multiprocessing.synchronize import Event
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import facts

from robot_memory.api import RobotMemory

FORMATS = ('jsonl', 'json', 'markdown', 'text')
WARM_UP = 50


def call(connection: http.client.HTTPConnection, name: str, arguments: dict[str, object]) -> int:
    """Call a tool, and return the size of its answer."""
    body = {
        'jsonrpc': '2.0',
        'id': 1,
        'method': 'tools/call',
        'params': {'name': name, 'arguments': arguments},
    }
    connection.request('POST', '/mcp', json.dumps(body), {'Content-Type': 'application/json'})
    answer = connection.getresponse()
    said = answer.read()
    if answer.status != http.client.OK or b'"isError":true' in said[-200:]:
        sys.exit(f'{name}: {answer.status} {said[:300]!r}')
    return len(said)


def serve(path: Path, memories: int, port: multiprocessing.Queue[int], done: Event) -> None:
    """Serve a store of so many memories until it is done; tell the port."""
    from robot_memory.mcp_server import HttpBridge

    with RobotMemory(path, model='none', durability='normal') as robot:
        for number in range(memories):
            text, context = facts.make_fact(number)
            robot.learn(text, context=context)
        bridge = HttpBridge(robot.memory, port=0, tools='all')
        bridge.start()
        port.put(bridge.port)
        done.wait()
        bridge.stop()


def export(port: int, clients: int, goes: Event, done: Event, counts: Counts) -> None:
    """Have so many clients export without pause while it goes, until it is done."""

    def ask(format: str) -> None:
        connection = http.client.HTTPConnection('127.0.0.1', port, timeout=3600)
        while not done.is_set():
            if not goes.wait(0.2):
                connection.close()  # one that is silent is closed by the server, too
                continue
            counts.add(1, 0)
            call(connection, 'export', {'session_id': 'all', 'format': format})
            counts.add(-1, 1)

    threads = [
        threading.Thread(target=ask, args=(FORMATS[number % len(FORMATS)],), daemon=True)
        for number in range(clients)
    ]
    for thread in threads:
        thread.start()
    done.wait()


class Counts:
    """Count the exports that are under way, and those that were answered."""

    def __init__(self) -> None:
        """Begin with none."""
        self._values = multiprocessing.Array('i', [0, 0])

    @property
    def under_way(self) -> int:
        """Return how many clients wait."""
        return int(self._values[0])

    @property
    def answered(self) -> int:
        """Return how many have been answered since it began."""
        return int(self._values[1])

    def add(self, under_way: int, answered: int) -> None:
        """Count one more or less."""
        with self._values.get_lock():
            self._values[0] += under_way
            self._values[1] += answered


def recall(port: int, count: int) -> list[float]:
    """Return how many milliseconds each of so many recalls takes."""
    connection = http.client.HTTPConnection('127.0.0.1', port, timeout=600)
    spent = []
    for number in range(count):
        start = time.perf_counter()
        call(connection, 'recall', {'query': facts.make_question(number), 'n': 5})
        spent.append((time.perf_counter() - start) * 1e3)
    connection.close()
    return spent


def show(label: str, spent: list[float]) -> float:
    """Print the median and the 95th percentile; return that."""
    p95 = statistics.quantiles(spent, n=20)[-1]
    print(f'{label}: p50 {statistics.median(spent):.1f} ms, p95 {p95:.1f}, most {max(spent):.0f}')
    return p95


def main() -> None:
    """Start a server and clients, and print the times of recalls by turns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--memories', type=int, default=4_000)
    parser.add_argument('--clients', type=int, default=100)
    parser.add_argument('--recalls', type=int, default=200, help='recalls of a block')
    parser.add_argument('--blocks', type=int, default=5)
    options = parser.parse_args()
    fork = multiprocessing.get_context('fork')
    goes, done, stopped = fork.Event(), fork.Event(), fork.Event()
    ports, counts = fork.Queue(), Counts()
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'memory.db'
        server = fork.Process(target=serve, args=(path, options.memories, ports, stopped))
        server.start()
        port = ports.get()
        exporting = fork.Process(target=export, args=(port, options.clients, goes, done, counts))
        exporting.start()
        recall(port, WARM_UP)
        for block in range(options.blocks):
            idle = show('idle', recall(port, options.recalls))
            before = counts.answered
            goes.set()
            while counts.under_way < options.clients:
                time.sleep(0.01)
            beside = show(f'{options.clients} exports', recall(port, options.recalls))
            goes.clear()
            ratios.append(beside / idle)
            print(f'block {block}: p95 {ratios[-1]:.2f} times; {counts.answered - before} exports')
            while counts.under_way:
                time.sleep(0.1)
        done.set()
        exporting.join()
        stopped.set()
        server.join()
    print(
        f'p95 of recall beside {options.clients} exports: {statistics.median(ratios):.2f} times'
        f' that without ({min(ratios):.2f} to {max(ratios):.2f}); load {os.getloadavg()[0]:.2f}'
    )


if __name__ == '__main__':
    main()
