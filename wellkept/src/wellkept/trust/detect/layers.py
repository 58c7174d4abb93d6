"""D8: the texts within a text: what is encoded, turned round or compressed in it, read for the other detectors."""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from unicodedata import is_normalized
from urllib.parse import unquote

from wellkept.trust.normal import flat

LEVELS = 3
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e01ef]"
)
LARGEST = 64 << 10
"""So many characters are decoded of one text, over all its layers."""
_SHORTEST = 12


@dataclass(frozen=True, slots=True)
class Layer:
    """A text found within another, and where its code stands in the outermost."""

    text: str
    start: int
    end: int
    encoded: bool = True


class TooMuch(Exception):
    """More is encoded in the text than is looked at."""


_Bytes = Callable[[str], bytes]


def _base64(run: str) -> bytes:
    bare = re.sub(r"\s+", "", run).rstrip("=").replace("-", "+").replace("_", "/")
    return base64.b64decode(bare[: len(bare) - (len(bare) % 4 == 1)] + "=" * (-len(bare) % 4))


def _base32(run: str) -> bytes:
    bare = run.rstrip("=")
    return base64.b32decode(bare + "=" * (-len(bare) % 8))


def _hex(run: str) -> bytes:
    return bytes.fromhex(re.sub(r"0x|\\x|[^0-9a-fA-F]", "", run))


def _binary(run: str) -> bytes:
    return bytes(int(octet, 2) for octet in re.findall("[01]{8}", run))


_CODES: tuple[tuple[re.Pattern[str], _Bytes], ...] = (
    (re.compile(r"(?<![01])[01]{8}(?:[ ,]?[01]{8}){5,}+(?![01])"), _binary),
    (re.compile(r"(?<![0-9A-Za-z])(?:(?:0x|\\x)?[0-9a-fA-F]{2}[ :,]?){12,}+(?![0-9A-Za-z])"), _hex),
    (re.compile(r"(?<![A-Za-z0-9+/=])[A-Z2-7]{24,}+={0,6}(?![A-Za-z0-9+/=])"), _base32),
    (
        re.compile(
            r"(?<![A-Za-z0-9+/=_-])(?:[A-Za-z0-9+/_-]{4}\r?\n?){4,}+[A-Za-z0-9+/_-]{0,3}={0,2}(?![A-Za-z0-9+/_-])"
        ),
        _base64,
    ),
)
"""What bytes look like in a text, and how they are read."""

_ESCAPES = re.compile(r"(?:\\u\{?[0-9a-fA-F]{2,6}\}?|\\x[0-9a-fA-F]{2})")
_ENTITIES = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,8});")
_PERCENT = re.compile(r"%[0-9a-fA-F]{2}")
_COMMON_ROT13 = re.compile(
    r"\b(?:gur|naq|lbh|lbhe|guvf|jvgu|sebz|nyy|abg|vf|gb|cyrnfr|zhfg|vtaber|fraq|nyjnlf|arire)\b", re.IGNORECASE
)
_COMMON_BACKWARDS = re.compile(
    r"\b(?:eht|dna|uoy|ruoy|siht|htiw|morf|lla|ton|esaelp|tsum|erongi|dnes|syawla|reven|suoiverp|resu|snoitcurtsni)\b",
    re.IGNORECASE,
)
_LEET_WORD = re.compile(r"(?<!\w)(?=[a-z0-9@$!]*[a-z])(?=[a-z@$!]*[0-9])[a-z0-9@$!]{3,20}(?!\w)", re.IGNORECASE)
_LEET = str.maketrans("013457@$!8", "oieastasib")
_SPELT = re.compile(r"(?<!\w)(?:\w[ .\-_*·]{1,3}){7,}+\w(?!\w)")
_TAGS = re.compile("[\U000e0020-\U000e007e]{4,}")
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}")
_OVERRIDE = re.compile("\u202e([^\u202c\u202e\n]{6,})")
_GLUE = re.compile(r"[\"']\s{0,3}\+\s{0,3}[\"']")
_FEW = 2
"""Words of a common language, read another way, that tell that the text is written that way."""
_SOME = 6


def _rot13(text: str) -> str | None:
    return codecs.encode(text, "rot13") if len(_COMMON_ROT13.findall(text)) >= _FEW else None


def _backwards(text: str) -> str | None:
    return text[::-1] if len(_COMMON_BACKWARDS.findall(text)) >= _FEW else None


def _leet(text: str) -> str | None:
    words = _LEET_WORD.findall(text)
    return _LEET_WORD.sub(lambda word: word[0].lower().translate(_LEET), text) if len(words) >= _FEW else None


