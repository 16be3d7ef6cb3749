"""Words that say the opposite of each other: one put for the other speaks of another thing."""

from __future__ import annotations

from collections.abc import Sequence

Opcodes = Sequence[tuple[str, int, int, int, int]]
"""How one sequence becomes another, as `difflib.SequenceMatcher.get_opcodes` gives it."""
# Some are contrasts in duplicate_keys.py, too, which part no texts that name both sides: 'the left
# valve of the right tank', 'the right valve of the left tank'.
_ENGLISH = (
    'above/below after/before always/never big/small bigger/smaller bottom/top clean/dirty'
    ' clockwise/counterclockwise closed/opened cold/hot day/night down/up dry/wet early/late'
    ' earlier/later empty/full end/start ended/started entrance/exit everybody/nobody'
    ' everyone/nobody failed/passed failed/succeeded failure/success fast/slow faster/slower'
    ' fewer/more first/last front/rear back/front he/she heavier/lighter heavy/light her/his'
    ' herself/himself high/low higher/lower horizontal/vertical incoming/outgoing indoor/outdoor'
    ' inner/outer inside/outside into/out large/small larger/smaller left/right less/more'
    ' locked/unlocked long/short longer/shorter loose/tight loosened/tightened lowered/raised'
    ' few/many maximum/minimum new/old nobody/somebody nobody/someone none/all older/younger'
    ' over/under off/on pull/push pulled/pushed rough/smooth borrowed/lent bought/sold open/shut'
    ' closed/open lower/upper started/stopped starts/stops thick/thin thicker/thinner with/without'
    ' wider/narrower dad/mum dad/mom father/mother aunt/uncle brother/sister daughter/son'
    ' grandma/grandpa boy/girl boys/girls men/women dislikes/likes hates/likes hates/loves'
)
_CHINESE = (
    '前后 上下 左右 里外 内外 进出 高低 大小 开关 早晚 长短 新旧 男女 快慢 松紧 干湿 深浅'
    ' 头尾 多少 轻重 亮灭 满空 首末 入出 升降 推拉 软硬 冷热 正反 公母 姐弟 兄妹 爸妈 爷奶 他她'
)
_PAIRS = frozenset(
    frozenset(pair)
    for pair in (*(each.split('/') for each in _ENGLISH.split()), *_CHINESE.split())
)


def swaps_opposites(one: Sequence[str], other: Sequence[str], opcodes: Opcodes) -> bool:
    """
    Say whether in one place of two texts one has the opposite of what the other has.

    They are given as words, or as characters of Chinese, with what parts them. Where more than
    that one is another, or one of the two stands elsewhere, they may say the same: "the tray
    slants to the back", "its back is lower than its front".
    """
    return any(
        kind == 'replace' and b - a == d - c == 1 and frozenset((one[a], other[c])) in _PAIRS
        for kind, a, b, c, d in opcodes
    )
