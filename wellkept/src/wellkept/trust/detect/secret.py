"""D12: keys, passwords, numbers of cards and of persons, and the text with marks in their place.

Documented examples and what only looks random (identifiers, hashes) are spared.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from wellkept.scrub import KEYS
from wellkept.trust.detect.signs import Sign

MARK = "[secret:{}]"

_EXAMPLES = re.compile(
    r"example|sample|dummy|placeholder|your[_-]?|xxxx|\*\*\*\*|<[\w -]+>|redacted|changeme|fake|test[_-]?key|(.)\1{7}"
    r"|0123456789|1234567890|abcdefghij|deadbeef",
    re.IGNORECASE,
)
"""What stands in documentation in place of a key."""
_EXAMPLE_CARDS = frozenset(
    "4242424242424242 4111111111111111 4012888888881881 4000056655665556 5555555555554444 5105105105105100 "
    "2223003122003222 378282246310005 371449635398431 6011111111111117 "
    "6011000990139424 30569309025904 38520000023237 3530111333300000 "
    "3566002020360505 4222222222222 5200828282828210 4000000000000002 4000000000000077".split()
)
"""Numbers that payment providers print for trying things out; no account has them."""
_EXAMPLE_SSN = frozenset({"078051120", "219099999", "123456789", "111111111", "999999999"})
_EXAMPLE_HOSTS = re.compile(
    r"@(?:[\w.-]*\.)?(?:example\.(?:com|org|net)|localhost|127\.0\.0\.1|host|hostname|server)(?![\w.-])", re.IGNORECASE
)
_FILLER_LOGIN = re.compile(
    r"://(?:user|username|me|login)?:(?:pass|password|pw|secret|\*+|x+|<[^>]*>|\$\{?\w+\}?)@", re.IGNORECASE
)


def _luhn(digits: str) -> bool:
    doubled = (int(digit) * (1 + at % 2) for at, digit in enumerate(reversed(digits)))
    return sum(value - 9 * (value > 9) for value in doubled) % 10 == 0


def _only_digits(text: str) -> str:
    return re.sub(r"\D", "", text)


def _card(found: re.Match[str]) -> bool:
    digits = _only_digits(found[0])
    return 13 <= len(digits) <= 19 and digits not in _EXAMPLE_CARDS and len(set(digits)) > 2 and _luhn(digits)


def _key(found: re.Match[str]) -> bool:
    """A key holds digits, and letters that nobody would read out."""
    wordlike = re.fullmatch(r"[a-z]+(?:-(?:[a-z]+|\d{1,4}))+", found[0])
    return any(char.isdigit() for char in found[0]) and not wordlike and not _EXAMPLES.search(found[0])


def _login(found: re.Match[str]) -> bool:
    around = found.string[max(0, found.start() - 3) : found.end() + 60]
    return not (_FILLER_LOGIN.search(around) or _EXAMPLE_HOSTS.search(around))


def _us_number(found: re.Match[str]) -> bool:
    digits = _only_digits(found[0])
    area, group, serial = digits[:3], digits[3:5], digits[5:]
    return (
        area not in ("000", "666")
        and area < "900"
        and group != "00"
        and serial != "0000"
        and digits not in _EXAMPLE_SSN
    )


def _iban(found: re.Match[str]) -> bool:
    bare = found[0].replace(" ", "").upper()
    if bare in _EXAMPLE_IBANS:
        return False
    turned = bare[4:] + bare[:4]
    return int("".join(str(int(letter, 36)) for letter in turned)) % 97 == 1


_EXAMPLE_IBANS = frozenset(
    {"DE89370400440532013000", "GB82WEST12345698765432", "GB29NWBK60161331926819", "FR1420041010050500013M02606"}
)


def _italian(found: re.Match[str]) -> bool:
    code = found[0].upper()
    odd = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)
    values = [ord(letter) - (48 if letter.isdigit() else 65) for letter in code[:15]]
    return chr(65 + sum(odd[v] if at % 2 == 0 else v for at, v in enumerate(values)) % 26) == code[15]


def _spanish(found: re.Match[str]) -> bool:
    number = found[0].upper().replace("-", "").translate(str.maketrans("XYZ", "012"))
    return number[:8] != "12345678" and "TRWAGMYFPDXBNJZSQVHLCKE"[int(number[:8]) % 23] == number[8]


def _brazilian(found: re.Match[str]) -> bool:
    digits = [int(digit) for digit in _only_digits(found[0])]
    if len(set(digits)) == 1:
        return False
    for length in (9, 10):
        total = sum(digit * (length + 1 - at) for at, digit in enumerate(digits[:length]))
        if (total * 10 % 11) % 10 != digits[length]:
            return False
    return True


def _chinese(found: re.Match[str]) -> bool:
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    total = sum(int(digit) * weight for digit, weight in zip(found[0], weights, strict=False))
    return "10X98765432"[total % 11] == found[0][-1].upper()


_Check = Callable[[re.Match[str]], bool]
_SHAPES: Mapping[str, tuple[str, _Check]] = {
    **{kind.split(",")[0].lower().replace(" ", "-"): (shape, _key) for kind, shape in KEYS.items()},
    "login": (r"(?<=://)[^\s/@:\[\]]{0,100}+:[^\s/@\[\]]{1,200}+(?=@)", _login),
    "card": (r"(?<![\w.+-])\d(?:[ -]?\d){12,18}(?![\w-]|\.\d)", _card),
    "us-number": (r"(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])", _us_number),
    "it-number": (r"\b[A-Z]{6}\d{2}[A-EHLMPR-T]\d{2}[A-Z]\d{3}[A-Z]\b", _italian),
    "es-number": (r"\b(?:\d{8}|[XYZ]\d{7})-?[A-HJ-NP-TV-Z]\b", _spanish),
    "br-number": (r"(?<![\w.-])\d{3}\.\d{3}\.\d{3}-\d{2}(?![\w-])", _brazilian),
    "cn-number": (
        r"(?<!\w)[1-9]\d{5}(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dXx](?!\w)",
        _chinese,
    ),
}
"""Shapes by kind, each with what tells it from an example or a mere number."""
_NEEDED: Mapping[str, tuple[str, ...]] = {
    "private-key": ("PRIVATE KEY",),
    "web-token": ("eyJ",),
    "openai": ("sk-",),
    "stripe": ("k_live_", "k_test_"),
    "aws": ("AKIA", "ASIA", "AGPA", "AIDA", "AROA", "ANPA"),
    "github": ("gho_", "ghp_", "ghr_", "ghs_", "ghu_", "github_pat_"),
    "gitlab": ("gl",),
    "slack": ("xox", "xapp-"),
    "google": ("AIza", "ya29."),
    "hugging-face": ("hf_",),
    "package-registries": ("npm_", "pypi-"),
    "sendgrid": ("SG.",),
    "in-a-header": ("earer", "asic", "EARER", "ASIC"),
    "login": ("://",),
}
"""What must stand in a text for a look to be worth while; of other kinds a digit."""
_COMPILED = tuple(
    (kind, _NEEDED.get(kind, ()), re.compile(shape, re.DOTALL), check) for kind, (shape, check) in _SHAPES.items()
)
_DIGITS = tuple(map(re.compile, (r"\d[\d .-]{7}", r"[XYZ]\d{7}", r"[A-Z]{6}\d\d")))


def _found(text: str) -> list[tuple[int, int, str]]:
    """Where the secrets stand, in order and apart: of two that overlap the first and longest counts."""
    digits = any(pattern.search(text) for pattern in _DIGITS)
    every = [
        (one.start(), -one.end(), kind)
        for kind, needed, pattern, check in _COMPILED
        if (any(part in text for part in needed) if needed else digits)
        for one in pattern.finditer(text)
        if check(one)
    ]
    apart: list[tuple[int, int, str]] = []
    for start, minus_end, kind in sorted(every):
        if not apart or start >= apart[-1][1]:
            apart.append((start, -minus_end, kind))
    return apart


def secrets(text: str) -> Iterator[Sign]:
    """Where keys, passwords and numbers of cards and persons stand."""
    return (Sign("D12", start, end) for start, end, _ in _found(text))


def without_secrets(text: str) -> str:
    """The text with a mark in place of each secret; masking twice changes nothing."""
    while found := _found(text):
        parts: list[str] = []
        done = 0
        for start, end, kind in found:
            parts += text[done:start], MARK.format(kind)
            done = end
        text = "".join([*parts, text[done:]])
    return text
