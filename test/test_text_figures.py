"""Numbers and times of day in figures: what is the same is written the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_memory.text.figures import write_common_units, write_figures
from robot_memory.text.tokenizer import fold


@pytest.mark.parametrize(
    ('text', 'figures'),
    [
        ('Hall B holds one thousand two hundred pallets', 'hall b holds 1200 pallets'),
        ('1,200 pallets', '1200 pallets'),
        ('twenty-five boxes', '25 boxes'),
        ('a hundred and five boxes', '105 boxes'),
        ("at eight o'clock", 'at 08:00'),
        ('at 6 pm', 'at 18:00'),
        ('at half past five in the afternoon', 'at 17:30'),
        ('at a quarter to six pm', 'at 17:45'),
        ('three quarters of a minute', '45 seconds'),
        ('half an hour', '30 minutes'),
        ('2 and a half metres', '2.5 metres'),
        ('desk no. 4', 'desk number 4'),
        ('一米一', '1.1米'),
        ('三分之一', '0.3333'),
        ('1/3', '0.3333'),
        ('百分之二', '2%'),
        ('两个半小时', '2.5个小时'),
        ('半小时', '0.5小时'),
        ('下午五点半', '17:30'),
        ('晚上8点', '20:00'),
        ('三斤', '1.5公斤'),
        ('0.5千瓦', '0.5 kw'),
        ('报警两回', '报警2次'),
        ('every two days', 'every 2 day'),
        ('every other week', 'every 2 week'),
        ('once a fortnight', 'once 2 week'),
        ('two dozen pupils', '24 pupils'),
        ('断了三个小时', '断了三小时'),
        ('an hour and a half', '1.5 hour'),
        ('open until noon', 'open until 12:00'),
        ('at midnight', 'at 00:00'),
        ('at 3 in the afternoon', 'at 15:00'),
        ('一刻钟', '15分钟'),
        ('零下5度', '-5度'),
    ],
)
def test_what_is_a_number_is_written_in_figures(text: str, figures: str) -> None:
    assert write_figures(fold(text)) == figures


@pytest.mark.parametrize(
    'text',
    [
        'one of them',
        '10:45:30',
        '24/7',
        '2/4',
        'from 5 to 6 boxes',
        '一点也不好',
        '有一点热',
        '25:70',
        'at 5.30 m',
    ],
)
def test_what_is_no_number_stays(text: str) -> None:
    assert write_figures(fold(text)) == fold(text)


@given(
    st.text(
        alphabet='零一二两三四五六七八九十百千万点半刻分之斤米个小时回0123456789./: pmaonehalf',
        max_size=30,
    )
)
def test_any_text_is_read(text: str) -> None:
    assert isinstance(write_common_units(write_figures(fold(text))), str)


@pytest.mark.parametrize(
    ('text', 'common'),
    [
        ('half a tonne of feed', '500 kg of feed'),
        ('1.2 tonnes at most', '1200 kg at most'),
        ('it opens at 7.30', 'it opens at 07:30'),
        ('the shop opens at 7.30 on Mondays', 'the shop opens at 07:30 on mondays'),
        ('it closes at 7.30 in the evening', 'it closes at 19:30'),
        ('一点五吨', '1500公斤'),
        ('一周三次', '7天三次'),
        ('at 20 to 8', 'at 07:40'),
        ('at 5 to 1', 'at 12:55'),
        ('重半吨', '重500公斤'),
        ('一桶是二十升', '一桶是20000毫升'),
        ('早一星期', '早7天'),
        ('两个礼拜', '14天'),
        ('半个月浇一次', '15天浇一次'),
        ('破了一打', '破了12个'),
        ('跑满一千里路', '跑满500公里路'),
        ('夜里两点', '夜里2点'),
        ('两吨半', '2500公斤'),
        ('三斤半', '1.75公斤'),
        ('十斤一袋', '5公斤一袋'),
        ('剩一半米饭', '剩一半米饭'),
    ],
)
def test_amounts_are_compared_in_common_units(text: str, common: str) -> None:
    assert write_common_units(write_figures(fold(text))) == common


@pytest.mark.parametrize(
    'text',
    [
        'tons of work',
        'at 7.30 bar',
        'pH stays at 7.40.',
        'store at 5 to 8 degrees',
        'runs at 10 to 12 bar',
        '一点五米以内',
        '四周没有障碍物',
        '旋转一周',
        '第十二周',
        '周三打卡',
        '周三升温',
        '货架3里',
        '七八点',
        'from 5 to 8',
        '星期一星期二',
        '第三周',
        '三周年',
        '一打开就响',
        '升到三号楼',
        '心里有数',
        '两点心意',
    ],
)
def test_what_is_no_amount_stays_as_it_is(text: str) -> None:
    assert write_common_units(write_figures(fold(text))) == write_figures(fold(text))
