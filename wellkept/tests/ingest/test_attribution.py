from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wellkept.ingest.attribution import attribute, locate
from wellkept.ingest.markdown import parse_page
from wellkept.ingest.segment import segments
from wellkept.ingest.sightings import Names, base_forms, stretches
from wellkept.model import CandidateFact, Message, NameKind, NameMatch, Trust
from wellkept.names import fold, norm
from wellkept.storage import Store, open_store
from wellkept.storage.sqlite import SqliteStore

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


def add(store: Store, slug: str, title: str, kind: str = "person", aliases: str = "", source: str = "default") -> None:
    content = f"---\ntitle: {title}\ntype: {kind}\naliases: [{aliases}]\n---\n\nBody.\n"
    store.put_page(*parse_page(source, slug, content, trust=Trust.USER_WRITTEN, now=NOW))


class CountingStore(SqliteStore):
    """A store that counts the look-ups of names."""

    def __init__(self) -> None:
        super().__init__(":memory:")
        self.lookups = 0

    def find_names(self, source: str, kind: NameKind, keys: Iterable[str]) -> tuple[NameMatch, ...]:
        self.lookups += 1
        return super().find_names(source, kind, keys)


@pytest.fixture
def store() -> CountingStore:
    """Two people, their firms, and two people who share a name."""
    store = CountingStore()
    add(store, "people/mira-oland", "Mira Oland", aliases="Mimi")
    add(store, "companies/brightloom", "Brightloom Works", "company", aliases="brightloom")
    add(store, "people/tomas-quist", "Tomas Quist")
    add(store, "companies/fernline", "Fernline", "company")
    add(store, "people/sam-okonjo", "Sam Okonjo", aliases="Sam")
    add(store, "people/sam-lind", "Samira Lind", aliases="Sam")
    add(store, "projects/heron", "Heron", "project", aliases="the heron plan")
    return store


Ask = Callable[..., str | None]


@pytest.fixture
def ask(store: CountingStore) -> Ask:
    """The entity of a fact whose quote is the last of the messages said."""

    def entity(mention: str | None, *said: str, fact: str = "It is so.", quote: str | None = None) -> str | None:
        (segment,) = segments("s", [Message("user", text, NOW) for text in said])
        candidate = CandidateFact(fact, "fact", mention, quote or said[-1])
        found = [one for one in [locate(segment, candidate)] if one]
        (slug,) = attribute(Names(store, "default"), segment, found)
        return slug

    return entity


MIRA, BRIGHT, TOMAS, FERN = "people/mira-oland", "companies/brightloom", "people/tomas-quist", "companies/fernline"
OKONJO, LIND, HERON = "people/sam-okonjo", "people/sam-lind", "projects/heron"


@pytest.mark.req("C-505")
@pytest.mark.parametrize(
    ("mention", "wanted"),
    [
        ("people/mira-oland", MIRA),
        ("mira-oland", MIRA),
        ("Mimi", MIRA),
        ("mimi", MIRA),
        ("Mira Oland", MIRA),
        ("MIRA  OLAND", MIRA),
        ("Mira Oländ", MIRA),
        ("Oland", MIRA),
        ("Tomas", TOMAS),
        ("Brightloom", BRIGHT),
        ("“Fernline”", FERN),
        ("Mimi's", MIRA),
        ("Tomas’", TOMAS),
        ("Fernline'nin", FERN),
        ("d'Oland", MIRA),
        ("the heron plan", HERON),
        ("the Heron", HERON),
        ("Sam Okonjo", OKONJO),
        ("Zelda", None),
        ("Zelda Fitz", None),
    ],
)
def test_a_mention_means_the_page_that_has_this_name(ask: Ask, mention: str, wanted: str | None) -> None:
    assert ask(mention, f"we spoke about {mention} today") == wanted


@pytest.mark.req("C-505")
@pytest.mark.parametrize(
    ("mention", "wanted"),
    [
        ("the Brightloom pricing model", BRIGHT),
        ("her firm Fernline", FERN),
        ("Mimi's landlord", MIRA),
        ("the Brightloom Works round", BRIGHT),
        ("Ms. Oland", MIRA),
        ("Mira Something", None),
        ("Bob Oland", None),
        ("Brightloomish things", None),
        ("the Fernline deal with Mimi", None),
    ],
)
def test_a_longer_mention_means_the_only_page_that_it_names_in_whole_words(
    ask: Ask, mention: str, wanted: str | None
) -> None:
    assert ask(mention, f"so {mention} it is") == wanted


