"""What in a turn may name a page: every sighting of a word or phrase that is worth looking up.

The text is read once, left to right. Nothing here knows which pages exist; whether a sighting names one is told by
the look-up in `arms`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice, pairwise, product
from typing import Literal, NamedTuple
from unicodedata import normalize

import regex  # type: ignore[import-untyped]

from wellkept.inflection import spoken_base_forms
from wellkept.names import fold, norm, opening, slugify, with_umlauts
from wellkept.recall.glued import emoji_sightings, glued_sightings, hangul_forms
from wellkept.recall.sighting import Shape, Sighting
from wellkept.recall.words import Speech, is_noun, read_sections

EDGE_CHARS = 10_000
NAME_CHARS = 120
_SHORT_CHARS = 1_000
CODE_CHARS = 80
CODE_SIGHTINGS = 32
# Up to so many words in the text: words of a phrase, spellings of its edges. Long texts must cost no more per word.
_PHRASE_BOUNDS = ((80, 8, 6), (400, 5, 6), (1_200, 4, 3), (2 * EDGE_CHARS, 3, 2))
_CONJUNCTIONS = frozenset("and or и или і й та або i oraz lub ve veya ja tai és".split())
_PERSONS = frozenset({"person"})
_NAMED_AFTER_PLACES = _PERSONS | {"company", "org", "organization", "project", "team", "product"}
_JOURNEY_WORDS = 4
_PLURAL_VERBS = frozenset({"are", "were", "have"})
_RUN_WORDS = 4
_INFLECTED_WORDS = 3
_PLAIN_RUNS = 64
_ALWAYS_CAPITAL = frozenset({"i", "i'm", "i'd", "i'll", "i've"})
_SYMBOL_WORDS = 4
_SLASHES = ("/", "\\")
_QUOTES = tuple("\"'“”‘’„«»「」『』`")
_NAME_ENDINGS = "!?+#."
_APART = tuple(" \t\n\r,;:!?/\\()[]\"'&+=*|<>@#%")
"""What stays between two words in every key."""

_GLUED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー々〆〇ｰ"
_LETTER = rf"[[\p{{L}}\p{{M}}\p{{N}}_]--[{_GLUED}]]"
# A mark that is not seen begins no word, and no part of one: a quote before it is a quote.
_PART = rf"(?!\p{{Default_Ignorable_Code_Point}}){_LETTER}+"
_WORD = regex.compile(rf"(?V1){_PART}(?:['’ʼ´׳״.\-‐‑&·]{_PART})*")
_CAPITAL = regex.compile(r"[\p{Lu}\p{Lt}]")
_LOWER = regex.compile(r"(?V1)[\p{Ll}--\p{Georgian}]")
_UNCASED = regex.compile(r"(?V1)[\p{Lo}\p{Georgian}]")
_ANY_LETTER = regex.compile(r"\p{L}")
_HANGUL = regex.compile(r"\p{Hangul}")
_SAME_LINE = regex.compile(r"[^\S\r\n]+")
_SENTENCE_MARKS = frozenset('.!?:;\n\r•-(["“«„¿¡。！？：；「『（،؛؟')

_HANDLE = regex.compile(r"(?<![\p{L}\p{M}\p{N}_.@/\-])@([\p{L}\p{M}\p{N}_]{2,}(?:[.\-][\p{L}\p{N}_]+)*)")
_TICKED = regex.compile(rf"`([^`\n]{{1,{CODE_CHARS}}})`")
_CODE = regex.compile(
    r"(?:(?<![\p{L}\p{N}_./\\\-])|(?<=(?<!\S)(?:~|\.{1,2})/))(?:"
    r"[\p{L}\p{N}_.\-]{1,60}(?:/[\p{L}\p{N}_.\-]{1,60}){1,8}"
    r"|[\p{L}\p{N}]+(?:_[\p{L}\p{N}]+)+(?:\.[\p{L}\p{N}]+)*"
    r"|[\p{L}\p{N}]+(?:\.[\p{L}\p{N}_]+)+"
    r"|(?=\p{Lu}*\p{Ll})[\p{Lu}\p{Ll}][\p{Ll}\p{N}]*(?:\p{Lu}[\p{Ll}\p{N}]*)+"
    r"|\p{L}[\p{L}\p{N}]{0,20}(?:\+\+|\#)"
    r")(?![\p{L}\p{N}_/\\])"
)
_URL_HOST = regex.compile(r"(?<=\bhttps?://)[\p{L}\p{N}.\-]{1,100}", regex.IGNORECASE)
_URL_PATH = regex.compile(r"(?<=\bhttps?://[^\s/]{1,200})/\S*", regex.IGNORECASE)
_SYMBOL = regex.compile(r"[^\p{L}\p{M}\p{N}\s'’.\-‐‑&_]")
_SPACED = regex.compile(r"\S+")
_TRIMMED = ',.;:?!()[]{}"“”„«»…*_~'
_CAMEL = regex.compile(r"(?<=[\p{Ll}\p{N}])(?=\p{Lu})")
_OWNER = regex.compile(r"(?:\p{Lu}[\p{Ll}\p{N}]+){2,}(?=\.\p{Ll}|::)")
_SEPARATORS = regex.compile(r"[_.\-]+")
_INITIAL_AND_SURNAME = regex.compile(
    r"(?<![\p{L}\p{M}\p{N}.])(?P<initial>\p{Lu})\.(?:[ -]?\p{Lu}\.){0,2} ?"
    r"(?P<surname>\p{Lu}[\p{L}\p{M}'’-]*[\p{L}\p{M}])"
)
_FENCE_LANGUAGE = regex.compile(r"^([ \t]*(?:`{3,}|~{3,})[ \t]*)[\p{L}\p{N}+#.\-]+[ \t]*$", regex.MULTILINE)
_TELLING_STEM = regex.compile(r"\p{L}[\p{L}\p{N}]*(?:_|(?<=\p{Ll})\p{Lu})[\p{L}\p{N}_]*(?=\.\p{Ll}{1,5}\Z)")

_APOSTROPHE = regex.compile(r"['’ʼ´׳]")
_POSSESSIVE = regex.compile(r"(?:['’ʼ´]s|['’])$", regex.IGNORECASE)
_CASE_ENDING = regex.compile(r"^(.{2,}?)['’ʼ]\p{Ll}{1,7}$")
_HINDI_HONORIFIC = "जी"
_ARABIC_CLITICS = ("و", "ف", "ب", "ك", "ل", "ال", "وال", "فال", "بال", "كال", "لل", "ولل", "وب", "ول", "فل", "فب")
_HEBREW_CLITICS = ("ה", "ו", "ב", "ל", "מ", "כ", "ש", "וה", "וב", "ול", "ומ", "וש", "שה", "מה", "כש", "של")

# Long texts have very many: without keywords and defaults one is made in half the time.
_new = tuple.__new__
_BY_DEFAULT = tuple(Sighting._field_defaults.values())

Case = Literal["capital", "lower", "uncased", "number"]


class Word(NamedTuple):
    """A word of the text with its place. `run` numbers the stretch of capitalised words that it stands in."""

    start: int
    end: int
    text: str
    key: str
    case: Case
    opens: bool
    run: int


@dataclass(frozen=True, slots=True)
class Reading:
    """A text cut into words, and what its words mean. `telling` words are neither function words nor dates.

    `genitive` says that names may take an s without an apostrophe, as in German, `spells` that words are spelled out.
    """

    text: str
    words: tuple[Word, ...]
    speech: Speech
    runs: dict[int, tuple[int, int]]
    mids: frozenset[str]
    telling: tuple[bool, ...]
    genitive: bool
    spells: bool


def ends(text: str) -> str:
    """What is read of a text: of one over 20,000 characters only the first and last 10,000."""
    return text if len(text) <= 2 * EDGE_CHARS else f"{text[:EDGE_CHARS]}\n{text[-EDGE_CHARS:]}"


@dataclass(frozen=True, slots=True)
class Seen:
    """What a text may name, but for the phrases that begin with an ordinary word: those are very many.

    They are told by the place of that word. `starts` has their places by how the keys of names begin that any of them
    can be, `size` is how many phrases begin at such places at most.
    """

    found: tuple[Sighting, ...]
    starts: Mapping[str, Sequence[int]]
    size: int
    runs: _Runs

    def places(self, openings: frozenset[str] | None) -> tuple[int, ...]:
        """Where phrases begin that may be names that begin in these ways; all places with None."""
        begun = self.starts if openings is None else openings.intersection(self.starts)
        return tuple(sorted({place for opening in begun for place in self.starts[opening]}))

    def phrases(self, places: Iterable[int]) -> Iterator[Sighting]:
        """The phrases that begin at these places, any number of words long."""
        return _phrases(self.runs, places)


def sightings(text: str) -> tuple[Sighting, ...]:
    """Everything in the `ends` of a text that may name a page, in no order; a name may be sighted again and again.

    Never raises.
    """
    read = seen(text)
    return (*read.found, *read.phrases(read.places(None)))


def seen(text: str) -> Seen:
    """The `ends` of a text, read for what may name a page. Never raises."""
    return _latest(text) if len(text) <= _SHORT_CHARS else _seen(text)


def _seen(text: str) -> Seen:
    text = normalize("NFC", ends(text))
    if "://" in text:
        text = _URL_PATH.sub(_blank, text)
    if "```" in text or "~~~" in text:
        text = _FENCE_LANGUAGE.sub(_blank_language, text)
    reading = _read(text)
    runs = _runs(reading)
    starts, others = _starts(runs)
    found = [*_handles(text), *_code(reading), *_singles(reading), *_phrases(runs, others), *_symbol_phrases(text)]
    found += _with_initial(reading)
    found += [*glued_sightings(text), *emoji_sightings(text)]
    return Seen(tuple(found), starts, (len(reading.words) - len(others)) * (runs.longest - 1), runs)


# A turn that names nothing is read for its names again, to see whom it might speak of.
_latest = lru_cache(maxsize=16)(_seen)


def _blank(match: regex.Match[str]) -> str:
    return " " * len(match[0])


def _blank_language(match: regex.Match[str]) -> str:
    """The fence of a code block without the language after it, which nobody speaks of."""
    return str(match[1]).ljust(len(match[0]))


def _read(text: str) -> Reading:
    words: list[Word] = []
    runs: dict[int, tuple[int, int]] = {}
    known: dict[str, tuple[str, Case]] = {}
    run, before = 0, None
    for match in _WORD.finditer(text):
        word, start = match[0], match.start()
        if word not in known:
            known[word] = norm(word) if len(word) <= NAME_CHARS else "", _case(word)
        key, case = known[word]
        joined = before is not None and case == before.case == "capital" and _joins(text[before.end : start], before)
        if joined:
            runs[run] = runs[run][0], runs[run][1] + 1
        else:
            run += 1
            runs[run] = len(words), 1
        before = _new(Word, (start, match.end(), word, key, case, _opens_sentence(text, start), run))
        words.append(before)
    mids = frozenset(_bare(word.key) for word in words if word.case == "capital" and not word.opens)
    keys = [word.key for word in words]
    speech = Speech(keys)
    telling = speech.telling(keys)
    return Reading(
        text,
        tuple(words),
        speech,
        runs,
        mids,
        telling,
        speech.has_bare_genitive(),
        _is_spelling(keys),
    )


def _is_spelling(keys: Sequence[str]) -> bool:
    letters = read_sections("names.txt")["spelling"]
    return not letters.isdisjoint(keys) and any(
        all(key in letters for key in keys[at : at + 3]) for at in range(len(keys) - 2)
    )


@lru_cache(maxsize=16_384)
def _bare(key: str) -> str:
    return str(_POSSESSIVE.sub("", key))


@lru_cache(maxsize=16_384)
def _case(word: str) -> Case:
    first = _ANY_LETTER.search(word)
    if first is None:
        return "number"
    if _CAPITAL.match(first[0]):
        return "capital"
    return "lower" if _LOWER.match(first[0]) else "uncased"


def _joins(gap: str, before: Word) -> bool:
    """Whether a capitalised word after this gap goes on with the name: "J. Smith", "Dr. Smith"."""
    if gap.startswith(".") and (len(before.text) == 1 or before.key in read_sections("names.txt")["abbreviated"]):
        gap = gap[1:]
    return bool(_SAME_LINE.fullmatch(gap))


def _opens_sentence(text: str, start: int) -> bool:
    at = start - 1
    if at > 0 and text[at] == " " and text[at - 1].isalnum():
        return False
    while at >= 0 and text[at].isspace() and text[at] not in "\r\n":
        at -= 1
    return at < 0 or text[at] in _SENTENCE_MARKS


def _handles(text: str) -> Iterator[Sighting]:
    for match in _HANDLE.finditer(text):
        name = match[1]
        spoken = _SEPARATORS.sub(" ", name)
        for variant, query in enumerate(dict.fromkeys((name, spoken, _CAMEL.sub(" ", spoken)))):
            yield Sighting(name, norm(query), False, match.start(), match.end(), "handle", mid=True, variant=variant)


def _code(reading: Reading) -> Iterator[Sighting]:
    ticked = [(match.start(1), match[1]) for match in _TICKED.finditer(reading.text)]
    hosts = [(match.start(), match[0]) for match in _URL_HOST.finditer(reading.text)]
    shaped = [(match.start(), match[0]) for match in _CODE.finditer(reading.text) if len(match[0]) <= NAME_CHARS]
    found = sorted({*ticked, *hosts, *shaped})
    if len(found) > CODE_SIGHTINGS:
        found = found[: CODE_SIGHTINGS // 2] + found[-CODE_SIGHTINGS // 2 :]
    for start, name in found:
        for variant, query in enumerate(_code_forms(name)):
            speech = reading.speech
            general = speech.is_hard(query) or speech.is_soft(query) or speech.is_common(query)
            if len(query) > 1 and not query.isdigit() and not general:
                yield Sighting(name, query, False, start, start + len(name), "code", mid=True, variant=variant)


def _code_forms(name: str) -> Iterable[str]:
    """The name as written, its words set apart; of a path the file alone, of a member its class.

    "Anna/Bob" is no path to Bob. What stands before a file's ending is meant too if it has several words.
    """
    base = name.rpartition("/")[2]
    forms = [name, _CAMEL.sub(" ", name)]
    if "." in base or "_" in base or ("-" in base and base != name):
        forms += [base, _SEPARATORS.sub(" ", _CAMEL.sub(" ", base))]
    if stem := _TELLING_STEM.match(base):
        forms += [stem[0], _SEPARATORS.sub(" ", _CAMEL.sub(" ", stem[0]))]
    if base.endswith(".git"):
        forms.append(base.removesuffix(".git"))
    owner = _OWNER.match(name)
    if owner:
        forms += [owner[0], _CAMEL.sub(" ", owner[0])]
    return dict.fromkeys([*(norm(form) for form in forms), slugify(name)])


def _singles(reading: Reading) -> Iterator[Sighting]:
    spellings: dict[str, Sequence[_Spelling]] = {}
    for at, word in enumerate(reading.words):
        if not word.key or word.case == "number" or (word.start and reading.text[word.start - 1] == "@"):
            continue
        if word.case == "capital":
            yield from _capital_single(reading, at)
            continue
        if word.text not in spellings:
            spellings[word.text] = _spellings(reading, word)
        if spellings[word.text]:
            yield from _plain_single(reading, at, spellings[word.text])


_Spelling = tuple[str, str, int]
"""A form of a word, its key, and which of the forms it is."""


def _spellings(reading: Reading, word: Word) -> Sequence[_Spelling]:
    """How a word without a capital may be meant as a name, wherever in this text it stands."""
    speech = reading.speech
    if len(word.key) < (2 if word.case == "uncased" else 3) or speech.is_hard(word.key):
        return ()
    found = []
    for variant, form in enumerate(_forms(word.text, reading.genitive)):
        key = norm(form)
        if len(key) < 2 or key.isdigit() or speech.is_hard(key) or speech.is_soft(key):
            continue
        if not speech.is_common_somewhere(key):
            found.append((form, key, variant))
    return found


def _capital_single(reading: Reading, at: int) -> Iterator[Sighting]:
    word = reading.words[at]
    alone = _stands_alone(reading, at)
    if not alone and not _follows_opener(reading, at):
        return
    if _is_spelled(reading, at):
        return
    excludes = _namesakes(reading, at)
    forms = [*_forms(word.text, reading.genitive)]
    if _has_name_ending(reading.text, word):
        forms.append(reading.text[word.start : word.end + 1])
    literal = len(forms)
    for variant, form in enumerate([*forms, *_plain_forms(reading, at, at)]):
        key = norm(form)
        if len(key) < 2 or key.isdigit() or not _may_be_name(reading, at, key.rstrip(_NAME_ENDINGS)):
            continue
        yield Sighting(
            word.text if variant >= literal else form,
            key,
            False,
            word.start,
            word.end,
            "name",
            mid=_bare(word.key) in reading.mids,
            single=alone,
            variant=variant,
            inflected=variant >= literal,
            excludes=excludes,
        )


def _with_initial(reading: Reading) -> Iterator[Sighting]:
    """Surnames behind the initial of a first name: "J. Grantley", "J.R. Grantley"."""
    for match in _INITIAL_AND_SURNAME.finditer(reading.text):
        for variant, form in enumerate(_forms(match["surname"], reading.genitive)):
            initial = fold(match["initial"])
            yield Sighting(
                match.group(), norm(form), False, match.start(), match.end(), "name",
                mid=True, single=True, variant=variant, initial=initial,
            )  # fmt: skip


def _plain_forms(reading: Reading, at: int, first: int) -> Sequence[str]:
    """The names of which the word can be a case form, in a name that begins with the word `first`."""
    before = _key_before(reading, first)
    after_preposition = before in read_sections("names.txt")["preposition"]
    return spoken_base_forms(reading.words[at].text, reading.speech.likely, after_preposition=after_preposition)


def _namesakes(reading: Reading, at: int) -> frozenset[str]:
    """The types of page that a word cannot mean because it is a place's name here, as in "a weekend in Paris"."""
    general, words = read_sections("names.txt"), reading.words
    places = general["place"]
    if words[at].key not in places:
        return frozenset()
    before, earlier = _key_before(reading, at), _key_before(reading, at - 1)
    after, later = (words[place].key if place < len(words) else "" for place in (at + 1, at + 2))
    leads_on = after in general["direction"] and (later in places or later in general["place-only"])
    journey = any(word.key in general["travel"] for word in words[max(0, at - _JOURNEY_WORDS) : at])
    if leads_on or after in general["travel"] or (before in general["direction"] and journey):
        return _NAMED_AFTER_PLACES
    return _PERSONS if before in general["locative"] and earlier not in general["takes-in"] else frozenset()


