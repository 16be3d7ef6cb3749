"""Smart prompts rest on memories, in the language that is asked for."""

from __future__ import annotations

from robots import MovableClock, Robot

ASKED = 'How hard may I grip the glass cup?'


def test_without_memories_nothing_is_invented(thinking_robot: Robot) -> None:
    empty = thinking_robot.sage_smart_prompt(ASKED)
    assert [prompt.type for prompt in empty.prompts] == ['educational']
    assert (empty.related_topics, empty.learning_path) == ((), ())
    assert 'learn' in empty.suggestions[0]


def test_a_rule_corrects_and_is_named_by_its_id(thinking_robot: Robot) -> None:
    rule = thinking_robot.learn('Never grip glass cups with more than 10 N').memory_id
    answer = thinking_robot.sage_smart_prompt(ASKED)
    assert answer.context == 'manipulation'
    assert answer.prompts[0].type == 'corrective'
    assert f'mem_{rule}' in answer.prompts[0].text
    assert f'mem_{rule}' in answer.suggestions[0]


def test_the_learning_path_has_the_procedures_that_were_seen(
    thinking_robot: Robot, clock: MovableClock
) -> None:
    robot, step = thinking_robot, 'Gripped the glass cup from above at 8 N'
    session = robot.start_session().session_id
    robot.save_perception(step, 'procedural', session_id=session)
    clock.forward(seconds=90)
    robot.end_session(session)
    (learned,) = robot.sage_smart_prompt(ASKED).learning_path
    assert (learned.step, learned.topic, learned.duration) == (1, f'"{step}"', '90 s')


def test_suggestions_are_left_out_where_they_are_not_asked_for(robot: Robot) -> None:
    robot.learn('Never grip glass cups with more than 10 N')
    assert robot.sage_smart_prompt('grip the glass cup').suggestions
    silent = robot.sage_smart_prompt('grip the glass cup', include_suggestions=False)
    assert silent.suggestions == ()


def test_the_prompts_speak_chinese_where_they_are_asked_so(robot: Robot) -> None:
    robot.learn('抓取玻璃杯时禁止超过10牛')
    answer = robot.sage_smart_prompt('怎么抓取玻璃杯？')
    assert answer.prompts[0].text.startswith('注意（mem_1）')
