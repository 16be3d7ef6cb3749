"""Tables of words: units, numbers, months, negations, irregular forms."""

UNITS = {
    'n': 'n newton newtons 牛 牛顿 н', 'kn': 'kn 千牛', 'nm': 'nm n·m n*m n.m 牛米 牛·米',
    'um': 'um μm micron microns 微米', 'mm': 'mm millimeter millimetre 毫米 мм',
    'cm': 'cm centimeter centimetre 厘米 см', 'm': 'm meter metre 米 м', 'km': 'km 公里 千米',
    'inch': 'inch inches 英寸', 'ms': 'ms msec millisecond 毫秒', 's': 's sec secs second 秒 秒钟',
    'min': 'min mins minute 分钟', 'h': 'h hr hrs hour 小时', 'day': 'day 天',
    'hz': 'hz hertz 赫 赫兹', 'khz': 'khz 千赫 千赫兹', 'mhz': 'mhz 兆赫 兆赫兹', 'fps': 'fps 帧',
    'ug': 'ug µg microgram 微克', 'mg': 'mg milligram 毫克', 'ml': 'ml milliliter millilitre 毫升',
    'l': 'l liter litre 升', 'week': 'week 周 星期', 'month': 'month 个月', 'mpa': 'mpa 兆帕',
    'kv': 'kv 千伏', 'mv': 'mv 毫伏', 'db': 'db decibel 分贝', 'jin': '斤',
    'g': 'g gram 克', 'kg': 'kg kilogram kilo 公斤 千克 кг', 'deg': '° deg degree 度',
    'degc': '°c celsius 摄氏度', 'rad': 'rad radian 弧度', '%': '% percent pct',
    'v': 'v volt 伏', 'ma': 'ma 毫安', 'amp': 'amp ampere 安', 'w': 'w watt 瓦',
    'kw': 'kw kilowatt 千瓦',
    'rpm': 'rpm 转', 'px': 'px pixel 像素', 'times': 'times 次', 'fold': '倍',
    'pa': 'pa pascal 帕', 'kpa': 'kpa 千帕', 'bar': 'bar 巴',
    'm/s': 'm/s mps 米/秒 米每秒', 'mm/s': 'mm/s 毫米/秒', 'cm/s': 'cm/s 厘米/秒',
    'm/s2': 'm/s2 m/s^2', 'rad/s': 'rad/s 弧度/秒', 'deg/s': '°/s deg/s 度/秒',
}  # fmt: skip
"""Units and their other names, as they stand in folded text."""

NUMBERS = {
    name: str(value)
    for value, name in enumerate(
        'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen '
        'fifteen sixteen seventeen eighteen nineteen'.split()
    )
}

MONTHS = tuple(
    'january february march april may june july august september october november december'.split()
)

NEGATIONS = frozenset(
    """
    not cannot never no nor none neither nothing nobody nowhere without
    nicht nichts nie niemals ohne weder kein keine keinen keinem keiner keines
    не нет ни нельзя никогда без
    """.split()
)
"""Words that say no, and no more."""

IRREGULAR = {
    form: forms.split()[0]
    for forms in """
    become became; begin began begun; bite bitten; blow blew blown; break broke broken
    bring brought; build built; burn burnt; buy bought; catch caught; choose chose chosen
    come came; dig dug; draw drew drawn; drink drank drunk; drive drove driven; eat ate eaten
    fall fell fallen; feed fed; feel felt; fight fought; find found; fly flew flown
    forget forgot forgotten; freeze froze frozen; get got gotten; give gave given; go went gone
    grow grew grown; hang hung; hear heard; hide hid hidden; hold held; keep kept
    know knew known; lead led; learn learnt; lend lent; lie lain; light lit; lose lost
    make made; mean meant; meet met; pay paid; ride rode ridden; ring rang rung; rise risen
    run ran; say said; see seen; sell sold; send sent; shake shook shaken; shine shone
    shoot shot; shrink shrank shrunk; sing sang sung; sink sank sunk; sit sat; sleep slept
    slide slid; speak spoke spoken; spend spent; spin spun; stand stood; steal stole stolen
    stick stuck; swim swam swum; swing swung; take took taken; teach taught; tear tore torn
    tell told; think thought; throw threw thrown; understand understood; wake woke woken
    wear wore worn; win won; write wrote written
    man men; woman women; child children; foot feet; tooth teeth; mouse mice; person people
    knife knives; shelf shelves; life; wife wives; leaf; half halves
    """.replace('\n', ';').split(';')
    if forms.strip()
    for form in forms.split()[1:]
}
"""Forms that a stemmer does not bring back, by the word; not 'left', 'saw', 'rose'."""