def _is_spelled(reading: Reading, at: int) -> bool:
    """Whether the word stands for its letter: "alpha bravo charlie"."""
    return reading.spells and reading.words[at].key in read_sections("names.txt")["spelling"]


def _has_name_ending(text: str, word: Word) -> bool:
    return word.end < len(text) and text[word.end] in _NAME_ENDINGS


def _stands_alone(reading: Reading, at: int) -> bool:
    """Whether the words beside a capitalised one are no part of its name.

    "Ask Ida" is about Ida; "Ida Grantley", if no page is called so, is about somebody else, as "Ida Smith" is.
    """
    first, count = reading.runs[reading.words[at].run]
    if count > _RUN_WORDS:
        return not reading.speech.is_common(reading.words[at].key)
    before, after = reading.words[first:at], reading.words[at + 1 : first + count]
    if before and reading.speech.is_common(_bare(reading.words[at].key)) and reading.speech.describes(before[-1].key):
        return False
    return all(_is_apart(reading, word) for word in before) and not any(
        _goes_on(reading, reading.words[at], word) for word in after
    )


def _is_apart(reading: Reading, word: Word) -> bool:
    acronym = word.text.isupper() and 1 < len(word.text) <= _RUN_WORDS
    return acronym or word.key in read_sections("names.txt")["abbreviated"] or reading.speech.is_known(word.key)


