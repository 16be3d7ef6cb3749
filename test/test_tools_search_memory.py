"""Search on a scale: scores from 0 to 1, and a threshold."""

from __future__ import annotations

from robots import Robot


def test_scores_lie_between_0_and_1_and_the_threshold_cuts(thinking_robot: Robot) -> None:
    robot = thinking_robot
    robot.learn('The red cup breaks above 15 N', {'env': {'sim_or_real': 'real'}})
    robot.learn('Charging takes two hours')
    robot.save_conversation('The red cup breaks above 15 N', 'Noted')
    found = robot.search_memory('red cup breaks above 15 N', threshold=0, n=10).result
    scores = [result.score for result in found]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert {(result.role, result.metadata['type']) for result in found[:2]} == {
        (None, 'fact'),
        ('user', 'turn'),
    }
    assert {result.metadata['score_kind'] for result in found} == {'fused'}
    high = robot.search_memory('red cup breaks above 15 N', threshold=0.5).result
    assert [result.content for result in high] == ['The red cup breaks above 15 N'] * 2
    assert robot.search_memory('how is the weather in Oslo').result == ()


def test_in_a_young_store_a_plain_question_passes_the_threshold(thinking_robot: Robot) -> None:
    robot = thinking_robot
    robot.learn('Never grip glass cups with more than 10 N')
    robot.learn('Glass cups slip when wet; use the rubber pads')
    found = robot.search_memory('How hard may I grip the glass cup?').result
    assert found[0].content == 'Never grip glass cups with more than 10 N'


def test_without_a_model_the_score_is_of_words(robot: Robot) -> None:
    robot.learn('the cup is wet')
    (found,) = robot.search_memory('wet cup').result
    assert found.metadata['score_kind'] == 'words'


def test_as_many_are_found_as_pass_the_threshold(robot: Robot) -> None:
    for number in range(3):
        robot.learn(f'The red cup on shelf {number} is heavy')
    for number in range(30):
        robot.save_conversation(f'How strong is the grip force on red cup {number}', 'I see')
    asked = 'grip force red cup'
    every = robot.search_memory(asked, n=100, threshold=0).result
    least = every[9].score
    passing = sum(one.score >= least for one in every)
    for n in (1, 3, 10, 100):
        found = robot.search_memory(asked, n=n, threshold=least).result
        assert [one.score for one in found] == [one.score for one in every[: min(n, passing)]]
