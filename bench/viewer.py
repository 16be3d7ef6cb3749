"""
Measure the viewer: pages of a large store, why-found, kept to seen, hostile texts. Prints JSON.

pages    processor and wall milliseconds of a page, medians, at `--memories`: timeline, page 10,000
         by its key, the strip, the strip with a filter of many; search among `--searched` facts
reasons  in how many answers the parts of a score add up to it, and the worst difference
seen     from when a memory is kept until an open page shows it, in headless Chromium
hostile  what `--texts` hostile texts leave in pages: elements that are not the page's own

`--part` chooses among them. What needs Chromium is null where there is none.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

sys.path.insert(0, str(Path(__file__).resolve().parent))

import facts
import timeline
from adapter import Adapter
from tables import format_table

from robot_memory.api import RobotMemory
from robot_memory.core.errors import InvalidArgument
from robot_memory.lifecycle.conversations import MAX_TURN
from robot_memory.viewer.server import Viewer, ViewerSettings

PAGE, DEEP = 50, 10_000
RUNS = 9
SEEN = 60
HOSTILE = (
    '<script>document.title = "owned"</script>',
    '"><svg onload=alert({n})><circle r=9>',
    "' onmouseover='alert({n})' x='",
    '\u202e right to left {n} \u2066 isolated \u200f',
    'nul \0 bell \a escape \x1b[31m {n}',
    '<img src=http://example.com/{n}.png><iframe srcdoc="<script>1</script>">',
    '{{{{ 7 * {n} }}}} {{% raw %}} ${{alert({n})}}',
    '</bdi></a></li></ol></main><style>*{{display:none}}</style>{n}',
    '<!-- {n} --> ]]> &lt;b&gt; <b>bold</b> <base href=//x>',
    'Z\u0351\u036b\u0343\u036a{n}' * 20,
)
LONG = 1_000_000
OWN = {'script': 2}
"""Elements that a page has of its own, and no text may add to, at most so many."""
NEVER = ('iframe', 'img', 'style', 'base', 'object', 'embed', 'b', 'circle')
HAS_EVENT = 'on'
TABLE = (
    ('reasons', 'worst', 'parts of scores, worst difference', 'under 1e-6'),
    ('seen', 'p95_ms', 'kept to seen, p95, ms', 'under 500'),
    ('hostile', 'injected', 'elements that hostile texts inject', '0'),
    ('load', 'lost', 'messages lost with two pages open', ''),
    ('load', 'lost_without', 'messages lost without', ''),
    ('load', 'p95_ratio', 'recall p95 with two pages open, ratio', 'under 1.5'),
)


class Server:
    """Serve the pages of a memory in this process, and time them."""

    def __init__(self, robot: RobotMemory) -> None:
        """Serve on any free port."""
        self._viewer = Viewer(robot.memory, ViewerSettings(port=0))
        self._viewer.start()
        self.port = self._viewer.port

    def get(self, path: str, *statuses: int) -> str:
        """Return a page; raise ValueError where it is none, or tells an unexpected failure."""
        connection = HTTPConnection('127.0.0.1', self.port, timeout=600)
        connection.request('GET', path, headers={'Accept': 'text/html'})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        if answer.status not in (200, *statuses):
            raise ValueError(f'{path}: {answer.status} {text[:300]}')
        return text

    def time(self, path: str, runs: int = RUNS) -> dict[str, float]:
        """Return the medians of processor and wall milliseconds, those of asking included."""
        self.get(path)
        busy, wall = [], []
        for _ in range(runs):
            start = time.process_time(), time.perf_counter()
            self.get(path)
            busy.append((time.process_time() - start[0]) * 1000)
            wall.append((time.perf_counter() - start[1]) * 1000)
        return {
            'cpu_ms': round(statistics.median(busy), 1),
            'wall_ms': round(statistics.median(wall), 1),
        }

    def close(self) -> None:
        """Serve no more."""
        self._viewer.stop()


@contextmanager
def serve(robot: RobotMemory) -> Iterator[Server]:
    """Serve a memory's pages for a while."""
    server = Server(robot)
    try:
        yield server
    finally:
        server.close()


