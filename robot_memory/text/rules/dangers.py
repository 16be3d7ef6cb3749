"""What harms somebody: an allergy, an illness that forbids food, what somebody must not have."""

from __future__ import annotations

from robot_memory.text.caching import cache_texts
from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.rules.people import tells_of_person
from robot_memory.text.tokenizer import fold

_ENGLISH = (
    r'(?<!not )(?<!n.t )\ballerg(?:y|ies|ic)\b|\bintoleran(?:t|ce)\b|\bdiabetic\b|\bcoeliac\b'
    r"|\bceliac\b|\basthma(?:tic)?\b|\bepilep(?:sy|tic)\b|(?:can't|cannot|can not|may not|mustn't"
    r"|must not|shouldn't|should not|(?:isn't|not) allowed(?: to)?|never) (?:\w+ )?"
    r'(?:have|eat|drink|take|touch|get|be given)\b'
)
_CHINESE = (
    '(?<!不)过敏|不耐受|糖尿病|哮喘|癫痫'
    '|(?:不能|不可以|不许|不得|不准|忌|禁止|别)(?:再)?(?:吃|喝|碰|用|服|沾|超过|接触)'
)
_DANGER = compile_pattern(f'{_ENGLISH}|{_CHINESE}')
_DIET = compile_pattern(
    r"\b(?:can't|cannot|can not|mustn't|must not|isn't allowed|is not allowed"
    r"|(?:is|am|i'm|are) not to)(?: to)? (?:have|eat|drink|take|swallow)\b"
    r'|\b(?:is|am|are|are both|i.m|[a-z]+.s) (?:(?!not|never|no\b)\w+ )?'
    r'(?:vegan|vegetarian|diabetic|coeliac|celiac'
    r'|epileptic|asthmatic|pregnant|allergic|(?:lactose |gluten )?intolerant|blind|deaf'
    r'|immunocompromised|immune|paraly[sz]ed'
    r'|on (?:\w+ )?(?:warfarin|insulin|oxygen|dialysis|crutches|chemo\w*|blood thinners?'
    r'|a (?:\w+[- ])?diet)|in (?:dialysis|a wheelchair))\b'
    r'|\b(?:has|have|had|got|suffers? from|with) (?:an? |the )?(?:[\w-]+ ){0,2}'
    r'(?:allerg(?:y|ies)|intolerance|diabetes|dementia|alzheimer\S*|epilepsy|asthma|stroke'
    r'|pacemaker|heart attack|seizures?|migraines?|brittle bones|osteoporosis|insulin pump'
    r'|(?:heart|kidney|liver|lung|stomach|back|hip) '
    r'(?:condition|disease|failure|trouble|problem)s?)'
    r'|\ballergy is severe\b|\b(?:takes?|on) (?:\w+ )?(?:warfarin|blood thinners?|insulin)\b'
    r'|\b(?:chokes? easily|trouble swallowing|low[- ]salt diet)\b'
    '|(?:不能|不可以|不许|不得|不准)(?:再)?[吃喝]|[吃喝]不了|吃素|(?<!不)过敏|不耐受|癫痫|哮喘|糖尿病'
    '|心脏病|起搏器|高血压|肾病|痛风|怀孕|孕妇|华法林|抗凝|胰岛素|吸氧|透析|拐杖|轮椅|看不见|失明|瞎'
    '|听不见|聋|发烧|吞咽|呛|骨折|手术|中风|痴呆|失智|化疗'
)
"""What somebody must not have, or is: of whoever has a name or an occupation it tells a danger."""


_DENIED = compile_pattern(
    r'(?:\bnot|n.t|\bnever|\bno longer) (?:\w+ ){0,2}?'
    r'(?:allergic|intolerant|diabetic|coeliac|celiac|epileptic|asthmatic)\b'
    '|不(?:再|会)?(?:对[^，。]{1,6})?过敏'
)
_HAZARD = compile_pattern(
    r"(?:\b(?:is|are|gets?|looks?|feels?|has gone|have gone|became)|['’]s|['’]re)"
    r' (?:[\w-]+,? ){0,4}?'
    r'(?:rotten|slippery|icy|unstable|wobbly|razor[- ]sharp|scorching|scalding|red[- ]hot'
    r'|boiling hot|toxic|poisonous|flammable|corrosive|explosive|frayed|unsafe|dangerous'
    r'|sharp enough to cut|real enough to cut|collapsing|falling apart'
    r'|(?:about|going|likely) to (?:come down|fall|collapse|break|give way|tip|blow))\b'
    r'|\b(?:wobbles|electrocutes?)\b|\bsparks(?= *(?:[,.;!]|$|when|if))'
    r"|\b(?:won['’]?t|will not|can['’]?t|cannot|doesn['’]?t|does not) (?:hold|bear|carry|take)"
    r' (?:more than|over|your weight|the weight|any weight|much)\b'
    r'|\b(?:steps?|stairs?|rung|ladder|rail|railing|handrail|banister|handle|cover|grating|grate|lid'
    r'|guard|floorboards?|tiles?|manhole|trapdoor|hatch|shaft|pit)\b (?:[\w-]+ ){0,6}?'
    r'(?:is|are|came|has come) (?:[\w-]+ )?(?:loose|broken|missing|gone|open|cracked|wet)\b'
    r'|\b(?:bites|kicks|spits|stings|pecks)(?= *(?:[,.;!]|$|at|people|anyone|whoever|when|if))'
    '|烂了|快要?塌|要塌|塌了|打滑|漏电|带电|烫手|烫得很|很烫|不稳|晃得|松动|松了|裂了|有毒|易燃|腐蚀|割手|扎手'
    '|咬人|踢人|蜇人|啄人|会(?:咬|踢|蜇|吐口水|喷|爆)|(?:顶|最)多(?:只能)?[撑承]|[撑承]不住|冒火花'
)
"""How a thing is that harms who touches it, stands on it or loads it."""


def names_hazard(text: str) -> bool:
    """Say whether the words of a text tell of a thing or an animal that may harm who is at it."""
    return _HAZARD.search(fold(text)) is not None


def endangers(text: str) -> bool:
    """Say whether a text tells what may harm somebody, by its words; it need not be a rule."""
    return _DANGER.search(fold(text)) is not None


def denies_danger(text: str) -> bool:
    """Say whether a text tells that something does not harm somebody: "not allergic to nuts"."""
    return _DENIED.search(fold(text)) is not None


def names_danger(text: str) -> bool:
    """Say whether the words of a text tell of a danger, or of what somebody must not have."""
    return endangers(text) or restricts_person(text)


@cache_texts(4096)
def restricts_person(text: str) -> bool:
    """Say whether a text tells of somebody what he must not eat or drink, or an illness."""
    return _DIET.search(fold(text)) is not None and tells_of_person(text)
