"""Turns are found by what was said around them."""

from __future__ import annotations

from robots import Robot


def test_of_equal_turns_the_one_beside_another_that_fits_comes_first(robot: Robot) -> None:
    robot.save_conversation('Is the broken chair back?', 'The chair is here.')
    for number in range(5):
        robot.save_conversation(f'Lunch is served on floor {number}.', 'Good.')
    robot.save_conversation('The chair is here!', 'Thank you.')
    found = robot.recall('the broken chair', n=3, read='off').memories
    assert [m.content for m in found] == [
        'Is the broken chair back?',
        'The chair is here.',
        'The chair is here!',
    ]


def test_the_session_that_is_about_it_comes_before_one_that_mentions_it(robot: Robot) -> None:
    about = robot.start_session().session_id
    for text in ('The lift is stuck again.', 'The lift door was blocked.', 'The lift is slow.'):
        robot.save_conversation(text, 'I see.', session_id=about)
    robot.end_session(about)
    other = robot.start_session().session_id
    robot.save_conversation('Lunch was good.', 'Glad to hear.', session_id=other)
    robot.save_conversation('The lift is slow today.', 'Yes.', session_id=other)
    found = robot.recall('is the lift slow', n=2, read='off').memories
    assert {m.session_id for m in found[:1]} == {about}
    assert found[0].content == 'The lift is slow.'


def test_scores_stay_on_their_scale_and_in_order(robot: Robot) -> None:
    for number in range(8):
        robot.save_conversation(f'The lift stopped on floor {number}.', 'I see.')
    found = robot.search_memory('where did the lift stop', threshold=0.0, n=10).result
    scores = [one.score for one in found]
    assert scores == sorted(scores, reverse=True)
    assert 0 < scores[0] <= 1
