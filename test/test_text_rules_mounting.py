"""Which tool a text says is mounted, and what a state names."""

from __future__ import annotations

import pytest

from robot_memory.text.rules.mounting import Named, read_mounted, read_state


@pytest.mark.parametrize(
    ('text', 'tool'),
    [
        ('Changed the gripper to the suction gripper', 'suction gripper'),
        ('Swapped the soft gripper for the suction gripper', 'suction gripper'),
        ('Tool change: vacuum gripper', 'vacuum gripper'),
        ('The suction cup is mounted', 'suction cup'),
        ('换上软夹爪', '软夹爪'),
        ('工具更换：吸盘', '吸盘'),
    ],
)
def test_a_change_names_the_tool_that_is_mounted_then(text: str, tool: str) -> None:
    assert read_mounted(text) == Named(tool)


@pytest.mark.parametrize(
    'text',
    [
        'Could not mount the soft gripper',
        'Do not mount the soft gripper',
        'The soft gripper was taken off',
        'Mounted the frobnicator gripper head',
        '还没装上软夹爪',
    ],
)
def test_a_change_to_what_is_not_known_says_that_it_is_unknown(text: str) -> None:
    assert read_mounted(text) == Named(None)


@pytest.mark.parametrize('text', ['Moved to shelf 3', 'Contact on the soft gripper, 5 N', '很重'])
def test_a_text_of_no_change_says_nothing(text: str) -> None:
    assert read_mounted(text) is None


@pytest.mark.parametrize(
    ('label', 'kind', 'named'),
    [
        ('tool: soft gripper', 'tool', Named('soft gripper')),
        ('mounted tool: none', 'tool', Named(None)),
        ('gripper: closed', 'tool', None),
        ('location: kitchen', 'place', Named('kitchen')),
        ('protective stop', 'place', None),
    ],
)
def test_a_state_names_a_tool_or_a_place(label: str, kind: str, named: Named | None) -> None:
    assert read_state(label, kind) == named
