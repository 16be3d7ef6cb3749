"""Which texts matter: instructions and warnings, not repetitions and documents."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from robot_memory.detectors.text import TextDetector, TextReading, TextSettings

SECOND = 10**9


def at(seconds: float, text: str, **more: object) -> TextReading:
    return TextReading(round((1_700_000_000 + seconds) * SECOND), text, **more)  # type: ignore[arg-type]


def test_an_instruction_matters_and_lasts_a_while() -> None:
    (saying,) = TextDetector(TextSettings(lasts_s=30.0)).feed(at(0, ' put the\nspoon  in '))
    assert saying.text == 'put the spoon in'
    assert saying.until_ns - saying.stamp_ns == 30 * SECOND


def test_a_text_that_is_published_all_the_time_is_said_once() -> None:
    detector = TextDetector(TextSettings(repeat_s=5.0))
    said = [detector.feed(at(i / 10, 'pick up the cup')) for i in range(600)]
    assert sum(map(len, said)) == 1
    assert detector.ignored == {'repeated': 599}


def test_the_same_instruction_later_is_given_again() -> None:
    detector = TextDetector(TextSettings(repeat_s=5.0))
    assert detector.feed(at(0, 'pick up the cup')) and detector.feed(at(6, 'pick up the cup'))


def test_only_log_messages_of_the_level_matter_and_name_their_logger() -> None:
    detector = TextDetector(TextSettings(min_level='warn'))
    assert not detector.feed(at(0, 'all is well', level=20, name='planner'))
    (saying,) = detector.feed(at(1, 'no path found', level=30, name='planner'))
    assert saying.text == 'planner: no path found'
    assert detector.ignored == {'level': 1}


def test_what_is_not_used_is_counted_with_its_reason() -> None:
    detector = TextDetector(TextSettings(max_per_minute=2, max_length=20))
    for reading in (
        at(0, 'one'),
        at(1, 'two'),
        at(2, 'three'),
        at(3, 'a description of a robot in XML'),
        at(4, ' '),
        TextReading(0, 'when?'),
    ):
        detector.feed(reading)
    assert detector.ignored == {
        'too many a minute': 1,
        'too long': 1,
        'empty': 1,
        'no stamp': 1,
    }


@given(st.lists(st.tuples(st.integers(-(2**63), 2**63), st.text(max_size=30)), max_size=30))
def test_any_stream_of_texts_is_heard_and_counted(stream: list[tuple[int, str]]) -> None:
    detector = TextDetector(TextSettings(max_per_minute=3))
    said = sum(len(detector.feed(TextReading(stamp, text))) for stamp, text in stream)
    assert said + detector.ignored.total() == len(stream)