@pytest.mark.req("C-505")
def test_a_pronoun_means_the_fitting_page_named_nearest_before(ask: Ask) -> None:
    said = ("Call with Mira Oland about Fernline.", "Tomas joined late.", "She wants it by Friday.")
    assert ask("She", *said) == TOMAS
    assert ask("it", *said) == FERN
    assert ask("she", "Mimi called, she is ill") == MIRA
    assert ask("They", "Tomas left Brightloom.", "They raise prices.") == BRIGHT
    assert ask("She", "nobody was named", "She wants it") is None


@pytest.mark.req("C-505")
def test_a_name_after_the_quote_counts_only_when_no_other_could_be_meant(ask: Ask) -> None:
    assert ask("She", "She is ill", "I mean Mimi", quote="She is ill") == MIRA
    assert ask("She", "She is ill", "I mean Mimi, not Tomas", quote="She is ill") is None


@pytest.mark.req("C-505")
def test_a_fact_that_opens_with_the_name_says_whom_the_pronoun_meant(ask: Ask) -> None:
    said = ("Mimi and Tomas came.", "She stays.")
    assert ask("She", *said, fact="She stays") == TOMAS
    assert ask("She", *said, fact="Mira Oland stays") == MIRA
    assert ask("She", *said, fact="She thinks Mira Oland stays") == TOMAS


@pytest.mark.req("C-505")
def test_a_shared_name_means_the_page_named_in_full_nearest_before(ask: Ask) -> None:
    assert ask("Sam", "Sam Okonjo and Samira Lind met.", "Samira Lind left.", "Sam is tired") == LIND
    assert ask("Sam", "Samira Lind left, Sam Okonjo not.", "Sam is tired") == OKONJO
    assert ask("Sam", "Sam is tired") is None
    assert ask("Sam", "Samira Lind left.", "Sam is tired", fact="Sam Okonjo is tired") == OKONJO
    assert ask("Sam's", "Samira Lind left.", "Sam's car is new") == LIND


@pytest.mark.req("C-505")
def test_a_shared_name_is_followed_through_what_was_said(ask: Ask) -> None:
    assert ask("he", "Sam Okonjo is here.", "Mimi too. Sam sat down.", "he is tired") == OKONJO


@pytest.mark.req("C-505")
def test_a_name_that_several_have_in_full_is_not_decided_by_a_part_of_one(store: CountingStore, ask: Ask) -> None:
    add(store, "people/sam-only", "Sam Unrelated")
    assert ask("Sam", "Sam is tired") is None
    assert ask("Sam", "Sam Unrelated came.", "Sam is tired") == "people/sam-only"


@pytest.mark.req("C-505")
def test_without_a_mention_the_only_page_named_is_meant_and_never_one_of_several(ask: Ask) -> None:
    assert ask(None, "noted", fact="Mira Oland is ill") == MIRA
    assert ask("", "Fernline moves to Bern", fact="The move is in May") == FERN
    assert ask(None, "Mimi joins Fernline", fact="The start is in May") is None
    assert ask(None, "Tomas came.", "Mimi met Fernline", fact="She starts in May", quote="Mimi met Fernline") == MIRA
    assert ask(None, "Tomas came.", "met Heron", fact="She starts in May") == TOMAS


@pytest.mark.req("C-505")
def test_without_a_mention_or_a_name_the_segment_decides_when_it_can(ask: Ask) -> None:
    assert ask(None, "Mimi and Fernline", "she is ill", fact="She is ill") == MIRA
    assert ask(None, "Heron is late", "price is 20 now", fact="The price is 20") == HERON
    assert ask(None, "Heron and Mimi", "price is 20 now", fact="The price is 20") is None
    assert ask(None, "Heron is late", "I will never fly again", fact="I will never fly again") is None