def _goes_on(reading: Reading, name: Word, after: Word) -> bool:
    """Whether the capitalised word after a name makes another name of it, or a heading: "What Will They Do"."""
    speech, key = reading.speech, _bare(after.key)
    if key in read_sections("names.txt")["legal"]:
        return False
    if speech.is_common(_bare(name.key)):
        if speech.is_hard(key):
            return name.opens or key.replace("’", "'") not in _ALWAYS_CAPITAL
        if speech.is_common(key) and not speech.is_capitalised_noun(key):
            return True
    if key in read_sections("names.txt")["surname"]:
        return True
    return not (speech.is_known(key) or (after.text.isupper() and speech.is_done_by_people(key)))


def _follows_opener(reading: Reading, at: int) -> bool:
    """Whether the word is the last of two, the first having its capital from the sentence: "Nudge Ida".

    Ordinary words are left out, and so are surnames: the first word may be a first name after all.
    """
    first, count = reading.runs[reading.words[at].run]
    return (
        count == 2
        and at == first + 1
        and reading.words[first].opens
        and not reading.speech.is_known(_bare(reading.words[at].key))
    )


def _may_be_name(reading: Reading, at: int, key: str) -> bool:
    word, speech = reading.words[at], reading.speech
    if speech.is_hard(key) or (speech.is_honorific(key) and not _ends_run(reading, at)):
        return False
    mid = _bare(word.key) in reading.mids
    shouted = len(key) > 1 and word.text.isupper()
    ordinary = speech.is_common(key) or speech.is_soft(key)
    if ordinary and shouted:
        return False
    if speech.is_listed_noun(key):
        return speech.is_honorific(_key_before(reading, at)) or (word.opens and _is_spoken_of(reading, at))
    if speech.is_calendar(key):
        return mid and not _is_date(reading, at)
    if speech.is_soft(key):
        return mid
    return mid or not speech.is_doubtful_opener(key) or _is_spoken_of(reading, at)


