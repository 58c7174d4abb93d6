"""Text without what must not be kept: mail addresses, telephone numbers and shapes of keys.

It goes by shape alone, so it takes a harmless number or hash now and then, and a secret that looks like a word stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

MARK = "[scrubbed {}]"
"""What stands where something was taken out: the kind is mail, phone or key."""

_LONG_RUN = 32
_PHONE_DIGITS = range(7, 31)
"""A telephone number has 15 at most; those of cards and accounts have more."""
_DATE = re.compile(r"(?:(?:19|20)\d\d[-./]\d\d?[-./]\d\d?|\d\d?[-./]\d\d?[-./](?:19|20)\d\d)(?!\d)")
_KEPT_ELSEWHERE = re.compile(
    r"(?:process\.|import\.meta\.)?env\.[A-Za-z_]\w*[.)]?|os\.environ\[?|os\.getenv\(?|\$[A-Z_][A-Z0-9_]*|\$\{[A-Z_][A-Z0-9_]*\}"
)
_SAID_OF_SECRETS = frozenset(
    "a about absent actually already also always an asked at available being blank broken by cached case- "
    "sensitive changed checked coming configured correct different empty encrypted expired expiring fine for from "
    "generated gone good hard-coded hashed here hidden ignored in incorrect invalid invalidated just kept leaked "
    "long lost masked mentioned mine missing needed never new no not now null off ok okay old on only optional "
    "outdated passed printed read refreshed rejected renewed required reset revoked right rotated safe saved sent "
    "set short shown still stale stored that the there too under undefined unknown unset unused used useless "
    "valid visible weak what where wrong yours".split()
)
"""What people say of a password or key without telling it: "the token is expired"."""
_YEAR = re.compile(r"(?:19|20)\d\d\Z")


def without_keys(text: str) -> str:
    """The text with a mark in place of each key whose shape is certain; addresses, numbers and hashes stay, and of
    what is called a password or secret all that holds no digit: "the secret is patience".

    >>> without_keys("ada@example.test pushed 3f2a with ghp_abcdefghijklmnopqrstuvwxyz")
    'ada@example.test pushed 3f2a with [scrubbed key]'
    """
    for pattern, replacement in _CERTAIN:
        text = pattern.sub(replacement, text)
    return text


def scrub(text: str) -> str:
    """The text with a mark in place of each mail address, telephone number and key; scrubbing twice changes nothing.

    >>> scrub("ask ada@example.test or +44 20 7946 0000 about sk-abcdefghij0123456789")
    'ask [scrubbed mail] or [scrubbed phone] about [scrubbed key]'
    """
    for pattern, replacement in _TABLE:
        text = pattern.sub(replacement, text)
    return text


def _whole(kind: str) -> Callable[[re.Match[str]], str]:
    return lambda found: MARK.format(kind)


def _named_value(found: re.Match[str]) -> str:
    """The name stays and the value goes, unless it is a mark already or only says where the value is kept."""
    told = found[1].rstrip().endswith("is") and found[2].strip("\"'.,!?)").lower() in _SAID_OF_SECRETS
    harmless = told or found[2].startswith(MARK[:9]) or _KEPT_ELSEWHERE.fullmatch(found[2])
    return found[0] if harmless else found[1] + MARK.format("key")


def _named_with_digit(found: re.Match[str]) -> str:
    return _named_value(found) if any(char.isdigit() for char in found[2]) else found[0]


def _random_looking(found: re.Match[str]) -> str:
    """A long run is a key when letters and digits mix as they do in none of our words."""
    run = found[0]
    mixed = any(char.isdigit() for char in run) and any(char.isalpha() for char in run)
    both_cases = run != run.lower() and run != run.upper()
    return MARK.format("key") if mixed and (both_cases or run.isalnum()) else run


def _telephone(found: re.Match[str]) -> str:
    """Digits in groups are a telephone number unless there are too few or too many, or they are dates or years."""
    number = found[0]
    groups = re.findall(r"\d+", number)
    digits = sum(map(len, groups))
    told = number[0] in "+＋(" or digits >= 9 or (digits == 7 and len(groups) == 2)
    date = _DATE.match(number) or all(_YEAR.match(group) for group in groups)
    return MARK.format("phone") if told and digits in _PHONE_DIGITS and not date else number


KEYS: Mapping[str, str] = {
    "private key": r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]{0,60}-----|\Z)",
    "web token": r"\beyJ[\w-]{8,}+\.[\w-]{8,}+(?:\.[\w-]*+)?",
    "OpenAI, Anthropic": r"\bsk-[\w-]{16,}+",
    "Stripe": r"\b[prs]k_(?:live|test)_\w{10,}+",
    "AWS": r"\b(?:AKIA|ASIA|AGPA|AIDA|AROA|ANPA)[0-9A-Z]{16}\b",
    "GitHub": r"\b(?:gh[oprsu]_\w{20,}+|github_pat_\w{20,}+)",
    "GitLab": r"\bgl[a-z]{2,5}-[\w-]{16,}+",
    "Slack": r"\bxox[a-z]-[\w-]{8,}+|\bxapp-[\w-]{8,}+",
    "Google": r"\bAIza[\w-]{30,}+|\bya29\.[\w-]{16,}+",
    "Hugging Face": r"\bhf_\w{20,}+",
    "package registries": r"\bnpm_\w{20,}+|\bpypi-[\w-]{16,}+",
    "SendGrid": r"\bSG\.[\w-]{16,}+\.[\w-]{16,}+",
    "in a header": r"(?i:\b(?:bearer|basic)[ \t]{1,4})(?=\S*\d)[\w.~+/=-]{12,}+",
}
"""Shapes of keys by who gives them out."""

_Shapes = tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...]
_SHAPED: _Shapes = (
    *((re.compile(shape, re.DOTALL), _whole("key")) for shape in KEYS.values()),
    (re.compile(r"(?<=://)[^\s/@:\[\]]*+:[^\s/@\[\]]++(?=@)"), _whole("key")),
)
_NAMED = re.compile(
    r"(?i)((?<![a-z])(?:\w{0,40}[_-])?"
    r"(?:password|passwd|passphrase|pwd|secret|token|api[ _-]?key|access[ _-]?key)"
    r"[\"']?(?:[ \t]{0,4}[:=]|[ \t]{1,4}is[ \t])[ \t]{0,4})"
    r"(\[scrubbed|\"[^\"\n]{1,500}+\"|'[^'\n]{1,500}+'|[^\s\"',;]++)"
)
_CERTAIN: _Shapes = (*_SHAPED, (_NAMED, _named_with_digit))
_TABLE: _Shapes = (
    *_SHAPED,
    (_NAMED, _named_value),
    (re.compile(r"(?<![\w.!#$%&'*+/=?^`{|}~-])[\w.!#$%&'*+/=?^`{|}~-]++@[\w-]++(?:\.[\w-]++)++"), _whole("mail")),
    (re.compile(rf"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{{{_LONG_RUN},}}+={{0,2}}"), _random_looking),
    (re.compile(r"(?<![\w.-])(?:[+＋]|\()?\d++(?:[ \t ./()–-]{1,3}+\d++)*+(?![\w])"), _telephone),
)
"""In this order: what is taken out first can no longer be mistaken for something else."""
