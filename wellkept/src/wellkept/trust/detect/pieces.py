"""D11: a text that is harmless alone and an order together with what the same writer wrote before, or beside it."""

from __future__ import annotations

import re
from collections.abc import Sequence

LAST = 20
"""So many earlier pieces are joined."""
_TAIL = 4_000
"""So many characters of the end of each."""
_SHORT = 120
"""A piece of this length may be a part of a sentence though a full stop ends it."""

_COUNTED = re.compile(
    r"^[\s>*_#-]{0,8}(?:"
    r"(?:part|teil|parte|partie|deel|cz[eę]ść|часть|частина|bölüm|kısım|الجزء|جزء|חלק|भाग|step|fragment|section|note|comment"
    r"|piece|chunk|schritt|étape|paso|passo|шаг|крок|adım)[ \t]{0,3}(?:no\.?|nr\.?|#|№)?[ \t]{0,3}(?P<part>\d{1,3})"
    r"(?:[ \t]{0,3}(?:/|of|von|de|di|van|z|из|з)[ \t]{0,3}\d{1,3})?[ \t]{0,3}[:.)\-–—]*"
    r"|第(?P<han>\d{1,3})[部节節回章段][^\w]?|(?P<ko>\d{1,3})(?:부|편)[^\w]?"
    r"|[(\[]?(?P<number>\d{1,3})(?:[ \t]{0,3}(?:/|of)[ \t]{0,3}\d{1,3})?[.):\]][ \t]{0,3}"
    r"|(?:\.{3}|…)?(?:cont(?:inued|'?d|\.)|continued from (?:above|before))[ \t]{0,3}[:.)\-–—]*"
    r")[ \t]*",
    re.IGNORECASE,
)
_ORDINALS = (
    "one two three four five six first second third fourth fifth sixth firstly secondly thirdly finally last "
    "eins zwei drei vier fünf erstens zweitens drittens viertens fünftens letztens un une deux trois quatre "
    "cinq premièrement deuxièmement troisièmement enfin uno dos tres cuatro cinco primero segundo tercero "
    "cuarto quinto due tre quattro cinque primo secondo terzo quarto quinto um dois três quatro primeiro "
    "segundo terceiro quarto een twee drie vier vijf eerst tweede derde vierde raz dwa trzy cztery pierwsze "
    "drugie trzecie czwarte pierwszy drugi trzeci раз два три первое второе третье четвёртое четвертое первый "
    "второй третий перше друге третє четверте перший другий третій bir iki üç dört beş birinci ikinci üçüncü "
    "dördüncü أولا أولًا ثانيا ثانيًا ثالثا ثالثًا رابعا رابعًا الأول الثاني الثالث ראשון שני שלישי ראשית שנית "
    "שלישית एक दो तीन चार पहला दूसरा तीसरा पहले दूसरे तीसरे 第一 第二 第三 第四 其一 其二 其三 "
    "その一 その二 その三 その四 一つ目 二つ目 三つ目 "
    "첫째 둘째 셋째 넷째 "
).split()
"""How parts are counted in words, in the languages of the lexicon."""
_LABELLED = re.compile(
    r"(?:(?<=[\n.;!?।。>:\"|*-])|(?<=INFO )|^)[ \t]{0,4}(?:\w{1,12}[ \t])?"
    rf"(?:{'|'.join(sorted(_ORDINALS, key=len, reverse=True))})"
    r"[ \t]{0,3}[:：、,.)][ \t]*(?P<part>[^\n.!?।。\"|]{3,300})",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r"^\s*(?:\.{2,}|…)\s*|\s*(?:\.{2,}|…|-)\s*$")


def joined(text: str, earlier: Sequence[str]) -> list[tuple[str, int]]:
    """The pieces as one text, each with the place where the last one begins.

    They are read whole and, if parts are counted in them, these alone; with and without spaces between them.
    """
    pieces = (*(piece[-_TAIL:] for piece in earlier[-LAST:]), text)
    readings = [[_bare(piece) for piece in pieces]]
    labelled = [" ".join(one["part"].strip() for one in _LABELLED.finditer(piece)) for piece in pieces]
    if labelled[-1] and any(labelled[:-1]):
        readings.append(labelled)
    ways = []
    for *before, last in readings:
        for between in (" ", ""):
            start = "".join(piece + between for piece in before)
            ways.append((start + last, len(start)))
    return ways


def _bare(piece: str) -> str:
    """A piece without what counts it, and without the full stop of what may go on."""
    bare = _GOES_ON.sub("", _COUNTED.sub("", piece, count=1)).strip()
    return bare.rstrip(".,;:") if len(bare) <= _SHORT else bare
