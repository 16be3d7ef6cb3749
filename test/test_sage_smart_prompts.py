"""Smart prompts rest on memories, in the language that is asked for."""

from __future__ import annotations

from robots import Robot


def test_prompts_rest_on_memories_and_nothing_is_invented(thinking_robot: Robot) -> None:
    robot = thinking_robot
    empty = robot.sage_smart_prompt('How hard may I grip the glass cup?')
    assert [prompt.type for prompt in empty.prompts] == ['educational']
    assert (empty.related_topics, empty.learning_path) == ((), ())
    assert 'learn' in empty.suggestions[0]
    rule = robot.learn('Never grip glass cups with more than 10 N').memory_id
    session = robot.start_session().session_id
    step = robot.save_perception(
        'Gripped the glass cup from above at 8 N', 'procedural', session_id=session
    )
    robot.memory.clock.forward(seconds=90)  # type: ignore[attr-defined]
    robot.end_session(session)
    answer = robot.sage_smart_prompt('How hard may I grip the glass cup?')
    assert answer.context == 'manipulation'
    assert answer.prompts[0].type == 'corrective'
    assert f'mem_{rule}' in answer.prompts[0].text
    assert f'mem_{rule}' in answer.suggestions[0]
    (learned,) = answer.learning_path
    assert (learned.step, learned.duration) == (1, '90 s')
    assert learned.topic == 'Gripped the glass cup from above at 8 N'
    assert step.perception_type == 'procedural'
    silent = robot.sage_smart_prompt('grip the glass cup', include_suggestions=False)
    assert silent.suggestions == ()


def test_the_prompts_speak_chinese_where_they_are_asked_so(robot: Robot) -> None:
    robot.learn('抓取玻璃杯时禁止超过10牛')
    answer = robot.sage_smart_prompt('怎么抓取玻璃杯？')
    assert answer.prompts[0].text.startswith('注意（mem_1）')
