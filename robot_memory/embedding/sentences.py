"""The built-in sentences that a model is measured and centred with, in English and Chinese."""

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

SAYINGS = (
    (
        'The treaty was signed in 1848 and ended the war between the two countries.',
        '条约于1848年签署，结束了两国之间的战争。',
    ),
    (
        'Photosynthesis turns sunlight, water and carbon dioxide into sugar.',
        '光合作用把阳光、水和二氧化碳变成糖。',
    ),
    (
        'She said, "I finally finished the marathon, my legs still hurt!"',
        '她说：“我终于跑完了马拉松，腿还在疼！”',
    ),
    ('The museum opens at ten and is closed on Mondays.', '博物馆十点开门，星期一闭馆。'),
    ('Push the green button twice, then wait for the beep.', '按两次绿色按钮，然后等提示音。'),
    (
        'My sister moved to Lisbon last spring and works in a bakery.',
        '我妹妹去年春天搬到里斯本，在一家面包店工作。',
    ),
    (
        'The river is 320 km long and flows into the northern sea.',
        '这条河长320公里，流入北方的海。',
    ),
    ('Take the red block and put it into the drawer.', '拿起红色积木，放进抽屉里。'),
    (
        'Inflation fell to 2.1 percent in the third quarter.',
        '第三季度通货膨胀率降到了百分之二点一。',
    ),
    ('The gripper closed with 14 N and the part did not slip.', '夹爪以14牛闭合，零件没有滑动。'),
    ('Please remember that the door code changed yesterday.', '请记住门的密码昨天改了。'),
    (
        'The team lost the final by three points in front of 60,000 people.',
        '球队在六万名观众面前以三分之差输掉了决赛。',
    ),
    ('A virus needs a living cell to multiply.', '病毒需要活细胞才能繁殖。'),
    ('Error 17: the drive of axis 3 reports an overload.', '错误17：第三轴驱动器报告过载。'),
    ('He asked whether we could meet for coffee on Friday.', '他问我们星期五能不能一起喝咖啡。'),
    (
        'The bridge was designed by an engineer from Vienna and rebuilt after the flood.',
        '这座桥由一位维也纳工程师设计，洪水后重建。',
    ),
    ('Turn the lever to the left to open the valve.', '把手柄向左转就能打开阀门。'),
    ('I love hiking because the forest calms me down.', '我喜欢徒步，因为森林让我平静。'),
    (
        'The camera sees a yellow object at the lower left of the picture.',
        '相机在画面左下方看到一个黄色物体。',
    ),
    (
        'The parliament has 240 members, elected every four years.',
        '议会有240名议员，每四年选举一次。',
    ),
    ('Boil the pasta for nine minutes and add salt at the end.', '面条煮九分钟，最后加盐。'),
    ('The package arrived on 4 June, two days late.', '包裹六月四日到达，晚了两天。'),
    ('Never leave the ladder against the glass.', '不要把梯子靠在玻璃上。'),
    ('Wow, that painting is great! Did you do it yourself?', '哇，这幅画真棒！是你自己画的吗？'),
    ('The library keeps old maps on the second floor.', '图书馆把旧地图放在二楼。'),
    ('Gravity pulls two masses towards each other.', '引力把两个物体互相拉近。'),
    (
        'The belt runs at 0.4 m/s and stops when the light barrier is broken.',
        '传送带以每秒0.4米运行，光栅被挡住时停止。',
    ),
    ('Many workers in the region were employed by the coal mines.', '该地区许多工人受雇于煤矿。'),
    (
        'We are planning a surprise party for our father next month.',
        '我们打算下个月给父亲办一个惊喜派对。',
    ),
    ('The elbow moved 1.2 rad in 3 s and came to rest.', '肘关节三秒内转动1.2弧度后停下。'),
    (
        'The company changed its name and moved its office to the capital.',
        '公司改了名，把办公室搬到了首都。',
    ),
    ('The keys are in the blue bowl next to the phone.', '钥匙在电话旁边的蓝色碗里。'),
    (
        'The café on the corner serves soup until three in the afternoon.',
        '街角的咖啡馆供应汤到下午三点。',
    ),
    (
        'A glacier is a slow river of ice that carves valleys.',
        '冰川是缓慢流动的冰河，会刻出山谷。',
    ),
    (
        '"I am so proud of you," Carla wrote, "you worked hard for this exam."',
        '卡拉写道：“我真为你骄傲，你为这次考试付出了很多。”',
    ),
    (
        'Press the pedal gently and let the wheel come back by itself.',
        '轻踩踏板，让方向盘自己回正。',
    ),
    (
        'The emperor moved his court to the south in the ninth century.',
        '皇帝在九世纪把朝廷迁到了南方。',
    ),
    (
        'Our flight was delayed, so we played cards at the airport.',
        '我们的航班延误了，于是在机场打牌。',
    ),
    ('Copper conducts electricity better than iron.', '铜的导电性比铁好。'),
    ('The neighbours complained about the noise of the pump at night.', '邻居抱怨水泵夜里太吵。'),
    (
        'Most voters in the city rejected the plan for a new stadium.',
        '该市多数选民否决了新体育场的计划。',
    ),
    ('Slide the glass door to the right and wait outside.', '把玻璃门向右推开，在外面等。'),
    ('The orchestra plays two concerts a week in winter.', '乐团冬天每周演出两场。'),
    (
        'Thanks for the photos, the little dog looks so happy in the snow!',
        '谢谢你的照片，小狗在雪地里看起来真开心！',
    ),
    (
        'The left motor got hot after twenty minutes and was switched off.',
        '左侧电机二十分钟后发热，已被关闭。',
    ),
    ('Children under six travel free of charge.', '六岁以下儿童免费乘车。'),
    (
        'Put the heavy parcels at the bottom and the light ones on top.',
        '重的包裹放在下面，轻的放在上面。',
    ),
    ('The law forbids smoking in public buildings.', '法律禁止在公共建筑内吸烟。'),
)
"""Sentences of many kinds (chat, news, logs, orders), each in both languages."""

