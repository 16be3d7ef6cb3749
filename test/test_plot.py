"""A plot shows what it should, where it should, whatever the memory holds."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from amounts import LONG, few_or_many
from hypothesis import given, settings
from hypothesis import strategies as st
from narrowing import require
from numpy.typing import NDArray
from PIL import Image
from waiting import HANG_SECONDS

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.proportions import compute_wilson
from robot_memory.detectors.event import Picture
from robot_memory.detectors.signal import Signal
from robot_memory.plot import Curve, Drawn, Outcome, SkillDrawing, draw, draw_skill
from robot_memory.plot.drawn import format_length, format_span, format_stamp

pytest.importorskip('matplotlib', reason='plots need matplotlib')

from matplotlib.figure import Figure

from robot_memory.plot.curves import find_peaking, split_by_unit
from robot_memory.plot.figures import EXTENT, PEAK, SERIES
from robot_memory.plot.page import INK, Strip
from robot_memory.plot.skill_curve import CHANGED, REAL, SIMULATED, WINDOW, slide
from robot_memory.plot.text import (
    BASE,
    MISSING,
    fit_figure,
    fit_fonts,
    format_quantity,
    measure_width,
    wrap_text,
)
from robot_memory.plot.time_axis import TimeAxis
from robot_memory.plot.time_line import STYLES, Lane

START_NS = 1_500_000_000 * 10**9
BERLIN, UTC = ZoneInfo('Europe/Berlin'), ZoneInfo('UTC')
FORCE = ('force.x', 'force.y', 'force.z', 'torque.x', 'torque.y', 'torque.z')


def ns(seconds: float) -> int:
    return START_NS + round(seconds * 1e9)


def push(begin: float = 1.0, peak: float = 2.0, end: float = 3.0) -> Drawn:
    """Return a push along -z that peaks with 8 N, its signal from 0 to 4 s."""
    stamps = np.arange(ns(0), ns(4) + 1, 10**7)
    seconds = (stamps - ns(0)) / 1e9
    values = np.zeros((len(stamps), 6), np.float32)
    values[:, 2] = -8 * np.exp(-(((seconds - peak) / 0.3) ** 2))
    values[:, 4] = 0.1 * values[:, 2]
    signal = Signal(FORCE, ('N',) * 3 + ('N m',) * 3, stamps, values)
    return Drawn(12, 'A push of 8 N along -z', 'tactile', ns(begin), ns(peak), ns(end), signal)


def picture(seconds: float, colour: str = 'red', size: tuple[int, int] = (80, 60)) -> Picture:
    buffer = io.BytesIO()
    Image.new('RGB', size, colour).save(buffer, 'JPEG', quality=95)
    return Picture(ns(seconds), buffer.getvalue())


def pixels_of(png: bytes) -> NDArray[Any]:
    with Image.open(io.BytesIO(png)) as image:
        assert image.format == 'PNG'
        return np.asarray(image.convert('RGB')).astype(int)


def where(pixels: NDArray[Any], colour: str, leeway: int = 0) -> tuple[NDArray[Any], ...]:
    """Return the rows and columns of the pixels of a colour."""
    wanted = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    return np.nonzero((abs(pixels - wanted) <= leeway).all(axis=2))


@pytest.mark.parametrize('width', [480, 1133, 1200, 2001])
def test_a_plot_is_as_wide_as_asked(width: int) -> None:
    assert pixels_of(draw([push()], width)).shape[1] == width
    assert pixels_of(draw([push(), push()], width)).shape[1] == width
    assert pixels_of(draw([replace(push(), signal=None)], width)).shape[1] == width


def test_the_extent_is_shaded_and_the_peak_marked_where_they_are() -> None:
    pixels = pixels_of(draw([push()]))
    _, band = where(pixels, EXTENT)
    left, right = band.min(), band.max() + 1
    _, longer = where(pixels_of(draw([push(end=3.5)])), EXTENT)
    assert longer.max() + 1 - left == pytest.approx(1.25 * (right - left), abs=2)
    for peak in (1.25, 2.0, 2.5):
        rows, columns = where(pixels_of(draw([push(peak=peak)])), PEAK)
        dot_left = columns.min()
        expected = left + (peak - 1.0) / 2.0 * (right - left)
        assert dot_left == pytest.approx(expected - 6, abs=2)
        dot = rows[columns < dot_left + 12]
        assert len(dot) >= 30


def test_the_length_of_the_force_is_drawn_over_its_parts() -> None:
    pixels = pixels_of(draw([push()]))
    rows, _ = where(pixels[90:], INK)
    falling, _ = where(pixels[90:], SERIES[2])
    assert rows.size and falling.size
    assert rows.min() + 50 < falling.max()


def test_what_the_sensor_shows_at_rest_is_taken_off() -> None:
    event = push()
    offset = (1.0, -2.0, -9.0, 0.0, 0.0, 0.0)
    signal = require(event.signal)
    signal = replace(signal, values=(signal.values + offset).astype(np.float32))
    raised = replace(event, signal=signal, baseline=offset)
    (force, torque) = split_by_unit(raised)
    assert force.size.max() == pytest.approx(8, abs=1e-5)
    assert force.size[0] == pytest.approx(0, abs=1e-5)
    assert (force.name, force.labels, torque.name) == ('force', ('x', 'y', 'z'), 'torque')
    assert draw([raised]) != draw([replace(raised, baseline=())])
    assert len(split_by_unit(replace(raised, baseline=(*offset, 5.0, 5.0)))) == 2


def test_the_peak_is_that_of_the_unit_that_peaks() -> None:
    stamps = np.arange(5) * 10**9 + START_NS
    names = ('position.a', 'position.b', 'velocity.a', 'velocity.b', 'effort.a', 'effort.b')
    units = ('rad', 'rad', 'rad/s', 'rad/s', 'N m', 'N m')
    values = np.array(
        [
            [0.0, 0, 0, 0, 5, 5],
            [0.1, 0, 0.1, 0, 9, 5],
            [0.5, 0, 0.2, -0.7, 5, 5],
            [0.9, 0, 0.1, 0, 5, 5],
            [1.0, 0, 0, 0, 5, 5],
        ],
        np.float32,
    )
    signal = Signal(names, units, stamps, values)
    event = Drawn(1, '', 'motion', ns(0), ns(2), ns(4), signal)
    found = split_by_unit(event)
    assert [curves.unit for curves in found] == ['rad', 'rad/s', 'N m']
    chosen = find_peaking(found, event)
    assert chosen.unit == 'rad/s'
    at, value, name = chosen.find_peak(ns(2))
    assert (at, name) == (ns(2), 'b')
    assert value == pytest.approx(-0.7)
    assert find_peaking(found, replace(event, peak_ns=ns(1))).unit == 'N m'


def test_names_that_all_columns_share_are_written_once() -> None:
    def named(*columns: str) -> tuple[str, tuple[str, ...]]:
        values = np.ones((1, len(columns)), np.float32)
        signal = Signal(columns, ('rad',) * len(columns), np.array([START_NS]), values)
        (curves,) = split_by_unit(replace(push(), signal=signal))
        return curves.name, curves.labels

    assert named('position.a', 'position.b') == ('position', ('a', 'b'))
    assert named('a.position', 'b.position') == ('position', ('a', 'b'))
    assert named('elbow_joint', 'wrist.1') == ('', ('elbow_joint', 'wrist.1'))


def test_pictures_stand_in_the_order_of_their_times_and_none_upon_another() -> None:
    colours = {'#ff0000': 0.0, '#00ff00': 0.01, '#0000ff': 0.02, '#ff00ff': 3.9}
    pictures = tuple(picture(at, colour) for colour, at in colours.items())
    pixels = pixels_of(draw([replace(push(), pictures=pictures)]))
    spans = []
    for colour in colours:
        rows, columns = where(pixels, colour, 4)
        assert np.ptp(columns) == pytest.approx(4 / 3 * np.ptp(rows), abs=2)
        assert np.ptp(rows) > 100
        spans.append((columns.min(), columns.max()))
    assert spans == sorted(spans)
    assert all(one[1] < other[0] for one, other in pairwise(spans))


def test_pictures_without_room_are_thinned_out_and_counted() -> None:
    pictures = [picture(step / 10) for step in range(40)]
    images, note = Strip(pictures, 100, ns(1.7)).select(900)
    assert note == '6 of 40 images shown'
    stamps = [stamp for stamp, _ in images]
    assert stamps == sorted(stamps) and ns(1.7) in stamps
    assert {stamps[0], stamps[-1]} == {ns(0), ns(3.9)}
    assert Strip(pictures[:3], 100).select(900)[1] == ''
    broken = [Picture(ns(1), b'none'), picture(2)]
    assert Strip(broken, 100).select(900)[1] == '1 unreadable'
    for size in ((500, 40), (10, 3000)):
        odd = [picture(at, size=size) for at in (0, 1)]
        assert pixels_of(draw([replace(push(), pictures=tuple(odd))])).shape[1] == 1200


def test_a_picture_alone_is_shown_large() -> None:
    event = Drawn(3, 'The scene changed', 'visual', ns(1), ns(1), ns(1), None, (picture(1),))
    rows, columns = where(pixels_of(draw([event])), '#ff0000', 4)
    assert np.ptp(rows) > 280
    assert np.ptp(columns) == pytest.approx(4 / 3 * np.ptp(rows), abs=2)


def test_a_memory_of_words_alone_is_drawn() -> None:
    spoken = Drawn(4, 'push the block', 'auditory', ns(1), ns(1), ns(3))
    rows, _ = where(pixels_of(draw([spoken])), EXTENT)
    assert rows.size
    assert pixels_of(draw([replace(spoken, end_ns=ns(1))])).shape[0] < 150


def test_a_span_shows_each_kind_on_its_lane() -> None:
    pushes = [push(1.0, 1.2, 1.4), push(2.0, 2.2, 2.4), push(3.0, 3.2, 3.4)]
    events = [
        replace(event, memory_id=number, kind='contact') for number, event in enumerate(pushes)
    ]
    events += [Drawn(9, 'stop', 'fault', ns(8), ns(8), ns(9), None, (picture(8),))]
    events += [Drawn(None, 'a session', 'session', ns(0), ns(0), ns(10))]
    pixels = pixels_of(draw(events))
    contact, fault, session = (
        where(pixels, STYLES[kind][0]) for kind in ('contact', 'fault', 'session')
    )
    bar = where(pixels, '#d2d2d2', 3)
    rows = [np.median(found[0]) for found in (session, contact, fault)]
    assert rows == sorted(rows) and contact[0].max() < rows[2]
    stems = np.unique(contact[1][contact[1] > 300])
    assert np.count_nonzero(np.diff(stems) > 9) >= 2
    assert np.ptp(bar[1][abs(bar[0] - rows[0]) < 20]) > 800
    assert where(pixels, '#ff0000', 4)[0].size > 5000


def test_a_figure_is_drawn_where_there_is_no_signal() -> None:
    events = [
        Drawn(n, 'push', 'contact', ns(n), ns(n), ns(n + 0.5), figure=('peak_force', n, 'N'))
        for n in (1, 2, 9)
    ]
    color = STYLES['contact'][0]
    strong = where(pixels_of(draw(events)), color)
    weak = where(pixels_of(draw([replace(one, figure=None) for one in events])), color)
    assert strong[0].size > 3 * weak[0].size


def test_long_gaps_are_compressed_and_short_ones_are_not() -> None:
    hour = 3600.0
    seconds = [(0.0, 60.0), (100.0, 160.0), (9 * hour, 9 * hour + 50), (30 * hour, 30 * hour)]
    spans = [(ns(begin), ns(end)) for begin, end in seconds]
    axis = TimeAxis.fit(spans, START_NS, BERLIN)
    shown = [((a - START_NS) / 1e9, (b - START_NS) / 1e9) for a, b in axis.stretches]
    assert [(round(a, -1), round(b, -1)) for a, b in shown] == [
        (0, 160),
        (9 * hour, 9 * hour + 50),
        (30 * hour, 30 * hour),
    ]
    assert len(TimeAxis.fit(spans[:2], START_NS).stretches) == 1
    many = [(ns(n * hour), ns(n * hour + 1)) for n in range(50)]
    assert len(TimeAxis.fit(many, START_NS, BERLIN).stretches) <= 13
    for begin, end in spans:
        assert any(a <= begin and end <= b for a, b in axis.stretches)


def test_the_axis_is_of_local_time_and_in_the_order_of_time() -> None:
    zero = 1_792_886_400 * 10**9  # 2026-10-25T00:00:00Z: at 01:00 the clocks go back
    minute, later = 60 * 10**9, zero + 4 * 3600 * 10**9
    axis = TimeAxis.fit([(zero, zero + minute), (later, later + minute)], zero, BERLIN)
    axes = Figure((12, 1)).add_subplot()
    axis.apply([axes])
    texts = [label.get_text() for label in axes.get_xticklabels()]
    assert texts[0].endswith('2026-10-25') and texts[0].startswith('02:0')
    assert texts[-1].startswith('05:0')
    stamps = np.array([0, minute // 2, minute, later - zero - minute, later - zero])
    at = axis.to_x(zero + np.append(stamps, stamps[-1] + minute))
    places = axes.transData.transform([(x, 0.0) for x in at])[:, 0]
    assert list(places) == sorted(places)
    assert places[4] - places[2] < 0.2 * (places[5] - places[0])


@pytest.mark.parametrize('inches', [3, 8, 16])
def test_labels_of_times_are_apart_and_have_their_dates(inches: int) -> None:
    day = 86_400 * 10**9
    spans = [(START_NS + n * n * day, START_NS + n * n * day + 60 * 10**9) for n in range(1, 10)]
    axis = TimeAxis.fit(spans, START_NS, UTC)
    axes = Figure((inches, 2), 150).add_subplot()
    axis.apply([axes])
    labels = [label.get_text() for label in axes.get_xticklabels()]
    places = axes.transData.transform([(x, 0.0) for x in axes.get_xticks()])[:, 0]
    assert all(after - before >= 90 for before, after in pairwise(places))
    assert len(labels) >= 3 and '\n' in labels[0]
    dates = [label.partition('\n')[2] for label in labels if '\n' in label]
    assert len({*dates}) == len(dates) >= 3


def test_bars_that_overlap_have_rows_of_their_own() -> None:
    spans = ((0, 10), (2, 4), (3, 12), (5, 6), (11, 13))
    events = [Drawn(n, 'x', 'fault', ns(a), ns(a), ns(b)) for n, (a, b) in enumerate(spans)]
    assert Lane('fault', '', None, events).rows == [0, 1, 2, 1, 0]


def test_what_a_session_spans_may_be_compressed() -> None:
    far = 20_000.0
    events = [
        Drawn(None, 'a session', 'session', ns(0), ns(0), ns(far)),
        *(Drawn(n, 'x', 'fault', ns(at), ns(at), ns(at + 1)) for n, at in ((1, 5), (2, far - 9))),
    ]
    pixels = pixels_of(draw(events))
    hatch = where(pixels, '#dcdcdc', 12)
    assert hatch[0].size > 100


@pytest.mark.parametrize('length', [1e-3, 1.0, 70, 115, 4000, 5e4, 17e4, 8e5, 3e6, 5e6, 5e8])
@pytest.mark.parametrize('width', [480, 1200] if LONG else [480])
def test_any_span_has_a_time_line(length: float, width: int) -> None:
    events = [replace(push(), signal=None, pictures=(picture(1),)) for _ in range(2)]
    later = round(length * 1e9)
    events[1] = replace(
        events[1],
        stamp_ns=events[1].stamp_ns + later,
        peak_ns=events[1].peak_ns + later,
        end_ns=events[1].end_ns + later,
    )
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        assert pixels_of(draw(events, width)).shape[1] == width


def test_equal_memories_give_equal_bytes_in_any_thread() -> None:
    events = [replace(push(), title='机器人 推', pictures=(picture(0), picture(2, 'blue')))]
    one, many = draw(events), draw(events * 3)
    draw([replace(push(), title='другой ℵ')])
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(lambda _: draw(events), range(few_or_many(4, 8)))) == {one}
        assert set(pool.map(lambda _: draw(events * 3), range(few_or_many(4, 8)))) == {many}


TITLES = (
    '机器人在桌子上推了一个红色的杯子',
    '$\\frac{1}{2$ _^{} \\alpha',
    '\ud800 \0 \x1b[31m \n\t \u202e',
    '🤖👩‍🚀🏳️‍🌈',
    'ロボット 로봇 روبوت रोबोट',
    '',
    'x' * 5000,
    '语' * 5000,
)


@pytest.mark.parametrize('title', TITLES, ids=range(len(TITLES)))
def test_any_title_is_drawn_without_a_warning(title: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        draw([replace(push(), title=title, kind=title[:20])])
        draw([Drawn(n, title, 'visual', ns(n * 60), ns(n * 60), ns(n * 60)) for n in range(3)])


def test_nothing_is_written_to_standard_error_even_at_the_first_time(tmp_path: Path) -> None:
    code = (
        'from robot_memory.plot import Drawn, draw\n'
        f'title = {TITLES[0] + TITLES[3]!r}\n'
        'assert draw([Drawn(1, title, "visual", 10**9, 10**9, 2 * 10**9)])'
    )
    environment = {**os.environ, 'MPLCONFIGDIR': str(tmp_path), 'DISPLAY': ':99'}
    done = subprocess.run(
        [sys.executable, '-c', code],
        env=environment,
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, '', '')


def test_without_matplotlib_it_says_what_to_install() -> None:
    code = (
        'import sys\n'
        'sys.modules["matplotlib"] = None\n'
        'from robot_memory.core.errors import Unavailable\n'
        'from robot_memory.plot import Drawn, draw\n'
        'try:\n'
        '    draw([Drawn(1, "", "visual", 1, 1, 1)])\n'
        'except Unavailable as error:\n'
        '    print(error)\n'
    )
    done = subprocess.run(
        [sys.executable, '-c', code],
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=True,
    )
    assert 'pip install "matplotlib>=3.8,<4"' in done.stdout


def test_a_character_comes_from_the_first_font_that_has_it() -> None:
    stix_only = '\N{MATHEMATICAL SCRIPT SMALL A}'
    words, families = fit_fonts(f'a{stix_only}')
    assert words == f'a{stix_only}'
    assert families[0] == BASE and len(families) == 2
    assert fit_fonts('\ufdd0\U000f1234') == (2 * MISSING, [BASE])
    figure = Figure()
    figure.text(0, 0, stix_only)
    assert fit_figure(figure)
    figure.text(0, 0, '\ufdd0$')
    assert not fit_figure(figure)
    assert figure.texts[1].get_text() == f'{MISSING}$'


def test_long_text_is_cut_between_words_within_its_width() -> None:
    text = 'the robot pushed the red cup off the table and stopped ' * 3
    lines = wrap_text(text, 9, 300, 2).split('\n')
    assert len(lines) == 2 and lines[1].endswith('…')
    assert all(200 < measure_width(line, 9) <= 300 for line in lines)
    assert text.startswith(lines[0] + ' ')
    assert wrap_text('a  short\nline', 9, 300, 2) == 'a short line'
    assert wrap_text('', 9, 300, 2) == ''


def test_instants_and_lengths_are_said_in_words() -> None:
    assert format_stamp(START_NS + 1_500, UTC) == '2017-07-14 02:40:00.000001 UTC'
    assert format_stamp(12_345_678_901, UTC) == '12.345679 s of simulated time'
    assert format_span(START_NS, START_NS + 10**10, UTC) == '2017-07-14 02:40:00 to 02:40:10 UTC'
    assert (
        format_span(START_NS, ns(86400), UTC) == '2017-07-14 02:40:00 to 2017-07-15 02:40:00 UTC'
    )
    assert format_span(10**9, 3 * 10**9, UTC) == '1.0 to 3.0 s of simulated time'
    seconds = (0.0123, 6.66, 99.94, 100, 3600, 90061)
    words = ('0.0123 s', '6.66 s', '99.9 s', '100 s', '60.0 minutes', '25.0 hours')
    assert tuple(format_length(round(one * 1e9)) for one in seconds) == words


def test_values_have_three_figures_and_a_true_minus() -> None:
    values = (12.345, -0.01234, 1234.6, 0.0, -0.0, 1e-9, 2.5e7, 99.99, 999.9, 5.7)
    words = '12.3 −0.0123 1235 0.00 0.00 1.00e−09 2.50e+07 100 1000 5.70'
    assert ' '.join(format_quantity(value, '') for value in values) == words
    assert format_quantity(2.5, 'N m') == '2.50 N m'


def test_one_reading_of_a_long_signal_is_seen() -> None:
    stamps = ns(0) + np.arange(100_000) * 10**6
    drawn = []
    for place in (50_000, 70_000):
        values = np.zeros((100_000, 1), np.float32)
        values[place] = 1.0
        signal = Signal(('x',), ('rad',), stamps, values)
        drawn.append(pixels_of(draw([replace(push(), signal=signal)])))
    rows, columns = np.nonzero((drawn[0] != drawn[1]).any(axis=2))
    assert np.ptp(rows) > 200 and 150 < np.ptp(columns) < 250


@st.composite
def odd_signals(draw_: Any) -> Signal:
    rows, columns = draw_(st.integers(0, 12)), draw_(st.integers(1, 8))
    number = st.floats(width=32) | st.sampled_from([0.0, 1.0, 3e38, 1e-45])
    cells = draw_(st.lists(number, min_size=rows * columns, max_size=rows * columns))
    units, names = (
        draw_(st.lists(st.sampled_from(words), min_size=columns, max_size=columns))
        for words in (['N', 'rad', '', '°'], ['force.x', 'x', '', '.', '关节', '$'])
    )
    stamps = draw_(st.lists(st.integers(1, 2**62), min_size=rows, max_size=rows))
    values = np.array(cells, np.float32).reshape(rows, columns)
    return Signal(tuple(names), tuple(units), np.array(sorted(stamps), np.int64), values)


@settings(max_examples=few_or_many(10, 60), deadline=None)
@given(
    st.lists(
        st.tuples(
            odd_signals() | st.none(),
            st.lists(st.integers(1, 2**62), min_size=3, max_size=3),
            st.lists(st.floats(-1e9, 1e9), max_size=3),
        ),
        min_size=1,
        max_size=3,
    )
)
def test_any_signal_is_drawn_without_a_warning(parts: Any) -> None:
    events = []
    for number, (signal, stamps, baseline) in enumerate(parts):
        first, peak, last = sorted(stamps)
        events.append(
            Drawn(number, 'odd', 'tactile', first, peak, last, signal, (), tuple(baseline))
        )
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        assert pixels_of(draw(events, 600)).shape[1] == 600
        assert pixels_of(draw(events[:1], 600)).shape[1] == 600


@pytest.mark.parametrize(
    'values',
    [
        np.full((1, 3), 2.0),
        np.full((300, 3), -7.5),
        np.full((300, 3), np.nan),
        np.zeros((300, 3)),
        np.random.default_rng(1).normal(size=(few_or_many(30_000, 100_000), 3)),
    ],
    ids=['one reading', 'constant', 'no number', 'zero', 'long'],
)
def test_a_signal_of_any_length_and_shape_is_drawn(values: Any) -> None:
    stamps = ns(0) + np.arange(len(values)) * 10**6
    signal = Signal(FORCE[:3], ('N',) * 3, stamps, values.astype(np.float32))
    event = replace(push(), signal=signal)
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        assert where(pixels_of(draw([event])), EXTENT)[0].size
        assert pixels_of(draw([event, push()])).size


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(InvalidArgument, match='no event to plot'):
        draw([])
    width: Any
    for width in (0, 100, 10**6, 800.5, None, True):
        with pytest.raises(InvalidArgument, match='480 to 8000 pixels'):
            draw([push()], width)


def test_the_package_loads_matplotlib_only_to_draw() -> None:
    code = 'import sys, robot_memory.plot; print("matplotlib" in sys.modules)'
    done = subprocess.run(
        [sys.executable, '-c', code],
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=True,
    )
    assert done.stdout.strip() == 'False'


def test_no_global_state_of_matplotlib_is_used() -> None:
    sources = Path(__file__).parents[1].joinpath('robot_memory', 'plot').glob('*.py')
    assert not any('pyplot' in source.read_text(encoding='utf-8') for source in sources)


def skill(outcomes: str, changes: tuple[tuple[int, bool], ...] = (), sim: int = 0) -> SkillDrawing:
    """Return a drawing of outcomes, 1 for a success; the last `sim` are simulated."""
    real = len(outcomes) - sim
    told = tuple(
        Outcome(number, one == '1', number > real) for number, one in enumerate(outcomes, 1)
    )
    curve = Curve('brass disc on the oiled tray', told, changes)
    return SkillDrawing('Skill strike', ('trials',), len(outcomes), (curve,))


@pytest.mark.parametrize('width', [480, 1200])
def test_the_success_of_a_skill_is_drawn_where_it_is(width: int) -> None:
    pixels = pixels_of(draw_skill(skill('0' * 40 + '1' * 40), width))
    assert pixels.shape[1] == width
    rows, columns = where(pixels, REAL)
    early = rows[columns <= np.quantile(columns, 0.2)]
    late = rows[columns >= np.quantile(columns, 0.9)]
    assert late.min() < early.min()
    assert not len(where(pixels, CHANGED)[0]) and not len(where(pixels, SIMULATED)[0])


def test_a_change_and_simulated_trials_are_drawn_apart() -> None:
    pixels = pixels_of(draw_skill(skill('01' * 20, ((11, False), (31, True)), sim=10)))
    _, columns = where(pixels, CHANGED)
    assert columns.max() - columns.min() > 200
    assert len(where(pixels, SIMULATED)[0]) and len(where(pixels, REAL)[0])


def test_equal_skills_give_equal_bytes_and_one_trial_is_drawn() -> None:
    assert draw_skill(skill('0110')) == draw_skill(skill('0110'))
    assert len(where(pixels_of(draw_skill(skill('1'))), REAL)[0])


def test_a_skill_without_an_outcome_is_refused() -> None:
    with pytest.raises(InvalidArgument, match='no trial to plot'):
        draw_skill(skill(''))
    with pytest.raises(InvalidArgument, match='width_px must be 480 to 8000 pixels'):
        draw_skill(skill('1'), 100)


def test_a_point_of_a_curve_is_the_share_of_the_last_trials() -> None:
    shares, lows, highs = slide([False, True] + [True] * WINDOW)
    assert shares[:2] == [0.0, 0.5]
    assert shares[-1] == 1.0
    assert (lows[-1], highs[-1]) == compute_wilson(WINDOW, WINDOW)
