"""Matching of names in running text: case and width do not count, word borders do."""

from __future__ import annotations

import re
import unicodedata

_PRONOUN_LIST = """
i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers
herself it its itself they them their theirs themselves themself this that these those who whom whose one ich
mich mir mein meine wir uns unser unsere du dich dir dein deine er ihn ihm sein seine seinen sie ihr ihre ihrem
ihren ihrer es ihnen dieser diese dieses der die das je moi mon ma mes nous notre nos tu te toi ton ta tes vous
votre vos il elle lui le la les ils elles leur leurs son sa ses eux celui celle ceux celles ce cet cette ces yo
mi conmigo nosotros nosotras nuestro nuestra tú ti usted ustedes él ella ello ellos ellas lo los las su sus suyo
suya este esta esto estos estas ese esa eso esos esas io mio mia noi nostro nostra lei loro egli essa essi esse
gli suo sua suoi sue questo questa questi queste quello quella eu meu minha nós nosso nossa você vocês ele ela
eles elas dele dela deles delas seu seus suas isso isto ik mij mijn wij ons onze jij jou jouw hij hem zijn zij
haar hun hen het deze dit dat ja mnie mój moja nas nasz on jego jemu nim ona jej ją nią ono oni im nimi ten to
ci ben beni benim biz bizim sen senin o onu onun onlar onların bu şu я меня мне мой моя мы нас наш он его ему им
нём нем она её ее ей ней оно они их ними этот эта это эти тот та те мене мені мій ми він його йому нього вона її
їй неї воно вони їх їм цей ця це ці той εγώ εμείς αυτός αυτή αυτό αυτοί αυτές αυτά του της τους אני אנחנו הוא
היא הם הן אותו אותה אותם שלו שלה שלהם זה זאת أنا نحن هو هي هم هن هما هذا هذه ذلك تلك
我 我们 他 她 它 他们 她们 它们 这 那 私 彼 彼女 彼ら それ これ あれ 나 우리 그 그녀 그들 वह वे यह ये उसका उसकी उनका
"""
_PRONOUNS = frozenset(_PRONOUN_LIST.split())


def folded(text: str) -> str:
    """NFKC and full case folding, so that two spellings of a name compare equal."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def is_pronoun(word: str) -> bool:
    """Whether a word stands for somebody or something named elsewhere."""
    return folded(word.strip()) in _PRONOUNS


def find_name(name: str, text: str) -> str | None:
    """The name as it stands in the text as whole words, or None.

    Case, width and the kind of white space do not count. A border is anything but a letter, mark or digit; scripts
    that are written without spaces have no borders.

    >>> find_name("widget co", "Their Widget  Co, again")
    'Widget  Co'
    """
    wanted = [re.escape(word) for word in folded(name).split()]
    if not wanted or folded(name).split()[0] not in folded(text):
        return None
    plain, places = _folded_with_places(text)
    for match in re.finditer(r"\s+".join(wanted), plain):
        start, end = match.span()
        if _border(plain, start) and _border(plain, end):
            return text[places[start][0] : places[end - 1][1]]
    return None


def _folded_with_places(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The folded text, and for each of its characters the part of `text` that it came from."""
    out: list[str] = []
    places: list[tuple[int, int]] = []
    for start, cluster in _clusters(text):
        plain = folded(cluster)
        out.append(plain)
        places.extend([(start, start + len(cluster))] * len(plain))
    return "".join(out), places


def _clusters(text: str) -> list[tuple[int, str]]:
    """Each character with the combining marks behind it."""
    found: list[tuple[int, str]] = []
    for i, char in enumerate(text):
        if found and unicodedata.combining(char):
            start, cluster = found[-1]
            found[-1] = (start, cluster + char)
        else:
            found.append((i, char))
    return found


def _border(text: str, at: int) -> bool:
    if at in (0, len(text)):
        return True
    before, after = text[at - 1], text[at]
    return not (_in_word(before) and _in_word(after)) or is_unspaced(before) or is_unspaced(after)


def _in_word(char: str) -> bool:
    return unicodedata.category(char)[0] in "LMN"


def is_unspaced(char: str) -> bool:
    """Whether a letter is of a script that is written without spaces between words."""
    name = unicodedata.name(char, "")
    return name.startswith(("CJK ", "HIRAGANA", "KATAKANA", "HANGUL", "THAI", "LAO", "KHMER", "MYANMAR"))
