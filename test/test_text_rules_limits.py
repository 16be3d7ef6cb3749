"""Which side of an amount a rule bounds, in English and Chinese."""

from __future__ import annotations

import pytest

from robot_memory.text.rules.limits import read_limits

UPPER = [
    ('Never exceed 15 N of grip force on glass', 15, 'N'),
    ('Do not grip with more than 5 newtons', 5, 'N'),
    ('Keep the speed below 0.5 m/s', 0.5, 'm/s'),
    ('No faster than 20 cm/s near people', 20, 'cm/s'),
    ('When carrying more than 2 kg, at most 0.3 m/s', 0.3, 'm/s'),
    ('within 1 m of people at most 0.25 m/s', 0.25, 'm/s'),
    ('Maximum grip force: 15 N', 15, 'N'),
    ('15 N max on the blue cup', 15, 'N'),
    ('max. 20 N', 20, 'N'),
    ('Do not push harder than 1,500 N', 1500, 'N'),
    ('The torque limit is 2.5 Nm', 2.5, 'N m'),
    ('Tilt at most 30 degrees', 30, 'deg'),
    ('When carrying glass keep the speed below 0.3 m/s', 0.3, 'm/s'),
    ('never above 3 rad/s^2', 3, 'rad/s^2'),
    ('不要超过15牛', 15, 'N'),
    ('夹持力不超过十五牛', 15, 'N'),
    ('夹玻璃杯的力控制在5牛以内', 5, 'N'),
    ('不锈钢杯的夹持力最大15牛', 15, 'N'),
    ('别用15牛以上的力', 15, 'N'),
    ('Nothing above 12 N', 12, 'N'),
    ('Pushing with over 40 N is forbidden', 40, 'N'),
    ('I told you: 20 N, never above', 20, 'N'),
    ('Restrict the grip to 11 N', 11, 'N'),
    ('Motor current at most 2 A', 2, 'A'),
    ('不得超过3毫米每秒', 3, 'mm/s'),
    ('转速不得超过30度每秒', 30, 'deg/s'),
    ('主轴不得超过300转/分', 300, 'rpm'),
    ('室内禁止开得比1米/秒快', 1, 'm/s'),
    ('举起的高度不超过一米五', 1.5, 'm'),
    ('最多两公斤半', 2.5, 'kg'),
    ('超过1米/秒一律禁止', 1, 'm/s'),
    ('在玻璃上,速度不得快于每秒0.2米', 0.2, 'm/s'),
    ('Forty newtons is your ceiling', 40, 'N'),
    ('An hour and a half is the longest you may run', 1.5, 'h'),
    ('8 newton metres is plenty, do not go past it', 8, 'N m'),
    ('Anything above 46 °C kills the culture, so never let it get there', 46, 'degC'),
    ('Fifty newtons or above is strictly out of bounds', 50, 'N'),
    ('Refuse anything over 20 lb', 20, 'lb'),
    ('If you feel 15 N at the wrist, that is the limit', 15, 'N'),
    ('Go as fast as 1 m/s, but no faster', 1, 'm/s'),
    ('Slow down to 0.2 metres a second when people are around', 0.2, 'm/s'),
    ('示教器在手上时,速度以百分之十为限', 10, '%'),
    ('八百克以上的东西不能上架', 800, 'g'),
    ('再快也不能快过每秒十厘米', 10, 'cm/s'),
    ('Time between looks is to be within 5 s', 5, 's'),
    ('Drive no faster than 3 mph in the yard', 1.34112, 'm/s'),
    ('The drill turns at most at 300 revolutions per minute', 300, 'rpm'),
    ('风压不超过2公斤力每平方厘米', 2, 'kgf/cm^2'),
    ('车间里时速不得超过五公里', 5, 'km/h'),
    ('主轴不许超过每分钟300转', 300, 'rpm'),
    ('油门不能过半', 50, '%'),
    ('人多的时候速度只许用到四成', 40, '%'),
    ('拧紧力矩不许高出12牛米', 12, 'N m'),
    ('Anything heavier than 4 kg you leave to the crane', 4, 'kg'),
    ('Abort the pull once the force goes past 30 N', 30, 'N'),
    ('Water hotter than 60 °C is off the table', 60, 'degC'),
    ('Three kilos, and that is all it may carry', 3, 'kg'),
    ('停留时间请控制在八秒内', 8, 's'),
]
LOWER = [
    ('Leave 20 cm between the tray and the wall', 20, 'cm'),
    ('I need a gap of 8 cm or more there', 8, 'cm'),
    ('机器转着的时候,两米之内不要靠近', 2, 'm'),
    ('冷却起码要等三分钟才能开门', 3, 'min'),
    ('每桶装够20千克', 20, 'kg'),
    ('Do not close the fingers tighter than 9 mm', 9, 'mm'),
    ('At least 0.5 m from people', 0.5, 'm'),
    ('Force must not be less than 3 N', 3, 'N'),
    ('Never go closer than half a metre', 0.5, 'm'),
    ('速度至少0.2米/秒', 0.2, 'm/s'),
    ('不得低于5牛', 5, 'N'),
    ('保持5牛以上', 5, 'N'),
    ('Never come within 10 cm of the marker', 10, 'cm'),
    ('Get no nearer to the glass than 15 cm', 15, 'cm'),
    ('Anything under 40 kPa of suction is a no-go', 40, 'kPa'),
    ('Half a metre is the closest you may come', 0.5, 'm'),
    ('空地不足一米五就算违规', 1.5, 'm'),
    ('不要靠近边缘三十厘米以内', 30, 'cm'),
]


