"""The pages as they read without JavaScript: what they show, and what they refuse."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from narrowing import require
from robots import START, Robot
from viewing import Visit, serve_viewer

from robot_memory.status.node_state import NodeState, StateTeller, TapState
from robot_memory.storage.admin.backup import back_up_now, plan_of

PAGES = (
    *('/', '/search', '/search?q=cup', '/rules', '/skills', '/sessions', '/people'),
    *('/taps', '/health'),
)
HOSTILE = (
    '<script>alert(1)</script>',
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    'text \u202e reversed \u2066 isolated',
    '{{ 7 * 7 }} {% raw %}',
    '<!-- comment --> ]]> &lt;b&gt;',
    'a' * 299,
)


@pytest.fixture
def visit(robot: Robot) -> Iterator[Visit]:
    with serve_viewer(robot) as viewer:
        yield Visit(viewer.port)


@pytest.mark.parametrize('path', PAGES)
@pytest.mark.parametrize('language', ['en', 'zh'])
def test_every_page_reads_in_both_languages_even_of_an_empty_store(
    visit: Visit, path: str, language: str
) -> None:
    joint = '&' if '?' in path else '?'
    answer = visit.send(f'{path}{joint}lang={language}')
    assert answer.status == 200
    assert f'<html lang="{language}">' in answer.text
    assert ('时间线' in answer.text) == (language == 'zh')
    assert len(answer.text.encode()) < 150_000


def test_the_language_is_that_of_the_browser_until_another_is_chosen(visit: Visit) -> None:
    assert '<html lang="zh">' in visit.send('/', accept_language='zh-CN,zh;q=0.9').text
    assert '<html lang="en">' in visit.send('/', accept_language='de, en;q=0.5, zh;q=0.1').text
    assert '<html lang="zh">' in visit.send('/?lang=zh').text
    assert '<html lang="zh">' in visit.send('/', accept_language='en').text


def test_the_timeline_filters_and_pages_by_key(robot: Robot, visit: Visit) -> None:
    for number in range(60):
        robot.learn(f'The bolt number {number} is tight')
    robot.save_perception('a push at the elbow', 'tactile')
    first = visit.send('/')
    assert first.text.count('class="entry ') == 50
    assert 'a push at the elbow' in first.text
    (older,) = re.findall(r'href="([^"]+)" rel="next"', first.text)
    second = visit.send(older.replace('&amp;', '&'))
    assert second.text.count('class="entry ') == 11
    assert 'number 0 ' in second.text
    filtered = visit.send('/?kind=perception&sense=tactile')
    assert filtered.text.count('class="entry ') == 1
    assert visit.send('/?person=nobody').status == 200


@pytest.mark.parametrize(
    ('path', 'word'),
    [
        ('/?since=soonish', 'since must be a time'),
        ('/?cursor=abc', 'cursor must be'),
        ('/?place=nowhere', 'nowhere'),
        (f'/search?q={"a" * 10_001}', '10000'),
    ],
)
def test_what_cannot_be_asked_is_refused_in_words(visit: Visit, path: str, word: str) -> None:
    answer = visit.send(path)
    assert answer.status == 400
    assert word in answer.text


def test_search_tells_why_it_found_what_it_found(robot: Robot, visit: Visit) -> None:
    robot.learn('The blue cup is in the upper cupboard')
    page = visit.send('/search?q=blue+cup').text
    assert 'The blue cup is in the upper cupboard' in page
    score = require(re.search(r'<dt>Score</dt><dd>([\d.]+)', page))[1]
    words = require(re.search(r'<dt>of words</dt><dd>([\d.]+)', page))[1]
    assert score == words
    assert 'blue, cup' in page


def test_a_memory_shows_its_place_context_and_trail(robot: Robot, visit: Visit) -> None:
    spatial = {'object_position': [1.25, 0.5, 0.4], 'frame_id': 'map'}
    kept = require(robot.learn('The cup is on the table', context={'spatial': spatial}).memory_id)
    robot.set_region('table', 'map', polygon=[[1, 0], [2, 0], [2, 1], [1, 1]])
    page = visit.send(f'/memories/{kept}').text
    assert '1.25, 0.5, 0.4 m' in page
    assert '<title>table</title>' in page
    assert 'created' in page


def test_what_is_not_there_is_404_and_what_was_erased_is_410(
    robot: Robot, visit: Visit, as_operator: Callable[[], None]
) -> None:
    kept = require(robot.learn('The cup is on the table').memory_id)
    as_operator()
    assert visit.send('/memories/999').status == 404
    assert visit.send('/memories/999999999999999999999999').status in (400, 404)
    assert visit.send('/nothing').status == 404
    token = robot.erase(memory_ids=[kept], reason='asked for').token
    robot.erase(token=require(token), reason='asked for')
    answer = visit.send(f'/memories/{kept}')
    assert answer.status == 410
    assert 'erased' in answer.text


@pytest.mark.parametrize('text', HOSTILE)
def test_hostile_texts_are_text_on_every_page(robot: Robot, visit: Visit, text: str) -> None:
    context: dict[str, Any] = {'actor_id': text[:100], 'task': {'name': text}}
    session = robot.start_session(context={'task': {'name': text}}).session_id
    kept = require(robot.learn(f'cup {text}', context=context, session_id=session).memory_id)
    for path in ('/', '/search?q=cup', f'/memories/{kept}', '/people', '/sessions', '/rules'):
        answer = visit.send(path)
        assert answer.status == 200
        page = answer.text
        assert '<script>' not in page
        assert '<svg onload' not in page
        assert "' onmouseover='" not in page
        assert not re.search('[\u202a-\u202e\u2066-\u2069\0]', page)


def test_a_long_text_is_cut_and_a_link_away(robot: Robot, visit: Visit) -> None:
    kept = require(robot.save_perception('elbow pushed ' * 150, 'tactile').memory_id)
    page = visit.send(f'/memories/{kept}').text
    assert len(page) < 20_000
    whole = visit.send(f'/memories/{kept}/text')
    assert whole.headers['content-type'] == 'text/plain; charset=utf-8'
    assert 'elbow pushed' in whole.text


def test_a_skill_shows_its_wilson_intervals(robot: Robot, visit: Visit) -> None:
    for number in range(20):
        robot.record_outcome('grasp cup', success='true' if number > 4 else 'false')
    assert '/skills/grasp%20cup' in visit.send('/skills').text
    page = visit.send('/skills/grasp%20cup').text
    assert '1-5: 0/5 (0% to' in page
    assert '15 / 20' in page
    assert visit.send('/skills/unknown').status == 404


def test_taps_are_those_of_the_running_node(robot: Robot, visit: Visit) -> None:
    assert 'no node is running on this store' in visit.send('/taps').text
    counts = {'received': 2000, 'no stamp': 500, 'rate': 20, 'events': 3}
    tap = TapState('wrench (/wrench)', '/wrench', 1, 'no stamp 500', counts, 125)
    told = [NodeState('/robot_memory', 'active', '', (tap,), 0.1)]
    teller = StateTeller(robot.memory.db.path, lambda: told[-1])
    page = visit.send('/taps').text
    assert re.search(r'Messages a second</dt><dd>125<', page)
    assert re.search(r'<strong>500</strong> .*no stamp.* \(25 %\).*stamp each message', page)
    assert page.index('no stamp') < page.index('>rate<')
    told.append(NodeState('/robot_memory', 'active', '', (tap,), 9.0))
    assert 'these counts are old' in visit.send('/taps').text
    told.append(NodeState('/robot_memory', 'inactive', 'configure failed: no disk'))
    assert 'configure failed: no disk' in visit.send('/taps').text
    teller.close()
    assert 'no node is running on this store' in visit.send('/taps').text


def test_health_tells_of_limits_clock_and_backups(robot: Robot, tmp_path: Path) -> None:
    robot.learn('The lamp is on')
    folder = tmp_path / 'backups'
    settings = dataclasses.replace(robot.memory.settings, backup_folder=str(folder))
    robot.memory.change_settings(settings)
    with serve_viewer(robot) as viewer:
        page = Visit(viewer.port).send('/health').text
        assert re.search(r'<dt>perceptions</dt><dd>[\d.]+ / 1,000 MB', page)
        assert str(folder) in page
        assert re.search(r'<dt>Last</dt><dd><bdi dir="auto">none', page)
        folder.mkdir()
        made = back_up_now(robot.memory.db, require(plan_of(settings)), START)
        assert made.exists()
        assert re.search(
            r'<dt>Kept</dt><dd><bdi dir="auto">1<', Visit(viewer.port).send('/health').text
        )


def test_the_doctor_is_asked_on_demand(visit: Visit) -> None:
    assert 'checks were made' not in visit.send('/health').text
    assert 'checks were made' in visit.send('/health?doctor=1').text


def test_a_page_changes_nothing_in_the_store(robot: Robot, visit: Visit) -> None:
    kept = require(robot.learn('The blue cup is in the upper cupboard').memory_id)
    before = robot.rows('SELECT count(*), max(id) FROM audit')
    for path in (*PAGES, f'/memories/{kept}'):
        visit.send(path)
    assert robot.rows('SELECT count(*), max(id) FROM audit') == before
    assert robot.row(kept)['access_count'] == 0