def _ends_run(reading: Reading, at: int) -> bool:
    first, count = reading.runs[reading.words[at].run]
    return at == first + count - 1


def _key_before(reading: Reading, at: int) -> str:
    return reading.words[at - 1].key if at > 0 else ""


def _is_date(reading: Reading, at: int) -> bool:
    after = reading.words[at + 1].text if at + 1 < len(reading.words) else ""
    return reading.speech.leads_to_date(_key_before(reading, at)) or after[:1].isdigit()


def _is_spoken_of(reading: Reading, at: int) -> bool:
    """Whether an ordinary word that opens a sentence is talked about: "Rose called", not "Mark the place"."""
    word = reading.words[at]
    if _POSSESSIVE.search(word.text) or _CASE_ENDING.match(word.text):
        return True
    if reading.text[word.end : word.end + 1] == "?" and _is_plural(reading, word):
        return False
    if at + 1 == len(reading.words) or reading.text[word.end] in ",.?!:;)’'\"”»\n":
        return True
    after = reading.words[at + 1]
    if after.key in _CONJUNCTIONS and at + 2 < len(reading.words):
        other = reading.words[at + 2]
        return other.case == "capital" or reading.speech.is_hard(other.key)
    if after.case == "capital" or not reading.speech.is_said_of_people(after.key):
        return False
    return not (reading.speech.is_said_of_things(after.key) and _is_mass(reading, word, after))