@pytest.mark.req("C-505")
def test_the_kind_of_a_page_stands_for_the_one_named_before(ask: Ask) -> None:
    assert ask("the project", "Mimi runs Heron", "the project is late") == HERON
    assert ask("the company", "Mimi left Fernline and Heron", "the company is sad") == FERN
    assert ask("the company", "Mimi runs Heron", "the company is sad") is None


@pytest.mark.req("C-505")
def test_pages_of_other_sources_and_conversations_are_nobody(store: CountingStore, ask: Ask) -> None:
    add(store, "people/yara-voss", "Yara Voss", source="work")
    add(store, "conversations/kiln", "Kiln", "conversation")
    assert ask("Yara Voss", "Yara Voss called") is None
    assert ask("Kiln", "the Kiln is hot") is None
    assert ask("she", "Yara Voss called, she is well") is None


@pytest.mark.req("C-505")
def test_a_title_with_a_space_is_found_where_the_script_writes_none(store: CountingStore, ask: Ask) -> None:
    add(store, "people/shiratori", "白鳥 悠真")
    add(store, "people/shiratori-rin", "白鳥 凛")
    assert ask(None, "白鳥悠真さんは京都へ行く") == "people/shiratori"
    assert ask("白鳥凛", "白鳥凛さんは京都へ行く") == "people/shiratori-rin"
    assert ask(None, "白鳥さんは京都へ行く") is None


@pytest.mark.req("C-505")
def test_everyday_words_and_halves_of_names_name_nobody_in_running_text(store: CountingStore, ask: Ask) -> None:
    add(store, "people/will-hart", "Will Hart", aliases="Will")
    add(store, "people/ann", "Ann Ovid", aliases="Ann")
    assert ask("he", "will you ask?", "he is ill") is None
    assert ask("he", "ask Will!", "he is ill") == "people/will-hart"
    assert ask("she", "Ann-Marie came", "she is ill") is None


PEOPLE = {
    "de": ("Jürgen Böttcher", "person", "Jürgen", "Böttchers", "Jürgen kam heute.", "Er", "Er kommt morgen wieder"),
    "fr": ("Hélène Dubreuil", "person", "Hélène", "d'Hélène", "J'ai vu Hélène.", "elle", "Demain elle revient"),
    "es": ("Íñigo Larrazábal", "person", "Íñigo", "inigo", "Hablé con Íñigo.", "él", "Mañana vuelve él"),
    "it": (
        "Ginevra Castellani",
        "person",
        "Ginevra",
        "d'Castellani",
        "Ho visto Ginevra.",
        "lei",
        "domani lei torna",
    ),
    "pt": ("João Figueira", "person", "João", "joao", "Falei com João.", "ele", "Amanhã ele volta"),
    "nl": ("Sjoerd Hoekstra", "person", "Sjoerd", "Sjoerd's", "Sjoerd belde.", "hij", "morgen komt hij terug"),
    "pl": ("Łukasz Wroński", "person", "Łukasz", "Łukaszem Wrońskim", "Łukasz dzwonił.", "on", "jutro on wraca"),
    "ru": (
        "Анна Белкина",
        "person",
        "Аня",
        "Анной Белкиной",
        "Был с Анной Белкиной.",
        "она",
        "завтра она вернётся",
    ),
    "uk": ("Олена Ткач", "person", "Оленка", "Оленою Ткач", "Говорив з Оленою Ткач.", "вона", "завтра вона буде"),
    "el": ("Άννα Παππά", "person", "Αννούλα", "Άννας Παππά", "Μίλησα με την Άννα Παππά.", "αυτή", "αύριο έρχεται αυτή"),
    "tr": ("Ayşe Demirtaş", "person", "Ayşe", "Ayşe'nin", "Ayşe aradı.", "o", "yarın o gelecek"),
    "ar": ("ليلى حداد", "person", "ليلى", "وليلى", "اتصلت ليلى اليوم.", "هي", "غدا هي تعود"),
    "he": ("דנה לוין", "person", "דנה", "לדנה", "דיברתי עם דנה.", "היא", "מחר היא חוזרת"),
    "zh": ("王小明", "person", "小明", "王小明先生", "今天见了王小明。", "他", "明天他会回来"),
    "ja": ("佐藤花子", "person", "花子", "花子さん", "今日、花子に会った。", "彼女", "明日、彼女は戻る"),
    "ko": ("김민수", "person", "민수", "민수씨", "오늘 김민수를 만났다.", "그는", "내일 그는 돌아온다"),
    "fi": ("Aino Virtala", "person", "Aino", "Ainolle", "Aino soitti.", "hän", "huomenna hän palaa"),
}


