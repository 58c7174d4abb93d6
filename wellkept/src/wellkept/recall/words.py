"""General words of many languages, and which of them a text speaks.

One file per language stands in `data/`. Its sections: `hard` (words that never name anything), `soft` (names only in
the middle of a sentence), `calendar` and `before-date`, `honorific`, `speaks` (what people are said to do, after
their name), `linking` (those of them that things do too), `mass` (nouns that open sentences without an article),
`article` (the indefinite ones), `subject` (pronouns before a verb), `describes` (adjectives that make a phrase of an
ordinary word), `common` (ordinary words that are also names), `noun-ending` (where nouns have capitals).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from wellkept.names import norm

_NOT_LATIN = frozenset({"ru", "uk", "el", "ar", "fa", "he", "hi", "ko", "zh", "ja"})
LANGUAGES = (
    *("en", "de", "fr", "es", "pt", "it", "nl", "pl", "ru", "uk", "el", "tr", "ar", "he", "ko", "zh", "ja"),
    *("cs", "sv", "da", "no", "fi", "hu", "ro", "id", "vi", "hi", "fa"),
)
_EN = "en"
_ALWAYS_SURE = _NOT_LATIN | {_EN}
_SENTENCE_WORDS = 3
_ALL = frozenset(LANGUAGES)
_BARE_GENITIVE = ("de", "nl", "sv", "da", "no")
_BARE_OPENERS = frozenset({"en", "pl", "cs", "ru", "uk", "tr", "fi", "id", "vi", "hi", "fa"})

_ENDINGS = ("ments", "ment", "ings", "ing", "ions", "ion", "ers", "er", "ies", "es", "ed", "ly", "s")


@dataclass(frozen=True, slots=True)
class Language:
    """The general words of one language by use, under `norm`."""

    code: str
    sections: Mapping[str, frozenset[str]]

    def words(self, section: str) -> frozenset[str]:
        """The words of a section; none when the language's file has no such section."""
        return self.sections.get(section, frozenset())