def _is_plural(reading: Reading, word: Word) -> bool:
    """Whether the word is an ordinary noun in the plural: "Ideas?" asks for some, "Brooks?" for a person."""
    surname = word.key in read_sections("names.txt")["surname"]
    return word.key.endswith("s") and reading.speech.is_common(word.key[:-1]) and not surname


def _is_mass(reading: Reading, word: Word, after: Word) -> bool:
    return reading.speech.is_mass_noun(word.key) or (after.key in _PLURAL_VERBS and word.key.endswith("s"))


def _plain_single(reading: Reading, at: int, spellings: Iterable[_Spelling]) -> Iterator[Sighting]:
    word = reading.words[at]
    uncased = word.case == "uncased"
    if not uncased and (_touches_slash(reading.text, word) or _is_no_name_here(reading, at)):
        return
    shape: Shape = ("hangul" if _HANGUL.search(word.text) else "uncased") if uncased else "word"
    excludes = _namesakes(reading, at)
    if word.case == "lower" and _is_impersonal(reading, at):
        excludes |= _PERSONS
    for form, key, variant in spellings:
        yield Sighting(form, key, True, word.start, word.end, shape, single=True, variant=variant, excludes=excludes)


def _is_no_name_here(reading: Reading, at: int) -> bool:
    return _is_described(reading, at, at) or _is_spelled(reading, at)