def measure_pages(memories: int, searched: int) -> dict[str, Any]:
    """Return the milliseconds of pages of so many memories, and of facts that are searched."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'timeline.db'
        timeline.fill(path, memories)
        with RobotMemory(path, model='none') as robot, serve(robot) as server:
            cursor, left = '', min(DEEP, memories // PAGE - 2) * PAGE
            while left > 0:
                page = robot.list_timeline(limit=min(1000, left), cursor=cursor)
                cursor, left = page.next_cursor, left - 1000
            strip: dict[str, Any] = {'limit': 1, 'buckets': 48}
            many: dict[str, Any] = {**strip, 'where': {'kind': 'fact'}}
            found: dict[str, dict[str, Any]] = {
                'first page with its strip': server.time('/'),
                'page 10,000 with its strip': server.time(f'/?{urlencode({"cursor": cursor})}'),
                'strip alone': _time_call(lambda: robot.list_timeline(**strip)),
                'strip with a filter of many': _time_call(lambda: robot.list_timeline(**many)),
                'page with a filter of many': server.time('/?kind=perception'),
            }
    with tempfile.TemporaryDirectory() as folder:
        store = Adapter(f'{folder}/facts.db', 'hash')
        store.fill(facts.make_fact(number) for number in range(searched))
        list(store.m.memory.reindexer.run(0))
        with serve(store.m) as server:
            server.get(f'/search?{urlencode({"q": facts.make_question(0)})}')
            asked = [
                server.time(f'/search?{urlencode({"q": facts.make_question(number)})}', 1)
                for number in range(1, 31)
            ]
            found['search'] = {
                name: round(statistics.median(one[name] for one in asked), 1) for name in asked[0]
            }
        store.m.close()
    for title, one in found.items():
        one['aim'] = 'under 300' if title.startswith('strip') else 'under 200'
    return {'memories': memories, 'searched': searched, 'pages': found}


def _time_call(ask: Callable[[], Any]) -> dict[str, float]:
    start = time.perf_counter()
    busy = timeline.measure(ask)
    wall = (time.perf_counter() - start) * 1000 / (timeline.RUNS + 1)
    return {'cpu_ms': round(busy, 1), 'wall_ms': round(wall, 1)}


def measure_reasons(answers: int) -> dict[str, Any]:
    """Return how far the parts of scores are from the scores in so many answers."""
    with tempfile.TemporaryDirectory() as folder:
        store = Adapter(f'{folder}/memory.db', 'default')
        robot = store.m
        for number in range(min(400, answers)):
            robot.learn(*facts.make_fact(number))
        list(robot.memory.reindexer.run(0))
        held, worst, models, asked = 0, 0.0, 0, 0
        while held < answers and asked < answers:
            told = robot.explain_recall(facts.make_question(asked), n=20)
            found = robot.recall(facts.make_question(asked), n=20)
            asked += 1
            models = max(models, len(told.models))
            scores = {one.id: one._rrf_score for one in found.memories}
            for one in told.memories:
                if one.placed_by == 'score':
                    parts = one.words + sum(share.share for share in one.models) + one.around
                    worst = max(worst, abs(parts - scores[one.memory_id]))
                    held += 1
        robot.close()
    return {'answers': held, 'questions': asked, 'models': models, 'worst': worst}


def measure_seen(keeps: int = SEEN) -> dict[str, Any] | None:
    """Return the milliseconds from kept to seen on an open page; None without Chromium."""
    browser = next(filter(None, map(shutil.which, ('chromium', 'chromium-browser'))), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        browser = None
    if browser is None:
        print('kept to seen is left out: no Chromium or no Playwright here', file=sys.stderr)
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = f'{folder}/memory.db'
        with RobotMemory(path, model='none') as robot:
            for number in range(300):
                robot.learn(*facts.make_fact(number))
            command = [sys.executable, '-m', 'robot_memory', 'view', '--view-port', '0']
            command += ['--db', path, '--model', 'none']
            viewer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            try:
                assert viewer.stdout is not None
                url = viewer.stdout.readline().split()[1]
                with sync_playwright() as started:
                    page = started.chromium.launch(
                        executable_path=browser, args=['--no-sandbox']
                    ).new_page()
                    with page.expect_response('**/news'):
                        page.goto(url)
                    taken = [_keep_and_see(robot, page, number) for number in range(keeps)]
            finally:
                viewer.terminate()
                viewer.wait()
    return {
        'keeps': keeps,
        'p50_ms': round(statistics.median(taken), 1),
        'p95_ms': round(statistics.quantiles(taken, n=20)[-1], 1),
        'max_ms': round(max(taken), 1),
    }


_WATCH = """text => new Promise((resolve) => {
  const look = () => document.querySelector('main').textContent.includes(text);
  const watch = new MutationObserver(() => {
    if (!look()) return;
    watch.disconnect();
    resolve(Date.now());
  });
  watch.observe(document.querySelector('main'), { childList: true, subtree: true });
})"""


def _keep_and_see(robot: RobotMemory, page: Any, number: int) -> float:
    text = f'Lamp {number} burns over bench {number * 7}'
    page.evaluate(f'text => {{ window.seen = ({_WATCH})(text); }}', text)
    time.sleep(random.Random(number).uniform(0.1, 0.5))  # news are looked for at a steady pace
    start = time.time() * 1000
    robot.save_perception(text, 'visual')
    return float(page.evaluate('window.seen')) - start


class Elements(HTMLParser):
    """Count the elements of a page, and attributes that run code."""

    def __init__(self) -> None:
        """Begin without a page."""
        super().__init__()
        self.counts: dict[str, int] = {}
        self.injected: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.counts[tag] = self.counts.get(tag, 0) + 1
        self.injected += [f'{tag} {name}' for name, _ in attrs if name.startswith(HAS_EVENT)]


def find_injected(page: str) -> list[str]:
    """Return what of a page is not its own: elements, attributes, marks that turn the text."""
    elements = Elements()
    elements.feed(page)
    found = list(elements.injected)
    found += [tag for tag in NEVER if elements.counts.get(tag)]
    found += [tag for tag, most in OWN.items() if elements.counts.get(tag, 0) > most]
    found += [repr(mark) for mark in '\0\a\x1b\u202e\u2066' if mark in page]
    if not page.rstrip().endswith('</html>') or elements.counts.get('main') != 1:
        found.append('the end of the page')
    return found


def make_hostile(number: int) -> str:
    """Return a hostile text, each number another one."""
    return f'{number} {HOSTILE[number % len(HOSTILE)].format(n=number)}'


def measure_hostile(texts: int) -> dict[str, Any]:
    """Return what is injected into pages of so many hostile texts, and of a long one."""
    refused = 0
    with (
        tempfile.TemporaryDirectory() as folder,
        RobotMemory(f'{folder}/memory.db', model='none') as robot,
    ):
        for number in range(texts):
            try:
                _keep_hostile(robot, number, make_hostile(number))
            except InvalidArgument:  # a NUL is refused, whatever keeps it
                refused += 1
                _keep_hostile(robot, number, make_hostile(number).replace('\0', ''))
        longest = 0
        for size in (LONG, MAX_TURN):  # 1 MB is refused, too
            try:
                longest = robot.save_conversation('<script>' * (size // 8), '</bdi>').memory_ids[0]
            except InvalidArgument:
                refused += 1
        with serve(robot) as server:
            pages = list(_read_hostile(server, texts, longest))
    injected = [one for page in pages for one in page]
    return {
        'texts': texts + 1,
        'refused': refused,
        'pages': len(pages),
        'injected': len(injected),
        'such': injected[:5],
    }


def _keep_hostile(robot: RobotMemory, number: int, text: str) -> None:
    context = {'actor_id': text[:100], 'task': {'name': text}}
    if number % 2:
        robot.learn(text, context=context)
    else:
        robot.save_perception(text, 'visual', metadata={'note': text})


def _read_hostile(server: Server, texts: int, longest: int) -> Iterator[list[str]]:
    """Yield what is injected into each page: all of the timeline, and a share of the others."""
    path: str | None = '/'
    while path is not None:
        page = server.get(path)
        yield find_injected(page)
        path = _find_older(page)
    ids = random.Random(1).sample(range(1, texts + 1), min(texts, 500))
    words = [make_hostile(number) for number in range(len(HOSTILE))]
    others = [f'/memories/{one}' for one in (*ids, longest)]
    others += [f'/search?{urlencode({"q": word})}' for word in words]
    others += [f'/?{urlencode({"person": word})}' for word in words]
    for one in (*others, '/people', '/rules', '/sessions', '/health'):
        yield find_injected(server.get(one, 400))  # what is refused is told on a page, too


def _find_older(page: str) -> str | None:
    head, found, _ = page.rpartition('" rel="next"')
    return head.rpartition('href="')[2].replace('&amp;', '&') if found else None


def format_viewer(results: dict[str, Any]) -> str:
    """Return the figures of the viewer: {'pages': .., 'reasons': .., 'seen': .., ..}."""
    pages = (results.get('pages') or {'pages': {}})['pages']
    rows: list[tuple[Any, ...]] = [
        (f'{title}, ms of the processor', one['cpu_ms'], one['aim'])
        for title, one in pages.items()
    ]
    rows += [(f'{title}, ms', one['wall_ms'], '') for title, one in pages.items()]
    rows += [
        (title, results[part][name], aim)
        for part, name, title, aim in TABLE
        if results.get(part) is not None
    ]
    return format_table('The viewer', ('', 'this', 'target'), rows)


def main() -> None:
    """Measure, and print what was found as JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--memories', type=int, default=1_000_000)
    parser.add_argument('--searched', type=int, default=1_000_000)
    parser.add_argument('--texts', type=int, default=10_000)
    parser.add_argument('--answers', type=int, default=1000)
    parts = ('pages', 'reasons', 'seen', 'hostile')
    parser.add_argument('--part', action='append', choices=parts)
    given = parser.parse_args()
    measures: dict[str, Callable[[], Any]] = {
        'pages': lambda: measure_pages(given.memories, given.searched),
        'reasons': lambda: measure_reasons(given.answers),
        'seen': measure_seen,
        'hostile': lambda: measure_hostile(given.texts),
    }
    print(json.dumps({part: measures[part]() for part in given.part or parts}))


if __name__ == '__main__':
    main()
