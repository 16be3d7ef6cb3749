"""Answers name the page of their evidence where a viewer is known, and are as ever where not."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
from narrowing import require
from robots import Robot
from viewing import Visit, serve_viewer

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import to_plain
from robot_memory.core.settings import Settings
from robot_memory.memory import Memory

URL = 'https://cell-1.local:17880'


def look(robot: Robot, url: str) -> None:
    robot.memory.change_settings(dataclasses.replace(robot.memory.settings, viewer_url=url))


@pytest.fixture
def asked(robot: Robot) -> Callable[[], dict[str, Any]]:
    robot.learn('The blue cup is on the shelf')
    robot.learn('Never exceed 15 N of grip force on the blue cup')
    for _ in range(3):
        robot.record_outcome('grasp cup', params={'force': '10 N'}, success='true')

    def ask() -> dict[str, Any]:
        return {
            'recall': to_plain(robot.recall('blue cup')),
            'brief': to_plain(robot.recall('blue cup', format='brief')),
            'get_context': to_plain(robot.get_context('grasp the blue cup')),
            'suggest': to_plain(robot.suggest('grasp cup')),
        }

    return ask


def list_pages(answer: Any) -> list[tuple[int, str]]:
    """Return id and page of everything in an answer that has one."""
    if isinstance(answer, list):
        return [found for one in answer for found in list_pages(one)]
    if not isinstance(answer, dict):
        return []
    about = {**(answer.get('metadata') or {}), **answer}
    own = []
    if 'page' in answer:
        own = [(int(about.get('id') or about['memory_id']), str(answer['page']))]
    return own + [found for one in answer.values() for found in list_pages(one)]


def test_without_a_viewer_no_page_is_named(asked: Callable[[], dict[str, Any]]) -> None:
    assert not list_pages(asked())


@pytest.mark.parametrize('url', [URL, f'{URL}/'])
def test_every_memory_of_an_answer_names_its_page(
    robot: Robot, asked: Callable[[], dict[str, Any]], url: str
) -> None:
    look(robot, url)
    answers = asked()
    for name, answer in answers.items():
        pages = list_pages(answer)
        assert pages, name
        assert all(page == f'{URL}/memories/{known}' for known, page in pages), name
    assert len(list_pages(answers['recall'])) == len(answers['recall']['memories'])
    context = answers['get_context']
    told = [*context['results'], *context['rules']['applies'], *context['rules']['may_apply']]
    assert len(list_pages(context)) == len(told)
    assert len(list_pages(answers['suggest'])) == len(answers['suggest']['evidence']) == 3


def test_the_page_is_there(robot: Robot) -> None:
    robot.learn('The blue cup is on the shelf')
    with serve_viewer(robot) as viewer:
        look(robot, viewer.url)
        (one,) = robot.recall('blue cup').memories
        path = require(one.page).removeprefix(viewer.url.rstrip('/'))
        assert 'The blue cup is on the shelf' in Visit(viewer.port).send(path).text


@pytest.mark.parametrize('url', ['cell-1:17880', 'javascript:alert(1)', 'http://a\nb'])
def test_what_is_no_address_of_pages_is_refused(url: str) -> None:
    with pytest.raises(InvalidArgument, match='viewer_url must begin with http'):
        Memory(Settings(viewer_url=url, model='none'))