def _is_described(reading: Reading, at: int, last: int) -> bool:
    """Whether an indefinite article makes a noun of the words, "a long night"; "a Ferrybase outage" has a name."""
    return reading.speech.is_indefinite_article(_key_before(reading, at)) and not _modifies(reading, last)


def _modifies(reading: Reading, at: int) -> bool:
    """Whether the word belongs to a noun right after it, as in "the mcallister deal"."""
    if at + 1 == len(reading.words):
        return False
    gap = reading.text[reading.words[at].end : reading.words[at + 1].start]
    return gap.isspace() and reading.telling[at + 1]


def _is_impersonal(reading: Reading, at: int) -> bool:
    """Whether a word in lower case is a verb after its subject, "she drew", or a noun: "the duke of", "two banks"."""
    before = _key_before(reading, at)
    if reading.words[at].key.endswith("s") and before in read_sections("names.txt")["numeral"]:
        return True
    if reading.speech.is_subject(before) or reading.speech.is_indefinite_article(before):
        return True
    return before == "the" and not _modifies(reading, at)


def _touches_slash(text: str, word: Word) -> bool:
    """Whether the word is a step of a path."""
    return text[max(0, word.start - 1) : word.start] in _SLASHES or text[word.end : word.end + 1] in _SLASHES


@lru_cache(maxsize=16_384)
def _forms(word: str, genitive: bool = False) -> Sequence[str]:
    """The word as written, and what is left without a possessive, an article, an ending or a clitic glued to it."""
    forms = [word]
    bare = _POSSESSIVE.sub("", word)
    if bare != word:
        forms = [bare, word]
    ending = _CASE_ENDING.match(bare)
    if ending:
        forms.append(ending[1])
    if genitive and bare == word and len(word) > 3 and word.endswith("s"):
        forms.append(word[:-1])
    head, mark, tail = _split_once(bare)
    if mark and norm(head) in read_sections("names.txt")["elision"] and len(tail) > 1:
        forms.append(tail)
    forms += _hyphen_forms(bare)
    if _UNCASED.search(word):
        forms += _unclitic(bare)
    return tuple(dict.fromkeys(form for form in forms if form))


def _split_once(word: str) -> tuple[str, str, str]:
    found = _APOSTROPHE.search(word)
    return (word[: found.start()], found[0], word[found.end() :]) if found else (word, "", "")


def _hyphen_forms(word: str) -> Iterator[str]:
    """The name in "Ida-related", "ida-web" or "Ida-Termin"; none in "Jean-Luc", which is one name."""
    head, _, tail = word.partition("-")
    if len(head) > 2 and tail and (_LOWER.match(tail) or tail[0].isdigit() or is_noun(norm(tail))):
        yield head
    left, dot, right = word.partition(".")
    if dot and len(left) > 2 and len(right) > 2 and _CAPITAL.match(right):
        yield left
        yield right


def _unclitic(word: str) -> list[str]:
    if _HANGUL.search(word):
        return list(hangul_forms(word))
    if word.endswith(_HINDI_HONORIFIC):
        return [word.removesuffix(_HINDI_HONORIFIC)]
    cut = [
        (clitic, word[len(clitic) :])
        for clitic in (*_ARABIC_CLITICS, *_HEBREW_CLITICS)
        if word.startswith(clitic) and len(word) - len(clitic) > 2
    ]
    return [form for clitic, left in cut for form in ((left, f"ال{left}") if clitic.endswith("لل") else (left,))]


@dataclass(frozen=True, slots=True)
class _Runs:
    """A text of which runs of up to `longest` words are read: what stands between its words, and their edges."""

    reading: Reading
    longest: int
    gaps: Sequence[str]
    edges: _Edges


