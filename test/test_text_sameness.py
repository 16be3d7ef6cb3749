"""Whether two texts that look alike speak of the same."""

from __future__ import annotations

import pytest

from robot_memory.text.sameness import tells_of_another


@pytest.mark.parametrize(
    ('one', 'other', 'parts'),
    [
        ('Delivered a box of gloves to ward 3', 'Delivered a box of samples to ward 3', True),
        ('Anna repaired the left pump', 'Anna replaced the left pump', True),
        ('The technician fixed the pump', 'The technician repaired the pump', False),
        ('The cup is on the table', 'On the table is the cup', False),
    ],
)
def test_another_object_or_verb_is_another_event(one: str, other: str, parts: bool) -> None:
    assert tells_of_another(one, other) is parts
    assert tells_of_another(other, one) is parts
