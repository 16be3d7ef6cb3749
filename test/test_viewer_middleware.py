"""Who may come in, and who may change what: Host, Origin, token, cookie, CSRF token, role."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from narrowing import require
from robots import Robot
from viewing import TOKENS, Visit, serve_viewer, write_tokens

from robot_memory.core.errors import Conflict, InvalidArgument
from robot_memory.http.principals import Principal
from robot_memory.viewer.middleware import HEADERS
from robot_memory.viewer.server import Viewer, ViewerSettings
from robot_memory.viewer.visitors import MOST_SESSIONS, SESSION_SECONDS, Sessions


@pytest.fixture
def guarded_visit(robot: Robot, tmp_path: Path) -> Iterator[Visit]:
    """A visit to a viewer that asks for a token."""
    with serve_viewer(robot, token_file=str(write_tokens(tmp_path))) as viewer:
        yield Visit(viewer.port)


def test_every_answer_has_the_headers_that_browsers_enforce(robot: Robot) -> None:
    with serve_viewer(robot) as viewer:
        visit = Visit(viewer.port)
        for path in ('/', '/nothing', '/static/viewer.css', '/?since=soonish'):
            headers = visit.send(path).headers
            for name, value in HEADERS.items():
                assert headers[name.lower()] == value
        assert 'unsafe' not in headers['content-security-policy']
        assert headers['content-security-policy'].startswith("default-src 'none'; img-src 'self'")


def test_a_foreign_host_or_origin_is_refused_in_words(robot: Robot) -> None:
    with serve_viewer(robot) as viewer:
        visit = Visit(viewer.port)
        refused = visit.send('/', host='evil.example')
        assert refused.status == 421
        assert 'view_allowed_hosts' in refused.text
        assert visit.send('/', origin='https://evil.example').status == 403
        assert visit.send('/', {'a': '1'}, origin='').status == 403
    with serve_viewer(robot, allowed_hosts=('robot7.local',)) as viewer:
        assert Visit(viewer.port).send('/', host='robot7.local').status == 200


def test_without_a_token_nobody_changes_anything(robot: Robot) -> None:
    kept = robot.learn('The cup is on the table').memory_id
    with serve_viewer(robot) as viewer:
        visit = Visit(viewer.port)
        assert 'Erase' not in visit.send(f'/memories/{kept}').text
        for action in ('forget', 'update', 'erase', 'undo'):
            answer = visit.send(f'/memories/{kept}/{action}', {'reason': 'no', 'csrf': ''})
            assert answer.status == 409
            assert 'operator' in answer.text
    assert robot.show(require(kept)).status == 'active'


def test_who_has_not_signed_in_is_led_to_the_form(guarded_visit: Visit) -> None:
    answer = guarded_visit.send('/?kind=fact')
    assert answer.status == 303
    assert answer.headers['location'] == '/sign-in?next=%2F%3Fkind%3Dfact'
    refused = guarded_visit.send('/', accept='application/json')
    assert refused.status == 401
    assert 'Bearer' in refused.text
    assert guarded_visit.send('/news', accept='text/event-stream').status == 401
    assert guarded_visit.send('/sign-in').status == 200


def test_a_token_becomes_a_cookie_that_no_script_reads(guarded_visit: Visit) -> None:
    refused = guarded_visit.send('/sign-in', {'token': 'a wrong token, long enough'})
    assert refused.status == 401
    assert 'not known' in refused.text
    answer = guarded_visit.send('/sign-in?next=/rules', {'token': TOKENS['viewer']})
    assert (answer.status, answer.headers['location']) == (303, '/rules')
    cookie = answer.headers['set-cookie'].lower()
    assert 'httponly' in cookie
    assert 'samesite=strict' in cookie
    assert TOKENS['viewer'] not in cookie
    assert guarded_visit.send('/').status == 200
    guarded_visit.send('/sign-out', {})
    assert guarded_visit.send('/').status == 303


@pytest.mark.parametrize('wanted', ['//evil.example', '/\\evil.example', 'https://evil.example'])
def test_signing_in_leads_to_no_other_site(guarded_visit: Visit, wanted: str) -> None:
    answer = guarded_visit.send(f'/sign-in?next={wanted}', {'token': TOKENS['viewer']})
    assert answer.headers['location'] == '/'


def test_a_bearer_token_reads_and_changes_nothing(robot: Robot, guarded_visit: Visit) -> None:
    kept = robot.learn('The cup is on the table').memory_id
    bearer = f'Bearer {TOKENS["operator"]}'
    assert guarded_visit.send('/', authorization=bearer).status == 200
    form = {'reason': 'wrong', 'csrf': ''}
    refused = guarded_visit.send(f'/memories/{kept}/forget', form, authorization=bearer)
    assert refused.status == 409


@pytest.mark.parametrize('role', ['planner', 'viewer'])
def test_only_an_operator_changes(robot: Robot, guarded_visit: Visit, role: str) -> None:
    kept = robot.learn('The cup is on the table').memory_id
    guarded_visit.sign_in(role)
    assert guarded_visit.send(f'/memories/{kept}/forget').status == 409
    answer = guarded_visit.send(f'/memories/{kept}/forget', {'reason': 'wrong'})
    assert answer.status == 409
    assert 'operator' in answer.text


def test_an_operator_updates_forgets_undoes_and_erases(robot: Robot, guarded_visit: Visit) -> None:
    kept = require(robot.learn('The cup is on the table').memory_id)
    guarded_visit.sign_in('operator')

    def change(action: str, **fields: str) -> int:
        page = guarded_visit.send(f'/memories/{kept}/{action}')
        while 'type="hidden"' in page.text:  # an erasure is previewed between
            hidden = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page.text))
            page = guarded_visit.send(f'/memories/{kept}/{action}', {**fields, **hidden})
        return page.status

    assert change('update', new_content='The cup is in the sink') == 303
    assert robot.show(kept).memory.content == 'The cup is in the sink'
    assert change('forget', reason='it broke') == 303
    assert robot.show(kept).status == 'invalidated'
    assert change('undo', reason='it was another one') == 303
    assert robot.show(kept).status == 'active'
    assert robot.history(kept).entries[-1].actor == 'viewer:operator-1'
    assert change('erase', reason='Anna asked for it') == 200
    assert guarded_visit.send(f'/memories/{kept}').status == 410


def test_the_page_of_an_erasure_says_which_words_were_too_short_to_be_looked_for(
    robot: Robot, guarded_visit: Visit
) -> None:
    kept = require(robot.learn('Bob').memory_id)
    guarded_visit.sign_in('operator')
    page = guarded_visit.send(f'/memories/{kept}/erase')
    while 'type="hidden"' in page.text:  # the form, then the preview
        hidden = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page.text))
        page = guarded_visit.send(f'/memories/{kept}/erase', {'reason': 'asked for', **hidden})
    assert 'Proof: unknown' in page.text
    assert 'words of fewer than 6 bytes were not looked for' in page.text


def test_an_operator_decides_on_a_proposal(
    robot: Robot, guarded_visit: Visit, as_operator: Callable[[], None]
) -> None:
    as_operator()
    rule = require(robot.learn('Never exceed 15 N of grip force on glass').memory_id)
    settings = replace(robot.memory.settings, python_role='planner')
    robot.memory.change_settings(settings)
    with pytest.raises(Conflict):
        robot.forget(rule, reason='it is in the way')
    guarded_visit.sign_in('operator')
    page = guarded_visit.send('/rules').text
    assert 'planner' in page
    (reject,) = re.findall(r'<form[^>]*action="/rules">(.*?value="reject".*?)</form>', page)
    hidden = dict(re.findall(r'name="(\w+)" value="([^"]*)"', reject))
    refused = guarded_visit.send('/rules', {**hidden, 'csrf': 'of another'})
    assert refused.status == 409
    assert guarded_visit.send('/rules', {**hidden, 'decision': 'drop'}).status == 400
    assert guarded_visit.send('/rules', hidden).status == 303
    assert 'value="reject"' not in guarded_visit.send('/rules').text
    assert robot.show(rule).status == 'active'


def test_a_form_of_another_session_changes_nothing(robot: Robot, guarded_visit: Visit) -> None:
    kept = require(robot.learn('The cup is on the table').memory_id)
    guarded_visit.sign_in('operator')
    for form in (
        {'reason': 'x'},
        {'reason': 'x', 'csrf': 'made-up'},
        {'reason': 'x', 'csrf': 'é'},
    ):
        answer = guarded_visit.send(f'/memories/{kept}/forget', form)
        assert answer.status == 409
        assert 'CSRF' in answer.text
    form = {'reason': 'x' * 200_000}
    assert guarded_visit.send(f'/memories/{kept}/forget', form).status == 400
    assert robot.show(kept).status == 'active'


def test_sessions_end_and_their_number_is_bounded() -> None:
    now = [0.0]
    sessions = Sessions(lambda: now[0])
    principal = Principal('anna', 'operator', '0' * 64)
    first = sessions.begin(principal)
    visitor = require(sessions.find(first))
    assert visitor.may_change
    now[0] = SESSION_SECONDS
    assert sessions.find(first) is None
    secrets = [sessions.begin(principal) for _ in range(MOST_SESSIONS + 1)]
    assert sessions.find(secrets[0]) is None
    assert sessions.find(secrets[-1]) is not None
    sessions.end(secrets[-1])
    assert sessions.find(secrets[-1]) is None


@pytest.mark.parametrize(
    ('settings', 'word'),
    [
        ({'host': '0.0.0.0'}, 'requires a token'),
        ({'host': '0.0.0.0', 'token_file': True}, 'requires TLS'),
        ({'host': 'elsewhere.example'}, 'view_host must be'),
        ({'tls_certificate': '/nowhere.pem'}, 'together'),
        ({'tls_certificate': '/nowhere.pem', 'tls_key': '/nowhere.key'}, 'cannot be used'),
        ({'behind_proxy': True}, 'view_allowed_hosts'),
    ],
)
def test_what_is_not_safe_is_not_served(
    robot: Robot, tmp_path: Path, settings: dict[str, object], word: str
) -> None:
    if settings.get('token_file'):
        settings = {**settings, 'token_file': str(write_tokens(tmp_path))}
    with pytest.raises(InvalidArgument, match=word):
        Viewer(robot.memory, ViewerSettings(port=0, **settings))  # type: ignore[arg-type]