ASKINGS = (
    ('When was the treaty signed?', '条约是哪一年签署的？'),
    ('What do plants need to make sugar?', '植物制造糖需要什么？'),
    ('How did the marathon go for her?', '她的马拉松跑得怎么样？'),
    ('On which day is the museum closed?', '博物馆星期几闭馆？'),
    ('How do I start the machine?', '怎么启动机器？'),
    ('Where does his sister live now?', '他妹妹现在住在哪里？'),
    ('How long is the river?', '这条河有多长？'),
    ('put the red block away', '把红色积木收起来'),
    ('What was the inflation rate?', '通货膨胀率是多少？'),
    ('What force does the part need?', '这个零件需要多大的力？'),
    ('Why does the code no longer work?', '密码为什么不能用了？'),
    ('Who won the final?', '谁赢了决赛？'),
    ('What does a virus need to multiply?', '病毒繁殖需要什么？'),
    ('Which axis had an overload?', '哪个轴过载了？'),
    ('What is planned for Friday?', '星期五有什么安排？'),
    ('Who designed the bridge?', '这座桥是谁设计的？'),
    ('In which direction does the lever turn?', '手柄往哪个方向转？'),
    ('What does he do to relax?', '他怎么放松？'),
    ('What did the camera see?', '相机看到了什么？'),
    ('How many members does the parliament have?', '议会有多少名议员？'),
    ('How long must it boil?', '要煮多久？'),
    ('When did the package arrive?', '包裹什么时候到的？'),
    ('What must not be put against the glass?', '什么不能靠在玻璃上？'),
    ('Who painted the picture?', '这幅画是谁画的？'),
    ('Where are the old maps?', '旧地图在哪里？'),
    ('What causes the two masses to move?', '是什么让两个物体移动？'),
    ('How fast is the belt?', '传送带有多快？'),
    ('Where did many people of the region work?', '该地区很多人在哪里工作？'),
    ('What are they planning for their father?', '他们为父亲准备了什么？'),
    ('How far did the elbow move?', '肘关节转了多少？'),
    ('What happened to the company?', '公司发生了什么变化？'),
    ('Has anyone seen my keys?', '有人看见我的钥匙吗？'),
    ('Until when is soup served?', '汤供应到几点？'),
    ('How do valleys form?', '山谷是怎么形成的？'),
    ('Why is Carla proud?', '卡拉为什么感到骄傲？'),
    ('How should the pedal be pressed?', '踏板应该怎么踩？'),
    ('Where did the emperor move his court?', '皇帝把朝廷迁到了哪里？'),
    ('What did we do during the delay?', '延误的时候我们做了什么？'),
    ('Which metal conducts better?', '哪种金属导电更好？'),
    ('Who complained about the noise?', '谁抱怨噪音？'),
    ('What did the voters think of the stadium?', '选民对体育场怎么看？'),
    ('open the glass door', '打开玻璃门'),
    ('How often does the orchestra play?', '乐团多久演出一次？'),
    ('What is in the photos?', '照片里有什么？'),
    ('Which motor was switched off, and why?', '哪个电机被关闭了，为什么？'),
    ('How much does a ticket for a child cost?', '儿童票多少钱？'),
    ('Where do the light parcels go?', '轻的包裹放在哪里？'),
    ('Is smoking allowed in the town hall?', '市政厅里可以吸烟吗？'),
)
"""Questions and requests of as many kinds, each in both languages."""
