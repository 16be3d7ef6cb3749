"""Sessions in the words of the Sage document: begun, filled, found, looked back at."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable
from typing import Any

import pytest
from robots import MovableClock, Robot

import sage_mcp
from robot_memory.core.errors import Conflict, InvalidArgument, NotFound
from sage_mcp import (
    AnalysisType,
    CommandType,
    EnhancedSessionManager,
    MemoryAnalyzer,
    SageCommandParser,
    SessionSearchType,
)

TALKS = (
    ('cups', ('user', 'Where is the red cup?'), ('assistant', 'On the shelf by the window.')),
    ('battery', ('user', 'How full is the battery?'), ('assistant', 'It holds 40 percent.')),
    ('doors', ('user', 'Open the drawer.'), ('assistant', 'The drawer of the red cup sticks.')),
)


@pytest.fixture
def manager(robot: Robot) -> EnhancedSessionManager:
    return EnhancedSessionManager(robot)


def talk(manager: EnhancedSessionManager, clock: MovableClock) -> dict[str, str]:
    """Have three sessions on three days; return their ids by their titles."""
    ids = {}
    for title, *said in TALKS:
        ids[title] = manager.start_session(title)
        for role, content in said:
            manager.add_message(role, content)
        clock.forward(days=1)
    return ids


def titles(found: list[dict[str, Any]]) -> list[str]:
    return [one['title'] for one in found]


def test_every_name_of_the_document_can_be_imported() -> None:
    for name in sage_mcp.__all__:
        assert getattr(sage_mcp, name).__module__.startswith(('robot_memory.', 'sage_mcp.'))
    for module, name in (('embedding', 'BaseEmbedding'), ('retrieval', 'BaseStrategy')):
        assert hasattr(importlib.import_module(f'sage_mcp.{module}'), name)
    assert set(dir(sage_mcp)) == set(sage_mcp.__all__)
    with pytest.raises(AttributeError, match='sage_mcp has no Sorcerer; it has .*SageClient'):
        getattr(sage_mcp, 'Sorcerer')  # noqa: B009


def test_a_command_is_parsed_into_its_type_and_its_parameters() -> None:
    parsed = SageCommandParser().parse_command('/search 红色的杯子')
    assert parsed == {'type': CommandType.SEARCH, 'params': {'query': '红色的杯子'}}


@pytest.fixture
def session(manager: EnhancedSessionManager) -> dict[str, Any]:
    """What is loaded of a session of two messages."""
    session_id = manager.start_session('The red cup')
    assert manager.add_message('user', ' Where is it? ')['content'] == 'Where is it?'
    manager.add_message('assistant', 'On the shelf.')
    assert manager.save_session() == session_id
    session: dict[str, Any] = manager.load_session(session_id)
    assert (session['session_id'], session['title']) == (session_id, 'The red cup')
    return session


def test_a_loaded_session_has_the_fields_of_the_document(session: dict[str, Any]) -> None:
    assert set(session) == {
        'session_id',
        'title',
        'created_at',
        'updated_at',
        'messages',
        'tags',
        'metadata',
    }
    assert set(session['messages'][0]) == {'role', 'content', 'timestamp', 'metadata'}


def test_a_loaded_session_has_what_was_said_in_order(session: dict[str, Any]) -> None:
    said = [(one['role'], one['content']) for one in session['messages']]
    assert said == [('user', 'Where is it?'), ('assistant', 'On the shelf.')]


def test_nothing_is_added_to_a_session_that_ended(
    manager: EnhancedSessionManager, session: dict[str, Any], robot: Robot
) -> None:
    robot.end_session(session['session_id'])
    with pytest.raises(Conflict, match='ended'):
        manager.add_message('user', 'And now?')
    with pytest.raises(Conflict, match='ended'):
        manager.save_session()


def test_what_a_manager_adds_goes_into_its_own_session(robot: Robot) -> None:
    first, second = EnhancedSessionManager(robot), EnhancedSessionManager(robot.memory)
    ids = [first.start_session('one'), second.start_session('two')]
    first.add_message('user', 'This is said to the first.')
    assert len(first.load_session(ids[0])['messages']) == 1
    assert first.load_session(ids[1])['messages'] == []
    assert first.save_session() == ids[0]
    robot.end_session(ids[0])
    third = EnhancedSessionManager(robot)
    with pytest.raises(NotFound, match='nothing to save'):
        third.save_session()
    third.add_message('assistant', 'The newest open one takes it.')
    assert len(third.load_session(ids[1])['messages']) == 1


def test_without_an_open_session_a_message_begins_one(manager: EnhancedSessionManager) -> None:
    manager.add_message('user', 'Is anybody there?')
    (found,) = manager.search_sessions(SessionSearchType.RECENT)
    assert found['message_count'] == 1


@pytest.mark.parametrize(
    ('role', 'content', 'said'),
    [
        ('system', 'Hello', "role must be one of user, assistant, not 'system'"),
        ('user', '  ', 'content must be a non-blank string'),
        ('user', 5, 'content must be a non-blank string'),
        ('user', '\ud800', 'content must be a non-blank string'),
        ('user', 'x' * 100_001, 'at most 100000 characters, not 100001'),
    ],
)
def test_a_message_that_is_none_is_refused(
    manager: EnhancedSessionManager, robot: Robot, role: str, content: Any, said: str
) -> None:
    with pytest.raises(InvalidArgument, match=said):
        manager.add_message(role, content)
    assert robot.rows('SELECT * FROM sessions') == []


def test_sessions_are_found_by_words_that_were_all_said_in_them(
    manager: EnhancedSessionManager, clock: MovableClock
) -> None:
    talk(manager, clock)
    assert titles(manager.search_sessions('keyword', 'red cup')) == ['doors', 'cups']
    assert titles(manager.search_sessions('KEYWORD', 'cup shelf')) == ['cups']
    assert manager.search_sessions('keyword', 'cup battery') == []
    (found,) = manager.search_sessions(SessionSearchType.KEYWORD, 'window')
    assert [one['content'] for one in found['messages']] == ['On the shelf by the window.']
    assert found['message_count'] == 2


def test_chinese_words_find_their_session(
    manager: EnhancedSessionManager, clock: MovableClock
) -> None:
    talk(manager, clock)
    manager.start_session('杯子')
    manager.add_message('user', '红色的杯子在哪里？')
    assert titles(manager.search_sessions('keyword', '红色杯子')) == ['杯子']
    assert manager.search_sessions('keyword', '子杯的色') == []
    assert titles(manager.search_sessions('topic', '杯子')) == ['杯子']


@pytest.mark.parametrize(
    ('query', 'found'),
    [
        ('2026-02-25', ['cups']),
        ('2026-02-26..2026-02-27', ['doors', 'battery']),
        ('2026-02-25 .. 2026-03-01', ['doors', 'battery', 'cups']),
        ('2026-02-24', []),
    ],
)
def test_sessions_are_found_by_the_days_they_were_under_way(
    manager: EnhancedSessionManager, clock: MovableClock, query: str, found: list[str]
) -> None:
    talk(manager, clock)
    assert titles(manager.search_sessions(SessionSearchType.DATE_RANGE, query)) == found


def test_a_session_of_several_days_is_found_on_each(
    manager: EnhancedSessionManager, clock: MovableClock
) -> None:
    manager.start_session('long')
    clock.forward(days=4)
    manager.add_message('user', 'Still here')
    for day in range(25, 29):
        assert titles(manager.search_sessions('date_range', f'2026-02-{day}')) == ['long']


def test_sessions_are_found_by_title_by_tag_and_by_the_topic_of_what_was_said(
    manager: EnhancedSessionManager, clock: MovableClock, robot: Robot
) -> None:
    talk(manager, clock)
    robot.start_session(tags=['Night Shift'])
    clock.forward(seconds=1)
    robot.start_session(title='spoken')
    robot.save_conversation('Good morning', 'Hello', metadata={'topic': 'Greetings'})
    assert titles(manager.search_sessions('topic', 'battery')) == ['battery']
    assert [one['tags'] for one in manager.search_sessions('topic', 'night shift')] == [
        ['Night Shift']
    ]
    assert titles(manager.search_sessions('topic', 'greetings')) == ['spoken']
    assert manager.search_sessions('topic', 'morning') == []


def test_the_latest_sessions_are_found_first(
    manager: EnhancedSessionManager, clock: MovableClock
) -> None:
    talk(manager, clock)
    assert titles(manager.search_sessions('recent')) == ['doors', 'battery', 'cups']
    assert titles(manager.search_sessions('recent', '2')) == ['doors', 'battery']
    assert titles(manager.search_sessions('recent', limit=1)) == ['doors']


def test_sessions_are_found_by_what_was_meant(thinking_robot: Robot, clock: MovableClock) -> None:
    manager = EnhancedSessionManager(thinking_robot)
    talk(manager, clock)
    thinking_robot.embed_all()
    found = manager.search_sessions(SessionSearchType.SIMILARITY, 'state of charge of the power')
    assert found[0]['title'] == 'battery'
    assert 1 >= found[0]['score'] >= found[-1]['score'] >= 0


def test_similar_sessions_are_found_by_words_where_there_is_no_model(
    manager: EnhancedSessionManager, clock: MovableClock
) -> None:
    talk(manager, clock)
    found = manager.search_sessions('similarity', 'how full is the battery')
    assert found[0]['title'] == 'battery' and found[0]['messages'][0]['role'] == 'user'


@pytest.mark.parametrize(
    ('kind', 'query', 'said'),
    [
        ('dreams', 'x', 'search_type must be one of KEYWORD, DATE_RANGE, TOPIC, RECENT'),
        (None, 'x', 'search_type must be one of'),
        ('keyword', ' ', 'query is empty; search type KEYWORD requires one'),
        ('topic', '', 'query is empty'),
        ('similarity', '', 'query is empty'),
        ('date_range', '', 'query must be a date or a range'),
        ('date_range', 'yesterday', '2026-03-01..2026-03-09'),
        ('date_range', '2026-02-30', 'query must be a date'),
        ('date_range', '2026-03-09..2026-03-01', 'before its start'),
        ('recent', 'all', 'query must be the number'),
        ('recent', '0', '1 to 1000'),
    ],
)
def test_a_search_that_is_none_is_told(
    manager: EnhancedSessionManager, kind: Any, query: str, said: str
) -> None:
    with pytest.raises(InvalidArgument, match=said):
        manager.search_sessions(kind, query)


def test_a_session_that_is_not_there_is_told(manager: EnhancedSessionManager) -> None:
    with pytest.raises(NotFound, match='no session'):
        manager.load_session('nothing')


@pytest.mark.parametrize('format', ['json', 'markdown', 'text'])
def test_a_session_is_exported(
    manager: EnhancedSessionManager, clock: MovableClock, format: str
) -> None:
    ids = talk(manager, clock)
    answer = manager.export_session(ids['cups'], format)
    assert (answer['session_id'], answer['format']) == (ids['cups'], format)
    assert 'Where is the red cup?' in answer['content'] and 'battery' not in answer['content']


def test_an_export_of_another_kind_is_told(manager: EnhancedSessionManager) -> None:
    with pytest.raises(InvalidArgument, match='format must be one of json, markdown, text'):
        manager.export_session(manager.start_session(), 'pdf')


def test_a_forgotten_turn_is_found_no_more(
    manager: EnhancedSessionManager, clock: MovableClock, robot: Robot
) -> None:
    ids = talk(manager, clock)
    robot.clear_session(ids['cups'])
    assert titles(manager.search_sessions('keyword', 'red cup')) == ['doors']
    assert manager.load_session(ids['cups'])['messages'] == []


def test_a_manager_without_a_memory_opens_the_users_own(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('ROBOT_MEMORY_DB', str(tmp_path / 'own.db'))
    with EnhancedSessionManager() as manager:
        session_id = manager.start_session()
    assert (tmp_path / 'own.db').exists()
    with EnhancedSessionManager() as manager:
        assert manager.load_session(session_id)['messages'] == []


def test_an_analysis_is_awaited(open_robot: Callable[..., Robot], clock: MovableClock) -> None:
    robot = open_robot()
    talk(EnhancedSessionManager(robot), clock)

    async def both() -> tuple[dict[str, Any], dict[str, Any]]:
        analyzer = MemoryAnalyzer(robot)
        return await asyncio.gather(
            analyzer.analyze(AnalysisType.INTERACTION_FLOW, {'days': 30}),
            analyzer.analyze('temporal_patterns'),
        )

    flow, times = asyncio.run(both())
    assert set(flow) == {
        'analysis_type',
        'timestamp',
        'results',
        'insights',
        'recommendations',
    }
    assert (flow['analysis_type'], times['analysis_type']) == (
        'INTERACTION_FLOW',
        'TEMPORAL_PATTERNS',
    )
    with pytest.raises(InvalidArgument, match='analysis_type must be one of TOPIC_CLUSTERING'):
        asyncio.run(MemoryAnalyzer(robot.memory).analyze('horoscope'))
