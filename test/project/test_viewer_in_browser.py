"""The pages in a real browser: headless Chromium, both languages, a phone and a desk."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
import recordings
from amounts import LONG, few_or_many
from narrowing import require
from robots import Robot, make_store
from viewing import TOKENS, Visit, serve_viewer, write_tokens
from waiting import HANG_SECONDS

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, BrowserContext, Page

sync_api = pytest.importorskip('playwright.sync_api', reason='no Playwright here')
axe_playwright = pytest.importorskip('axe_playwright_python.sync_playwright', reason='no axe here')
CHROMIUM = next(
    filter(None, map(shutil.which, ('chromium', 'chromium-browser', 'google-chrome'))), None
)
if CHROMIUM is None:
    pytest.skip('no Chromium here: apt-get install chromium', allow_module_level=True)

HANG_MS = HANG_SECONDS * 1000
HOSTILE = (
    '<script>document.title = "owned"</script><img src=x onerror=alert(1)>',
    '"><svg onload=alert(1)>\u202e turned',
    'x' * 280,
    '很长的中文句子没有空格' * 20,
)
EVERY = few_or_many(8, 3)
"""One in so many pages of memories is looked at."""
JUDGED = {(390, 'en'), (1280, 'zh-CN')}
"""Widths and languages, each once, in which axe judges; it takes most of the time of a page."""
PLACES = ('/', '/?kind=perception', '/search?q=cup', '/search?q=杯子', '/rules', '/skills')
MORE = (
    '/skills/grasp%20cup',
    '/sessions',
    '/people',
    '/taps',
    '/health',
    '/nothing',
    '/?since=soonish',
)


@pytest.fixture(scope='module')
def browser() -> Iterator[Browser]:
    with sync_api.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=['--no-sandbox'])
        yield opened
        opened.close()


@pytest.fixture(scope='module')
def filled(tmp_path_factory: pytest.TempPathFactory, made: Path) -> Path:
    """A closed store with some of everything; only to read."""
    return make_store(tmp_path_factory.mktemp('filled'), lambda robot: fill(robot, made))


@pytest.fixture
def full_robot(store: Path, robot: Robot) -> Robot:
    """A robot that remembers some of everything."""
    return robot


def fill(robot: Robot, made: Path) -> None:
    session = robot.start_session(context={'task': {'name': HOSTILE[0]}}).session_id
    for number, text in enumerate(HOSTILE):
        robot.learn(f'cup {number} {text}', context={'actor_id': f'person:{text[:50]}'})
    spatial = {'object_position': [1.25, 0.5, 0.4], 'frame_id': 'map'}
    robot.learn('The blue cup is on the shelf', context={'spatial': spatial}, session_id=session)
    robot.learn('Never exceed 15 N of grip force on glass')
    robot.learn('红色杯子在上层柜子里')
    for number in range(20):
        robot.record_outcome('grasp cup', success='true' if number > 4 else 'false')
    robot.save_conversation('Where is the cup?', 'On the shelf.', session_id=session)
    recordings.run(robot.memory, made)


class Watched:
    """A page whose console and requests are noted."""

    def __init__(self, context: BrowserContext, own: str) -> None:
        self.page: Page = context.new_page()
        self.faults: list[str] = []
        self.page.set_default_timeout(HANG_MS)
        self.page.on('pageerror', lambda error: self.faults.append(f'error: {error}'))
        self.page.on('console', self._note)
        self.page.on(
            'request',
            lambda one: None if one.url.startswith(own) else self.faults.append(one.url),
        )

    def _note(self, message: Any) -> None:
        # A page that tells a failure has its status, which the console names, too.
        is_own = message.location['url'] == self.page.url and 'status of 4' in message.text
        if message.type in ('error', 'warning') and not is_own:
            self.faults.append(message.text)


@pytest.mark.parametrize('language', ['en', 'zh-CN'])
@pytest.mark.parametrize('width', [390, 1280])
def test_every_page_is_accessible_and_whole(
    browser: Browser, full_robot: Robot, language: str, width: int
) -> None:
    seen = full_robot.rows('SELECT memory_id FROM parts GROUP BY memory_id')[::EVERY]
    told = full_robot.rows("SELECT id FROM memories WHERE type = 'fact'")[::EVERY]
    pages = [*PLACES, *MORE, *(f'/memories/{one}' for (one,) in (*seen, *told))]
    with serve_viewer(full_robot) as viewer:
        own = viewer.url.rstrip('/')
        context = browser.new_context(
            viewport={'width': width, 'height': 800},
            locale=language,
            color_scheme='dark' if width == 390 else 'light',
        )
        watched = Watched(context, own)
        for path in pages:
            watched.page.goto(own + path, wait_until='load')
            wide = watched.page.evaluate(
                'document.documentElement.scrollWidth - document.documentElement.clientWidth'
            )
            assert wide <= 0, f'{path} overflows by {wide} px'
            if LONG or (width, language) in JUDGED:
                found = axe_playwright.Axe().run(watched.page)
                assert not found.violations_count, f'{path}: {found.generate_report()}'
            assert watched.page.title() != 'owned'
            assert watched.page.evaluate('document.querySelectorAll("main script").length') == 0
            assert not watched.faults, path
        context.close()


def test_what_is_kept_now_appears_on_an_open_page(browser: Browser, robot: Robot) -> None:
    with serve_viewer(robot) as viewer:
        context = browser.new_context()
        page = Watched(context, viewer.url).page
        with page.expect_response('**/news'):
            page.goto(viewer.url)
        robot.learn('The lamp is on')
        page.get_by_text('The lamp is on').wait_for()
        context.close()


def test_an_open_page_is_told_that_its_memory_was_erased(
    browser: Browser, robot: Robot, as_operator: Callable[[], None]
) -> None:
    kept = require(robot.learn('Anna is allergic to peanuts').memory_id)
    as_operator()
    with serve_viewer(robot) as viewer:
        context = browser.new_context()
        page = Watched(context, viewer.url).page
        with page.expect_response('**/news'):
            page.goto(f'{viewer.url}memories/{kept}')
        token = robot.erase(memory_ids=[kept], reason='asked for').token
        robot.erase(token=require(token), reason='asked for')
        page.get_by_text('was erased').wait_for()
        assert 'peanuts' not in page.content()
        context.close()


def test_an_operator_forgets_by_keyboard_alone(
    browser: Browser, robot: Robot, tmp_path: Path
) -> None:
    kept = require(robot.learn('The lamp is on').memory_id)
    with serve_viewer(robot, token_file=str(write_tokens(tmp_path))) as viewer:
        context = browser.new_context()
        watched = Watched(context, viewer.url)
        page = watched.page
        page.goto(f'{viewer.url}memories/{kept}/forget')
        assert page.evaluate('document.cookie') == ''
        _tab_to(page, 'input')
        page.keyboard.type(TOKENS['operator'])
        page.keyboard.press('Enter')
        page.get_by_role('heading', name='forget').wait_for()
        assert page.evaluate('document.cookie') == '', 'no script reads the cookie'
        _tab_to(page, 'input')
        page.keyboard.type('it broke')
        page.keyboard.press('Enter')
        page.get_by_text('invalidated').first.wait_for()
        context.close()
    assert robot.show(kept).status == 'invalidated'


def test_without_javascript_the_pages_read_the_same(browser: Browser, full_robot: Robot) -> None:
    with serve_viewer(full_robot) as viewer:
        context = browser.new_context(java_script_enabled=False)
        page = context.new_page()
        page.goto(viewer.url)
        assert page.get_by_text('The blue cup is on the shelf').count() == 1
        page.goto(f'{viewer.url}search?q=blue+cup')
        page.get_by_text('Why it was found').first.click()
        assert page.get_by_text('of words').first.is_visible()
        context.close()


def find_film(robot: Robot) -> int:
    """Return the memory with the most pictures."""
    ((found, number),) = robot.rows(
        "SELECT memory_id, count(*) FROM parts WHERE media_type = 'image/jpeg'"
        ' GROUP BY memory_id ORDER BY 2 DESC LIMIT 1'
    )
    assert number > 1
    return int(found)


def test_a_film_plays_in_the_time_it_was_taken_in(browser: Browser, full_robot: Robot) -> None:
    with serve_viewer(full_robot) as viewer:
        context = browser.new_context()
        watched = Watched(context, viewer.url)
        page = watched.page
        page.goto(f'{viewer.url}memories/{find_film(full_robot)}')
        page.get_by_role('button', name='Play').click()
        shown = page.get_by_role('slider')
        last = int(require(shown.get_attribute('max')))
        page.get_by_role('button', name='Play').wait_for()
        assert int(shown.input_value()) == last
        frames = page.locator('.pictures img[data-at]')
        assert page.locator('.stage').evaluate('one => one.src') == frames.last.evaluate(
            'one => one.src'
        )
        shown.focus()
        page.keyboard.press('Home')
        assert page.locator('.stage').evaluate('one => one.src') == frames.first.evaluate(
            'one => one.src'
        )
        assert page.locator('.stage').evaluate('one => one.complete && one.naturalWidth > 0')
        assert not watched.faults
        context.close()


@pytest.mark.parametrize(
    'settings', [{'reduced_motion': 'reduce'}, {'java_script_enabled': False}]
)
def test_a_film_does_not_move_for_who_wants_none(
    browser: Browser, full_robot: Robot, settings: dict[str, Any]
) -> None:
    with serve_viewer(full_robot) as viewer:
        context = browser.new_context(**settings)
        page = context.new_page()
        page.goto(f'{viewer.url}memories/{find_film(full_robot)}')
        assert page.get_by_role('button', name='Play').count() == 0
        assert page.locator('.pictures img').count() > 1
        context.close()


def test_a_first_view_is_light(browser: Browser, full_robot: Robot) -> None:
    with serve_viewer(full_robot) as viewer:
        visit = Visit(viewer.port)
        paths = (
            '/',
            '/static/viewer.css',
            '/static/viewer.js',
            '/static/film.js',
            '/static/icon.svg',
        )
        assert sum(len(visit.send(path).text.encode()) for path in paths) < 150_000


def _tab_to(page: Page, tag: str) -> None:
    """Press Tab until an element that takes text has the focus."""
    for _ in range(30):
        page.keyboard.press('Tab')
        if page.evaluate('document.activeElement.tagName').lower() == tag:
            return
    raise AssertionError(f'no {tag} is reached by keyboard')