@pytest.mark.req("C-505")
@pytest.mark.parametrize("language", PEOPLE)
def test_names_aliases_inflected_names_and_pronouns_work_in_many_languages(
    store: CountingStore, ask: Ask, language: str
) -> None:
    title, kind, alias, inflected, named, pronoun, said = PEOPLE[language]
    add(store, f"people/{language}", title, kind, alias)
    for mention in (title, alias, inflected):
        assert ask(mention, f"x {mention} Yz") == f"people/{language}", mention
    assert ask(pronoun, named, said, fact=said) == f"people/{language}"
    assert ask(None, named, said, fact=said) == f"people/{language}"


@pytest.mark.req("C-505")
@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("Paula Vance", "Paul"),
        ("Paul Vance", "Paula"),
        ("Maria Vance", "Mario"),
        ("Thea Vance", "Then"),
        ("Marta Vance", "Martin"),
        ("Carlo Vance", "Carlos"),
        ("Julia Vance", "Julian"),
        ("Anna Vance", "Annie"),
        ("Иван Ванс", "Иванов"),
        ("Μάριος Βανς", "Μαρία"),
    ],
)
def test_a_near_name_is_another_name(store: CountingStore, ask: Ask, known: str, said: str) -> None:
    add(store, "people/vance", known)
    assert ask(said, f"{said} called") is None
    assert ask("she", f"{said} called", "she is ill") is None
    assert ask(None, f"{said} called", fact=f"{said} called") is None


@pytest.mark.req("C-505")
def test_a_form_that_could_be_two_names_is_left_open(store: CountingStore, ask: Ask) -> None:
    add(store, "people/anna", "Анна Белкина", aliases="Анна")
    assert ask("Анны", "видел Анны письмо") == "people/anna"
    add(store, "people/anna-2", "Анна Гросс", aliases="Анна")
    assert ask("Анны", "видел Анны письмо") is None
    assert ask("Анны", "Анна Гросс ушла", "видел Анны письмо") == "people/anna-2"
    assert "анна" in base_forms("Анны")


@given(st.text(st.sampled_from("aÉβЖ字ー ا'’.-–_\u0301ßςİﬁ1"), max_size=24))
@settings(max_examples=300)
def test_the_keys_of_a_stretch_are_those_of_its_text(text: str) -> None:
    for one in stretches(text, 1000):
        assert (one.key, one.folded) == (norm(one.text), fold(one.text))


@pytest.mark.req("C-505")
def test_names_are_looked_up_in_few_batches(store: CountingStore) -> None:
    said = [Message("user", f"Mimi said line {n} about Fernline and word{n}", NOW) for n in range(30)]
    (segment,) = segments("s", said)
    candidates = [CandidateFact(f"f{n}", "fact", ("she", "Sam", None, "Mimi")[n % 4], said[n].text) for n in range(30)]
    found = [one for one in (locate(segment, candidate) for candidate in candidates) if one]
    attribute(Names(store, "default"), segment, found)
    assert len(found) == 30
    assert store.lookups <= 60


@given(st.lists(st.text(max_size=40), min_size=1, max_size=4), st.none() | st.text(max_size=20), st.text(max_size=30))
@settings(max_examples=150, deadline=None)
def test_no_text_breaks_attribution_and_no_slug_is_invented(said: list[str], mention: str | None, fact: str) -> None:
    store = open_store("sqlite", ":memory:")
    try:
        add(store, "people/a", "A B", aliases="x")
        add(store, "notes/0", "0", "note")
        for segment in segments("s", [Message("user", text, NOW) for text in said]):
            found = [one for one in [locate(segment, CandidateFact(fact, "fact", mention, said[0]))] if one]
            assert set(attribute(Names(store, "default"), segment, found)) <= {"people/a", "notes/0", None}
    finally:
        store.close()
