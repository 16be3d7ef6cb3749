"""The built-in sentences that a model is measured with: English and Chinese, of robots."""

from __future__ import annotations

ENGLISH = (
    'The lidar sees glass walls poorly',
    'Anna likes her coffee without sugar',
    'Dock 3 is next to the elevator',
    'Gripper fingers were replaced last week',
    'Rain stopped the outdoor patrol',
    'The map of the second floor is out of date',
    'Shelf B holds spare batteries',
    'People walk here mostly at noon',
    'The wheel encoder drifts on carpet',
    'A child asked the robot to dance',
    'Solder joints must cool for a minute',
    'The alarm code is kept in the office',
)
"""Sentences that have nothing to do with each other."""

CHINESE = (
    '激光雷达看不清玻璃墙',
    '安娜喝咖啡不加糖',
    '三号充电桩在电梯旁边',
    '夹爪的手指上周换过了',
    '下雨中断了室外巡逻',
    '二楼的地图已经过时',
    '备用电池放在B货架',
    '中午这里行人最多',
    '轮式编码器在地毯上会漂移',
    '一个孩子让机器人跳舞',
    '焊点要冷却一分钟',
    '报警密码保存在办公室',
)
"""The same sentences in Chinese, line by line."""

PARAPHRASES = (
    ('The red cup needs 12 N of grip force', 'For the red cup a grip force of 12 N is needed'),
    ('The kitchen door was closed', 'The door of the kitchen was shut'),
    ('Drive slowly on the wet floor', 'Move at low speed when the floor is wet'),
    ('The battery ran out during the delivery', 'During the delivery the battery went empty'),
    ('Charging takes about two hours', 'It takes around two hours to charge'),
    (
        'The box goes on the left side, the operator prefers it',
        'The operator prefers the box left',
    ),
    ('红色杯子需要12牛的抓力', '抓取红色杯子需要12牛的力'),
    ('厨房的门是关着的', '厨房门已经关上了'),
    ('地面湿滑时要慢速行驶', '地面湿的时候应该低速移动'),
    ('充电大约需要两个小时', '充满电大概要两小时'),
    ('送货途中电池没电了', '电池在送货的路上耗尽了'),
    ('操作员喜欢把箱子放在左边', '箱子要放在左侧，操作员喜欢这样'),
)
"""Pairs that say the same in other words."""

QUESTIONS = (
    'Which sensor has trouble with windows?',
    'How does she take a hot drink?',
    'Where can I recharge?',
    'What was repaired on the hand?',
    'Why did the round outside end early?',
    'Which floor plan is old?',
    '哪种传感器怕窗户',
    '她的饮料要加什么',
    '在哪里可以给机器人充电',
    '机械手最近修了什么',
    '为什么户外的巡检提前结束',
    '哪一层的平面图是旧的',
)
"""Questions to the first half of ENGLISH and of CHINESE, mostly without the answer's words."""