def _runs(reading: Reading) -> _Runs:
    count = len(reading.words)
    longest, forms = next(bounds for most, *bounds in _PHRASE_BOUNDS if count <= most)
    gaps = [reading.text[before.end : after.start] for before, after in pairwise(reading.words)]
    return _Runs(reading, longest, gaps, _edges(reading, forms))


def _starts(runs: _Runs) -> tuple[Mapping[str, Sequence[int]], Sequence[int]]:
    """Where phrases begin, by the openings of their keys, and the other places: capitals, and what is not clear.

    A capital may begin a name in an inflected form. What follows the first word must leave its key as it is.
    """
    starts: dict[str, list[int]] = {}
    others = []
    for at, (word, gap) in enumerate(zip(runs.reading.words, runs.gaps, strict=False)):
        clear = word.case != "capital" and gap.lstrip(".")[:1] in _APART
        found = _openings(word.text, runs.edges.heads[at]) if clear else frozenset()
        if not found:
            others.append(at)
        for one in found:
            starts.setdefault(one, []).append(at)
    return starts, others


@lru_cache(maxsize=16_384)
def _openings(word: str, heads: Sequence[str]) -> frozenset[str]:
    """How the keys may begin of a name that begins with a word, or with a form of it; none where one is not clear."""
    keys = [norm(form) for form in (word, word.replace(".", ""), *heads, *_articles(norm(word)))]
    bare = [fold(key) for key in keys]
    found = frozenset(map(opening, (*keys, *bare, *(fold(with_umlauts(key)) for key in bare))))
    return frozenset() if "" in found else found


def _phrases(runs: _Runs, places: Iterable[int]) -> Iterator[Sighting]:
    """Runs of two words and more that begin at these places: names of several words, whatever their case."""
    reading, longest, gaps, edges = runs.reading, runs.longest, runs.gaps, runs.edges
    text, words, telling, count = reading.text, reading.words, reading.telling, len(reading.words)
    for at in places:
        first = words[at]
        tells, lower, key, plain = telling[at], first.case == "lower", first.key, edges.plain_heads[at]
        described = lower and reading.speech.is_indefinite_article(_key_before(reading, at))
        for last in range(at + 1, min(at + longest, count)):
            gap, word = gaps[last - 1], words[last]
            if (len(gap) > 3 and not gap.isspace()) or word.end - first.start > NAME_CHARS:
                break
            tells, lower = tells or telling[last], lower and word.case == "lower"
            key = f"{key} {word.key}" if key and gap == " " and word.key else ""
            plain = plain and "." not in word.text
            if not tells or (lower and _is_idle_talk(reading, at, last, described)):
                continue
            if plain and key and edges.plain_tails[last] and not first.case == word.case == "capital":
                shape: Shape = "uncased" if first.case == "uncased" else "phrase"
                surface = text[first.start : word.end]
                yield _new(Sighting, (surface, key, True, first.start, word.end, shape, *_BY_DEFAULT))
            else:
                yield from _phrase(reading, at, last, edges, key)


@dataclass(frozen=True, slots=True)
class _Edges:
    """The first `most` forms of each word of a text, as the first and as the last word of a phrase.

    A word is a plain head or tail if a phrase that begins or ends with it can only be read as it stands.
    """

    heads: tuple[Sequence[str], ...]
    tails: tuple[Sequence[str], ...]
    plain_heads: tuple[bool, ...]
    plain_tails: tuple[bool, ...]
    most: int


def _edges(reading: Reading, most: int) -> _Edges:
    heads = tuple(_edge_forms(word, True, False)[:most] for word in reading.words)
    tails = tuple(_edge_forms(word, False, reading.genitive)[:most] for word in reading.words)
    return _Edges(
        heads,
        tails,
        tuple(
            len(forms) == 1 and "." not in word.text and not _articles(word.key)
            for forms, word in zip(heads, reading.words, strict=True)
        ),
        tuple(
            len(forms) == 1 and not _has_name_ending(reading.text, word)
            for forms, word in zip(tails, reading.words, strict=True)
        ),
        most,
    )


def _phrase(reading: Reading, at: int, last: int, edges: _Edges, key: str) -> Iterator[Sighting]:
    """The sightings of one run of words, whose key as it stands is `key`, or "" where that is not known."""
    words = reading.words
    start, end = words[at].start, words[last].end
    strong = words[at].case == words[last].case == "capital" and _is_name_run(words[at : last + 1])
    shape: Shape = "name" if strong else "uncased" if words[at].case == "uncased" else "phrase"
    mid = strong and not words[at].opens
    surface = reading.text[start:end]
    for variant, form in enumerate(_phrase_forms(reading, at, last, edges)):
        if query := key if key and form == surface else norm(form):
            yield Sighting(form, query, not strong, start, end, shape, mid, False, variant)
    if strong and last - at < _INFLECTED_WORDS:
        for query in _plain_runs(reading, at, last):
            yield Sighting(surface, query, False, start, end, shape, mid, False, edges.most, True)


