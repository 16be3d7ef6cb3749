"""The language of a text, as far as models need to know it: English, Chinese, or another."""

from __future__ import annotations

from robot_memory.text.compiled_patterns import compile_pattern

_HAN = compile_pattern('[\u3400-\u9fff]')
_OTHER_SCRIPT = compile_pattern('[\u0370-\u1fff\u3040-\u30ff\uac00-\ud7af]')
_LATIN = compile_pattern('[A-Za-z\u00c0-\u024f]+')
_ENGLISH = frozenset(
    """
    the a an this that these those and or of to in on at for from with by is are was were be been
    has have had do does did can could will would should must may not no it its i you he she we
    they my your his her our their me him them who what where when which why how there here if
    than then as so all any some before after into near
    """.split()
)
_OTHERS = frozenset(
    """
    der das den dem des ein eine einen einem einer und oder ist sind wurde wird nicht kein keine
    mit für von vom zum zur auf aus bei im über unter nach wer wo wie wann warum welche welcher
    welches wieviel viele sich hat haben
    el los las una unos unas y del que qué por para con se cuál cuáles dónde quién cuándo cuánto
    cuántos cómo fue su más pero está están
    le les une du et est sont dans qui où quand pour sur pas avec au aux quel quelle quels combien
    il lo gli che di è nel nella della dei dove chi quando quanto perché sono
    o os um uma não onde quem do da dos das em ao
    het een van niet zijn wat waar wie hoe wanneer voor deze
    de la en un les es
    """.split()
) - {'do', 'in', 'on', 'was', 'so', 'as', 'an', 'o'}


def find_language(text: str) -> str:
    """
    Return 'en', 'zh', or '' for another language.

    A word of Chinese has one or two characters: it is Chinese where more than a fifth of the
    characters are. What is written in Latin letters is English unless words that only other
    languages have outnumber those of English, as they do in any sentence of theirs.
    """
    if 5 * len(_HAN.findall(text)) > len(text):
        return 'zh'
    if 5 * len(_OTHER_SCRIPT.findall(text)) > len(text):
        return ''
    words = [word.lower() for word in _LATIN.findall(text)]
    english = sum(word in _ENGLISH for word in words)
    others = sum(word in _OTHERS for word in words)
    marked = sum(not word.isascii() for word in words)
    if others > english or (marked and not english):
        return ''
    return 'en'