@cache
def read_sections(name: str) -> Mapping[str, frozenset[str]]:
    """The sections of a word file in `data/`, each word under `norm`."""
    found: dict[str, set[str]] = {}
    section = ""
    for line in (files(__package__) / "data" / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = line.strip("[] ")
        elif not line.startswith("#"):
            found.setdefault(section, set()).update(norm(word) for word in line.split())
    return {key: frozenset(words) for key, words in found.items()}


@cache
def languages() -> tuple[Language, ...]:
    """Every language with a word file, English first."""
    return tuple(Language(code, read_sections(f"stop-{code}.txt")) for code in LANGUAGES)


class Speech:
    """What the words of one text mean, given the languages that the text seems to be in.

    A language is spoken when the text holds its function words, at least half as many different ones as the
    best-represented language. A word is taken for a function word only if another one of that language stands
    beside it, so that the name Ella in an English sentence is not the Spanish pronoun. Words in other than Latin
    letters need no such proof. `sure` are the codes of the languages that the text may be trusted to speak;
    of the `likely` ones a single function word is proof where none is English, and an ordinary word where there is
    no function word at all.
    """

    def __init__(self, words: Iterable[str]) -> None:
        seen = set(words)
        counts, told = _counted(seen)
        best = max(counts.values(), default=0)
        self._main = frozenset(code for code, count in counts.items() if count == best) or _ALL
        self._is_of_any = len(seen) >= _SENTENCE_WORDS and _EN not in told and not any(n > 1 for n in told.values())
        self._told = frozenset(code for code, count in told.items() if count > 1)
        self._is_english = _EN in counts
        self.sure = _surely(told)
        self._spoken = frozenset(told) | self.sure
        self.likely = self.sure if _EN in told else self._spoken
        self._hard, self._soft = _words_of("hard", self.sure), _words_of("soft", self._spoken)
        if not best and not any(map(_is_english, seen)):
            self.likely |= {language.code for language in languages() if seen & language.words("common")}

    def speaks(self, code: str) -> bool:
        """Whether the text surely is in this language, at least in part."""
        return code in self.sure

    def has_bare_genitive(self) -> bool:
        """Whether names may take an s without an apostrophe: in German, Dutch and the north, or for all we know."""
        return any(map(self.speaks, _BARE_GENITIVE)) or (self._told <= {_EN} and not self._is_english)

    def is_hard(self, word: str) -> bool:
        """Whether the word never names anything."""
        return word in self._hard

    def is_soft(self, word: str) -> bool:
        """Whether the word names something only in the middle of a sentence."""
        return word in self._soft

    def telling(self, words: Iterable[str]) -> tuple[bool, ...]:
        """Of each word whether it may name something wherever it stands."""
        hard, soft = self._hard, self._soft
        return tuple(word not in hard and word not in soft for word in words)

    def is_calendar(self, word: str) -> bool:
        """Whether the word is a day or a month."""
        return self._in("calendar", word, self._spoken)

    def leads_to_date(self, word: str) -> bool:
        """Whether a day or month after this word is a date, not somebody's name."""
        return word.isdigit() or self._in("before-date", word, self._spoken)

    def is_honorific(self, word: str) -> bool:
        """Whether the word stands before people's names."""
        return self._in("honorific", word.rstrip("."), self._spoken)

    def describes(self, word: str) -> bool:
        """Whether the word describes the noun after it, so that "Good Faith" is nobody's name."""
        return self._in("describes", word, self._spoken)

    def is_done_by_people(self, word: str) -> bool:
        """Whether the word is a verb that people are the subject of."""
        return self._in("speaks", word, self._spoken)

    def is_said_of_people(self, word: str) -> bool:
        """Whether the word, right after a capitalised one, shows that somebody is talked about."""
        return word.endswith("ed") or self.is_done_by_people(word)

    def is_said_of_things(self, word: str) -> bool:
        """Whether the word, right after a noun, is said of anything: "Art is long"."""
        return self._in("linking", word, self._spoken)

    def is_mass_noun(self, word: str) -> bool:
        """Whether the word is a noun that needs no article to open a sentence."""
        return self._in("mass", word, self._spoken)

    def is_indefinite_article(self, word: str) -> bool:
        """Whether no name follows the word in lower case: "a jack of all trades"."""
        return self._in("article", word, self._main)

    def is_subject(self, word: str) -> bool:
        """Whether the word is a pronoun after which a verb comes: "she drew"."""
        return self._in("subject", word, self.sure)

    def is_common(self, word: str) -> bool:
        """Whether the word is ordinary: in lower case it is not a name, even if a page is called so."""
        if self._in("common", word, self._spoken):
            return True
        return word.isascii() and _is_english(word)

    def is_common_somewhere(self, word: str) -> bool:
        """Whether the word is ordinary in a language that the text may be in: any, if a sentence does not tell."""
        return self.is_common(word) or (self._is_of_any and self._in("common", word, _ALL))

    def is_doubtful_opener(self, word: str) -> bool:
        """Whether the word, opening a sentence, may well be an ordinary one.

        In languages with articles a bare noun seldom opens a sentence; English verbs do, and so do nouns in Slavic
        languages and Turkish.
        """
        return self.is_common(word) and (
            self._in("common", word, self._spoken & _BARE_OPENERS) or (word.isascii() and _is_english(word))
        )

    def is_capitalised_noun(self, word: str) -> bool:
        """Whether the word looks like a German noun, which has its capital from the grammar."""
        endings = tuple(languages()[1].words("noun-ending"))
        return self.is_listed_noun(word) or (self.speaks("de") and len(word) > 6 and word.endswith(endings))

    def is_listed_noun(self, word: str) -> bool:
        """Whether the word is an ordinary German noun for certain."""
        return self.speaks("de") and word in languages()[1].words("common")

    def is_known(self, word: str) -> bool:
        """Whether the word stands in any list of the languages spoken."""
        return (
            self.is_hard(word)
            or self.is_soft(word)
            or self.is_common(word)
            or self.is_honorific(word)
            or self.is_capitalised_noun(word)
        )

    def _in(self, section: str, word: str, codes: frozenset[str]) -> bool:
        return word in _words_of(section, codes)


def is_function_word(word: str) -> bool:
    """Whether the word names nothing in some language."""
    return word in _speakers()


def surely_spoken(words: Collection[str]) -> frozenset[str]:
    """The codes of the languages that a text of these words may be trusted to speak.

    >>> "de" in surely_spoken({"und", "ist", "fertig"}), "de" in surely_spoken({"und", "done"})
    (True, False)
    """
    return _surely(_counted(words)[1])


def _counted(words: Collection[str]) -> tuple[Mapping[str, int], Mapping[str, int]]:
    """How many function words of each language stand among the words; and those of the languages that are told."""
    speakers = _speakers()
    counts = Counter(code for word in speakers.keys() & words for code in speakers[word])
    best = max(counts.values(), default=0)
    return counts, {code: count for code, count in counts.items() if count * 2 >= best}


def _surely(told: Mapping[str, int]) -> frozenset[str]:
    return frozenset(code for code, count in told.items() if count > 1) | _ALWAYS_SURE


@cache
def _speakers() -> Mapping[str, Sequence[str]]:
    """Every function word, with the languages that have it."""
    found: dict[str, list[str]] = {}
    for language in languages():
        for word in language.words("hard"):
            found.setdefault(word, []).append(language.code)
    return found


@lru_cache(maxsize=1024)
def _words_of(section: str, codes: frozenset[str]) -> frozenset[str]:
    return frozenset().union(*(language.words(section) for language in languages() if language.code in codes))


def is_noun(word: str) -> bool:
    """Whether the word is an ordinary English or German one, whatever the text speaks."""
    return _is_english(word) or word in languages()[1].words("common")


@lru_cache(maxsize=16_384)
def _is_english(word: str) -> bool:
    common = languages()[0].words("common")
    return word in common or any(stem in common for stem in _stems(word))


def _stems(word: str) -> Iterable[str]:
    for ending in _ENDINGS:
        stem = word.removesuffix(ending)
        if stem != word and len(stem) > 2:
            yield stem
            yield stem + "e"
            if ending == "ies":
                yield stem + "y"
            if len(stem) > 3 and stem[-1] == stem[-2]:
                yield stem[:-1]