def _plain_runs(reading: Reading, at: int, last: int) -> Iterator[str]:
    """The keys of names of several words, each of which may carry a case ending."""
    case_at = [[*_plain_forms(reading, place, at), reading.words[place].key] for place in range(at, last + 1)]
    for parts in islice(product(*case_at), _PLAIN_RUNS):
        yield " ".join(parts)


def _is_idle_talk(reading: Reading, at: int, last: int, described: bool) -> bool:
    """Whether a phrase, all in lower case, only describes: "the duke of", "a long night", "how to win".

    `described` says that an indefinite article stands before it. "The studio" may be a name.
    """
    words, first = reading.words, reading.words[at].key
    idle = described and not _modifies(reading, last)
    if not idle and first == "the":
        idle = last + 1 < len(words) and words[last + 1].key == "of"
    if not idle and last - at > 1:
        told = reading.telling[at : last + 1]
        idle = (
            sum(told) == 1
            and reading.speech.is_hard(first)
            and reading.speech.is_common(words[at + told.index(True)].key)
        )
    return idle and not _is_quoted(reading, at, last)


def _is_quoted(reading: Reading, at: int, last: int) -> bool:
    start, end = reading.words[at].start, reading.words[last].end
    return reading.text[start - 1 : start] in _QUOTES and reading.text[end : end + 1] in _QUOTES


def _is_name_run(words: Sequence[Word]) -> bool:
    particles = read_sections("names.txt")["particle"]
    inner = [word for word in words if word.case != "capital"]
    ends = words[0].case == "capital" and words[-1].case == "capital"
    return ends and len(inner) <= 2 and all(word.key in particles for word in inner)


def _edge_forms(word: Word, leading: bool, genitive: bool) -> Sequence[str]:
    """A word at the edge of a phrase without what is glued to that edge: Korean endings follow a name only."""
    hangul = word.case == "uncased" and bool(_HANGUL.search(word.text))
    changes = genitive or word.case == "uncased" or (not word.text.isalnum() and _APOSTROPHE.search(word.text))
    return _forms(word.text, genitive) if changes and not (leading and hangul) else (word.text,)


def _phrase_forms(reading: Reading, at: int, last: int, edges: _Edges) -> Iterable[str]:
    text, first, final = reading.text, reading.words[at], reading.words[last]
    whole = text[first.start : final.end]
    ends = _has_name_ending(text, final)
    articles = _articles(first.key) if reading.words[at + 1].case == "capital" else ()
    heads, tails = edges.heads[at], edges.tails[last]
    if len(heads) == len(tails) == 1 and not ends and not articles and "." not in whole:
        return (whole,)
    middle = text[first.end : final.start]
    seen = dict.fromkeys(f"{head}{middle}{final.text}" for head in heads)
    seen.update(dict.fromkeys(f"{first.text}{middle}{tail}" for tail in tails))
    if "." in whole:
        seen[whole.replace(".", "")] = None
    if ends:
        seen[text[first.start : final.end + 1]] = None
    seen.update(dict.fromkeys(f"{article}{text[first.end : final.end]}" for article in articles))
    return seen


def _articles(contracted: str) -> Sequence[str]:
    """The articles inside a preposition: "du Moulin" is about "Le Moulin"."""
    return _contractions().get(contracted, ())


@cache
def _contractions() -> Mapping[str, Sequence[str]]:
    pairs = (line.partition(":") for line in read_sections("names.txt")["contracted"])
    return {word: articles.split(",") for word, _, articles in pairs}


def _symbol_phrases(text: str) -> Iterator[Sighting]:
    """Names with signs in them that are no part of words: "🚀 Launch", "#general", "50% rule"."""
    parts = [(match.start(), match[0]) for match in _SPACED.finditer(text)]
    signs = [
        not part.isalnum() and not (bare := part.strip(_TRIMMED)).isalnum() and bool(_SYMBOL.search(bare))
        for _, part in parts
    ]
    if True not in signs:
        return
    near = {at for sign, held in enumerate(signs) if held for at in range(max(0, sign - _SYMBOL_WORDS + 1), sign + 1)}
    for at in sorted(near):
        start = parts[at][0]
        for last in range(at, min(at + _SYMBOL_WORDS, len(parts))):
            end = parts[last][0] + len(parts[last][1])
            if end - start > NAME_CHARS:
                break
            if any(signs[at : last + 1]):
                surface = text[start:end].strip(_TRIMMED)
                if query := norm(surface):
                    yield Sighting(surface, query, True, start, end, "phrase")