def _spelt(text: str) -> str | None:
    def joined(run: re.Match[str]) -> str:
        apart = re.split(r"[ .\-_*·]{2,3}", run[0])
        return " ".join(re.sub(r"[ .\-_*·]", "", word) for word in apart)

    read, count = _SPELT.subn(joined, text)
    return read if count else None


def _unescaped(text: str) -> str | None:
    def letter(code: re.Match[str]) -> str:
        number = int(re.sub(r"[\\ux{}]", "", code[0]), 16)
        return chr(number) if number < 0x110000 else code[0]

    read, count = _ESCAPES.subn(letter, text)
    return read if count >= _SOME else None


def _entities(text: str) -> str | None:
    read, count = _ENTITIES.subn(lambda entity: html.unescape(entity[0]), text)
    return read if count >= _FEW and read != text else None


def _percent(text: str) -> str | None:
    return unquote(text, errors="replace") if len(_PERCENT.findall(text)) >= _FEW else None


def _tags(text: str) -> str | None:
    return " ".join("".join(chr(ord(tag) - 0xE0000) for tag in run[0]) for run in _TAGS.finditer(text)) or None


def _selectors(text: str) -> str | None:
    def octet(selector: str) -> int:
        at = ord(selector)
        return at - 0xFE00 if at < 0xE0100 else at - 0xE0100 + 16

    read = [bytes(map(octet, run[0])).decode("utf-8", "replace") for run in _SELECTORS.finditer(text)]
    return " ".join(read) or None


def _turned(text: str) -> str | None:
    return " ".join(run[1][::-1] for run in _OVERRIDE.finditer(text)) or None


def _glued(text: str) -> str | None:
    read, count = _GLUE.subn("", text)
    return read if count >= _FEW else None


_WHOLE: tuple[tuple[re.Pattern[str], Callable[[str], str | None]], ...] = (
    (re.compile(r"\\[ux]"), _unescaped),
    (re.compile("&[#A-Za-z]"), _entities),
    (re.compile("%[0-9a-fA-F]{2}"), _percent),
    (_COMMON_ROT13, _rot13),
    (_COMMON_BACKWARDS, _backwards),
    (re.compile(r"[A-Za-z][0-9@$!][A-Za-z]|\b[0-9@$!][A-Za-z]"), _leet),
    (re.compile(r"(?<!\w)\w[ .\-_*·]{1,3}\w[ .\-_*·]{1,3}\w[ .\-_*·]{1,3}\w(?!\w)"), _spelt),
    (re.compile("[\U000e0020-\U000e007e]{4}"), _tags),
    (re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4}"), _selectors),
    (re.compile("\u202e"), _turned),
    (_GLUE, _glued),
)
"""What tells cheaply that a whole text may be written another way, and how it reads then (None: it is not)."""


def layers(text: str) -> Iterator[Layer]:
    """The plain form of the text where that has other words, and what is encoded in it, to three levels.

    TooMuch once more than LARGEST characters were decoded: the rest was not looked at.
    """
    if not is_normalized("NFKC", text) or _UNSEEN.search(text):
        yield Layer(flat(text), 0, len(text), encoded=False)
    left = LARGEST
    level = [Layer(text, 0, len(text))]
    for _ in range(LEVELS):
        found: list[Layer] = []
        for outer in level:
            outermost = outer.text is text
            for inner in _within(outer.text):
                if len(inner.text) > left:
                    raise TooMuch
                left -= len(inner.text)
                place = (inner.start, inner.end) if outermost else (outer.start, outer.end)
                layer = Layer(inner.text, *place)
                found.append(layer)
                yield layer
        level = found


def _within(text: str) -> Iterator[Layer]:
    """The readable texts one level within this one."""
    for pattern, read in _CODES:
        for run in pattern.finditer(text):
            try:
                content = read(run[0])
            except (ValueError, binascii.Error):
                continue
            inner = _readable(content)
            if inner is not None:
                yield Layer(inner, *run.span())
    for sign, other in _WHOLE:
        if sign.search(text):
            reading = other(text)
            if reading is not None and reading != text:
                yield Layer(reading, 0, len(text))


def _readable(content: bytes) -> str | None:
    """The bytes as a text, unpacked if they are compressed; None if they are none."""
    if content[:2] == b"\x1f\x8b" or content[:1] == b"\x78":
        unpacking = zlib.decompressobj(wbits=47)
        try:
            content = unpacking.decompress(content, LARGEST + 1)
        except zlib.error:
            return None
    if len(content) < _SHORTEST:
        return None
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        try:
            text = content.decode("utf-16-le" if not content[1] else "utf-16")
        except UnicodeDecodeError:
            return None
    shown = sum(letter.isprintable() or letter in "\n\r\t" for letter in text)
    letters = sum(letter.isalpha() for letter in text)
    return text if shown >= 0.95 * len(text) and letters >= 0.5 * len(text) else None