@pytest.mark.parametrize(('text', 'most', 'unit'), UPPER)
def test_an_amount_that_must_not_be_passed_is_an_upper_limit(
    text: str, most: float, unit: str
) -> None:
    (limit,) = read_limits(text)
    assert (limit.low, limit.high, limit.unit) == (None, most, unit)


@pytest.mark.parametrize(('text', 'least', 'unit'), LOWER)
def test_an_amount_that_must_be_reached_is_a_lower_limit(
    text: str, least: float, unit: str
) -> None:
    (limit,) = read_limits(text)
    assert (limit.low, limit.high, limit.unit) == (least, None, unit)


@pytest.mark.parametrize('text', ['Use 5 to 10 N', 'between 5 and 10 N', '用5到10牛'])
def test_two_figures_are_bounds_on_both_sides(text: str) -> None:
    (limit,) = read_limits(text)
    assert (limit.low, limit.high, limit.unit) == (5, 10, 'N')


@pytest.mark.parametrize(
    ('text', 'least', 'most', 'unit'),
    [
        ('Clamp it with at least 40 but no more than 60 N', 40, 60, 'N'),
        ('Joint four may only turn from minus ninety to plus ninety degrees', -90, 90, 'deg'),
        ('气源压力应在0.4到0.6兆帕之间', 0.4, 0.6, 'MPa'),
        ('Use between two and four newtons', 2, 4, 'N'),
        ('Press the cap on with at least 6 N but not over 11.', 6, 11, 'N'),
        ('The bolts get no less than 3 and no more than 4 N m', 3, 4, 'N m'),
        ('涂胶的速度取每秒5到8毫米', 5, 8, 'mm/s'),
    ],
)
def test_figures_that_share_a_unit_are_bounds_on_both_sides(
    text: str, least: float, most: float, unit: str
) -> None:
    (limit,) = read_limits(text)
    assert (limit.low, limit.high, limit.unit) == (least, most, unit)


@pytest.mark.parametrize(
    ('text', 'most', 'counted'),
    [
        ('At most three attempts per screw', 3, 'attempts'),
        ('Do not retry the door code over ten times a day', 10, 'times'),
        ('盘子一摞不要多于六个', 6, '个'),
    ],
)
def test_what_is_counted_has_a_limit_without_a_unit(text: str, most: float, counted: str) -> None:
    (limit,) = read_limits(text)
    assert (limit.low, limit.high, limit.unit, limit.counted) == (None, most, '', counted)


@pytest.mark.parametrize(
    'text', ['The wheels slip at more than 0.5 m/s', 'Leave anything over 2 kg on the floor']
)
def test_what_is_more_is_no_lower_limit_unless_a_word_asks_for_it(text: str) -> None:
    assert all(limit.low is None for limit in read_limits(text))


def test_a_bound_that_is_said_once_holds_for_both_of_two_amounts() -> None:
    found = read_limits('use no more than 15 N or 0.2 m/s')
    assert [(one.high, one.unit) for one in found] == [(15, 'N'), (0.2, 'm/s')]


@pytest.mark.parametrize(
    'text', ['Grip glass with 5 N', 'keep while carrying glass the speed under 0.3 m/s']
)
def test_an_amount_of_which_no_word_tells_the_side_is_unclear(text: str) -> None:
    (limit,) = read_limits(text)
    assert limit.is_unclear


@pytest.mark.parametrize('text', ['Never enter the freezer', 'Ask Anna first', ''])
def test_a_rule_without_an_amount_limits_nothing(text: str) -> None:
    assert read_limits(text) == ()


@pytest.mark.parametrize(
    'text',
    [
        'Keep the pressure below 30 pounds per square inch',
        'at most 3 tons of thrust',
        '不超过500克力',
    ],
)
def test_a_force_or_pressure_is_no_limit_of_a_mass(text: str) -> None:
    assert not {limit.unit for limit in read_limits(text)} & {'g', 'kg', 'lb', 't'}
