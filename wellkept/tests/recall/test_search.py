"""Finding pages by their words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from zlib import crc32

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from wellkept.errors import ModelUnavailable
from wellkept.ingest import writeback
from wellkept.ingest.markdown import parse_page
from wellkept.model import HOOK, Message, Ranking, SearchMode, SearchOptions, Trust
from wellkept.providers import EmbedderId
from wellkept.recall import fusion
from wellkept.recall.asked import WORDS, content_words
from wellkept.recall.embedding import embed_waiting
from wellkept.recall.lanes import STATED
from wellkept.recall.search import SearchModels, damping, find, search
from wellkept.storage import Store
from wellkept.trust.gate import Gate, Key

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class WordVectors:
    """An embedder that counts words: texts are alike as far as they share them, after `means` replaced some."""

    def __init__(self, means: Mapping[str, str] | None = None, name: str = "words", *, broken: bool = False) -> None:
        self._means, self._broken = means or {}, broken
        self.id = EmbedderId(name, 64)
        self.ready = True

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self._broken and len(texts) == 1:
            raise ModelUnavailable("words", "it is broken")
        rows = np.zeros((len(texts), 64), np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().replace(".", " ").split():
                rows[row, crc32(self._means.get(word, word).encode()) % 64] += 1
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def embed_all(store: Store, embedder: WordVectors) -> None:
    waiting = store.index.waiting(0, 100_000)
    store.index.put_vectors(embedder.id, [one.id for one in waiting], embedder.embed([one.text for one in waiting]))


def test_function_words_are_left_out_unless_there_is_nothing_else() -> None:
    assert content_words("What is the rent of the studio?") == ("rent", "studio")
    assert content_words("what is it") == ("what", "is", "it")
    assert content_words("Wie hoch ist die Miete für das Atelier") == ("hoch", "miete", "atelier")
    assert content_words("I don't know Noor's kiln, l'atelier d'Anna") == ("know", "noor", "kiln", "atelier", "anna")
    assert content_words("  ?! ") == ()


@given(st.text(st.characters(codec=None), max_size=200))
@settings(max_examples=150, deadline=None)
def test_any_text_gives_a_bounded_number_of_words(text: str) -> None:
    words = content_words(text)
    assert len(words) == len(set(words)) <= WORDS


def test_each_page_is_found_once_best_first(store: Store, write: Callable[..., None]) -> None:
    write("a/kiln", "Kiln", kind="note", body="The kiln stands in the cellar. " * 3 + "Glaze dries.\n\n" * 300)
    write("b/glaze", "Glaze", kind="note", body="Only about glaze.")
    write("c/other", "Other", kind="note", body="Nothing of that.")
    write("d/kiln", "Kiln of others", kind="note", source="team")
    hits = search(store, "default", "where is the kiln for the glaze", 10)
    assert {hit.slug for hit in hits} == {"a/kiln", "b/glaze"}
    assert [hit.rank for hit in hits] == [1, 2]
    assert hits[0].score >= hits[1].score
    assert search(store, "default", "where is the kiln for the glaze", 1) == hits[:1]
    assert search(store, "default", "kiln", 0) == ()
    assert search(store, "default", "zzz", 5) == ()


@pytest.mark.parametrize(
    ("query", "slug"),
    [
        ("東京の予算はいくら？", "n/ja"),
        ("ค่าเช่าร้านเท่าไหร่", "n/th"),
        ("какая аренда за мастерскую", "n/ru"),
        ("cuanto cuesta el alquiler del café", "n/es"),
        ("l'atelier coûte combien", "n/fr"),
        ("임대료는 얼마", "n/ko"),
        ("予算案を出して", "n/ja"),
    ],
)
def test_queries_in_any_script_find_their_page(store: Store, write: Callable[..., None], query: str, slug: str) -> None:
    write("n/ja", "メモ", kind="note", body="来年の東京の予算は三百万円です。")
    write("n/th", "บันทึก", kind="note", body="ค่าเช่าร้านสองหมื่นบาท จ่ายทุกวันที่ห้า")
    write("n/ru", "Заметка", kind="note", body="Аренда мастерской двести.")
    write("n/es", "Nota", kind="note", body="El alquiler del Café es de 300.")
    write("n/fr", "Atelier", kind="note", body="L'atelier coûte 640 euros.")
    write("n/ko", "메모", kind="note", body="임대료 백만원.")
    assert [hit.slug for hit in search(store, "default", query, 1)] == [slug]


def bank(store: Store, session: str, day: int, *texts: str, source: str = "default") -> None:
    at = datetime(2024, 3, day, 9, 0, tzinfo=UTC)
    messages = [Message("user" if turn % 2 == 0 else "assistant", text, at) for turn, text in enumerate(texts)]
    writeback.bank(store, source, session, messages, gate=Gate(store, Key(None)), writer=HOOK, now=NOW)


def turns(found: Ranking) -> list[tuple[str, int | None]]:
    return [(hit.slug, hit.turn) for hit in found.hits]


CHUNKS = SearchOptions(unit="chunk")


def test_a_turn_is_found_with_its_conversation_its_number_and_its_time(store: Store) -> None:
    bank(store, "monday", 4, "Hello there", "Hi", "The kiln broke on its way to Lyon")
    bank(store, "tuesday", 5, "Shall we have soup")
    (hit,) = find(store, "default", "where did the kiln break", 1, CHUNKS).hits
    assert (hit.slug, hit.turn, hit.text) == ("conversations/monday", 2, "The kiln broke on its way to Lyon")
    assert hit.at == datetime(2024, 3, 4, 9, 0, tzinfo=UTC)


def test_an_answer_is_found_by_the_words_of_the_question_before_it(store: Store) -> None:
    bank(store, "monday", 4, "Which harbour did the schooner leave from?", "Brest, at dawn.", "Good.", "Soup?", "Yes.")
    found = turns(find(store, "default", "schooner harbour", 2, CHUNKS))
    assert set(found) == {("conversations/monday", 0), ("conversations/monday", 1)}


def test_a_word_is_found_in_the_forms_that_no_ending_tells(store: Store) -> None:
    bank(store, "monday", 4, "She taught me to weave")
    bank(store, "tuesday", 5, "We bought a lamp and flew home")
    for query in ("who may fly", "buying or to buy", "who can teach"):
        assert find(store, "default", query, 1).hits, query
    assert turns(find(store, "default", "what to buy", 1)) == [("conversations/tuesday", 0)]


def test_a_turn_is_found_by_its_date_in_words(store: Store) -> None:
    bank(store, "monday", 4, "The soup was fine")
    bank(store, "tuesday", 5, "The soup was fine")
    assert turns(find(store, "default", "soup on 5 March 2024", 1, CHUNKS)) == [("conversations/tuesday", 0)]


def test_a_conversation_counts_once_as_a_page_and_each_turn_by_itself_as_a_chunk(store: Store) -> None:
    bank(store, "monday", 4, "A kiln here", "A kiln there", "No more")
    assert len(find(store, "default", "kiln", 9).hits) == 1
    assert {turn for _, turn in turns(find(store, "default", "kiln", 9, CHUNKS))} == {0, 1, 2}


@pytest.mark.req("E-602")
def test_each_hit_says_what_every_lane_said_of_it(store: Store, write: Callable[..., None]) -> None:
    write("n/kiln", "The kiln", kind="note", body="It stands in the cellar.")
    write("n/glaze", "Glaze", kind="note", body="Wait until the kiln is cold.")
    found = find(store, "default", "the kiln", 5)
    first, second = found.hits
    assert found.lanes == ("lexical", "context", "exact")
    assert first.slug == "n/kiln"
    assert [(said.lane, said.rank) for said in first.lanes] == [
        *(("lexical", 1), ("context", 1)),
        *(("exact", 1), ("whole", 1)),
    ]
    assert [(said.lane, said.rank) for said in second.lanes] == [("lexical", 2), ("context", 2), ("whole", 2)]
    assert sum(said.weight for said in first.lanes if said.lane in fusion.WEIGHTS) == pytest.approx(1)
    assert all(said.score > 0 for hit in found.hits for said in hit.lanes if said.lane in ("lexical", "exact"))


def test_scores_never_rise_from_hit_to_hit_and_ranks_count_from_one(store: Store) -> None:
    for day in range(1, 20):
        bank(store, f"day {day}", day, *(f"kiln {'glaze ' * (day % 4)}" for _ in range(day % 5 + 1)))
    for options in (SearchOptions(), CHUNKS, SearchOptions(mode="naive")):
        hits = find(store, "default", "kiln and glaze", 12, options).hits
        assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
        assert all(one.score >= other.score for one, other in pairwise(hits))
        assert find(store, "default", "kiln and glaze", 5, options).hits == hits[:5]


@pytest.mark.req("E-601")
@pytest.mark.parametrize("mode", ["hybrid", "lexical", "vector", "naive"])
def test_ten_thousand_better_matches_that_may_not_be_found_leave_the_result_as_it_was(
    store: Store, write: Callable[..., None], mode: SearchMode
) -> None:
    words = WordVectors()
    write("mine/one", "One", kind="note", body="A kiln among many other words about cellars, stairs and soup.")
    with store.transaction():
        for number in range(1000):
            write(f"n/{number}", "Kiln", kind="note", body="kiln kiln kiln", source="theirs")
            write(f"n/{number}", "Kiln", kind="note", body="kiln kiln kiln", status="superseded")
            write(f"later/{number}", "Kiln", kind="person", body="kiln kiln kiln")
    embed_all(store, words)
    options = SearchOptions(mode=mode, types=("note",))
    found = find(store, "default", "kiln", 10, options, SearchModels(words))
    assert [hit.slug for hit in found.hits] == ["mine/one"]


def test_what_is_later_than_as_of_is_not_found_and_takes_nobodys_place(store: Store) -> None:
    bank(store, "early", 4, "A kiln among many other words about cellars and stairs")
    for day in range(6, 26):
        bank(store, f"later {day}", day, *["kiln"] * 20)
    before = SearchOptions(as_of=datetime(2024, 3, 5, tzinfo=UTC))
    assert [hit.slug for hit in find(store, "default", "kiln", 9, before).hits] == ["conversations/early"]
    assert len(find(store, "default", "kiln", 99).hits) == 21


def test_a_page_that_the_query_calls_by_its_name_comes_before_one_that_repeats_the_name(
    store: Store, write: Callable[..., None]
) -> None:
    write("people/noor", "Noor Haddad", "Nono", body="Paints.")
    write("n/long", "Letters", kind="note", body="Nono nono nono, said the parrot. " * 3)
    for name in ("Nono", "noor haddad", "people/noor"):
        assert find(store, "default", f"what does {name} do", 1).hits[0].slug == "people/noor"


@pytest.mark.req("E-607")
def test_the_name_of_a_superseded_page_finds_the_page_in_its_place(store: Store, write: Callable[..., None]) -> None:
    write("n/new", "The plan", kind="note", body="Go by train.")
    content = "---\ntitle: Old scheme\nsuperseded_by: n/new\n---\n\nGo by boat.\n"
    page, chunks, names = parse_page("default", "n/old", content, trust=Trust.USER_WRITTEN, now=NOW)
    store.put_page(page, chunks, names)
    assert [hit.slug for hit in find(store, "default", "old scheme", 5).hits] == ["n/new"]


@pytest.mark.parametrize(
    "query", ['kiln" OR "x', "kiln AND NOT", "NEAR(kiln, 2)", "text:kiln*", "^kiln", "(kiln", "kiln + -"]
)
def test_operators_in_a_query_are_text(store: Store, write: Callable[..., None], query: str) -> None:
    write("n/kiln", "Kiln", kind="note", body="Hot.")
    assert [hit.slug for hit in find(store, "default", query, 5).hits] == ["n/kiln"]


@given(st.text(max_size=80))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_query_is_answered(store: Store, query: str) -> None:
    if not store.sources() or store.get_page("default", "conversations/all") is None:
        bank(store, "all", 4, "Kiln AND soup", "東京の予算 NEAR ค่าเช่า", "Café o'clock")
    find(store, "default", query, 5, CHUNKS)


@pytest.mark.parametrize("word", ["予算", "ค่าเช่า", "东京", "예산", "GPT4モデル", "cafe"])
def test_a_part_of_a_sentence_without_spaces_is_found(store: Store, write: Callable[..., None], word: str) -> None:
    body = "来年の东京の予算は三百万円 วันนี้ค่าเช่าร้านแพง 예산을 짰다 新しいGPT4モデル Café"
    write("n/all", "X", kind="note", body=body)
    write("n/none", "Y", kind="note", body="算予 เช่ Caff")
    hits = find(store, "default", word, 5).hits
    assert [hit.slug for hit in hits] == ["n/all"]
    assert "Café" in hits[0].text


def test_vectors_find_what_shares_no_word(store: Store, write: Callable[..., None]) -> None:
    alike = WordVectors({"automobile": "car"})
    write("n/car", "Garage", kind="note", body="The car is red.")
    write("n/soup", "Soup", kind="note", body="Hot.")
    assert find(store, "default", "automobile", 5).hits == ()
    embed_all(store, alike)
    found = find(store, "default", "automobile", 1, models=SearchModels(alike))
    assert ([hit.slug for hit in found.hits], found.degraded) == (["n/car"], ())
    assert "vector" in found.lanes


def test_an_answer_says_why_the_vectors_had_no_part_in_it(store: Store, write: Callable[..., None]) -> None:
    write("n/kiln", "Kiln", kind="note", body="Hot.")
    words = WordVectors()
    assert find(store, "default", "kiln", 5).degraded == ("no_embedder",)
    assert find(store, "default", "kiln", 5, models=SearchModels(words)).degraded == ("vectors_pending",)
    embed_all(store, words)
    write("n/other", "Other", kind="note", body="Cold.")
    assert find(store, "default", "kiln", 5, models=SearchModels(words)).degraded == ("vectors_pending",)
    other = SearchModels(WordVectors(name="another"))
    assert find(store, "default", "kiln", 5, models=other).degraded == ("embedder_mismatch",)
    broken = SearchModels(WordVectors(broken=True))
    found = find(store, "default", "kiln", 5, models=broken)
    assert (found.degraded, [hit.slug for hit in found.hits]) == (("embedder_failed",), ["n/kiln"])
    assert find(store, "default", "kiln", 5, SearchOptions(mode="lexical")).degraded == ()


@pytest.mark.req("E-602")
def test_the_naive_mode_merges_the_ranks_of_words_and_vectors_and_nothing_else(
    store: Store, write: Callable[..., None]
) -> None:
    words = WordVectors({"beta": "alpha"})
    write("n/both", "One", kind="note", body="alpha " * 3)
    write("n/meant", "Two", kind="note", body="beta")
    write("n/said", "Three", kind="note", body="alpha and a long tail of words that have to do with something else")
    embed_all(store, words)
    found = find(store, "default", "alpha", 3, SearchOptions(mode="naive"), SearchModels(words))
    assert found.lanes == ("lexical", "vector")
    for hit in found.hits:
        assert hit.score == pytest.approx(sum(1 / (60 + said.rank) for said in hit.lanes))
    assert len(found.hits) == 3


@pytest.mark.req("E-606")
def test_a_narrow_filter_damps_what_only_the_vectors_found() -> None:
    assert [damping(share) for share in (0.2, 0.1, 0.05, 0.004)] == pytest.approx([1, 1, 0.5, 0.1])


@pytest.mark.req("E-606")
def test_under_a_narrow_filter_words_go_before_chance(store: Store, write: Callable[..., None]) -> None:
    words = WordVectors({"automobile": "car"})
    write("n/near", "A", kind="rare", body="car")
    write("n/said", "B", kind="rare", body="automobile " + "and nothing like it " * 20)
    for number in range(60):
        write(f"n/{number}", "Soup", kind="note", body="Hot.")
    embed_all(store, words)
    everything = find(store, "default", "automobile", 1, models=SearchModels(words))
    narrow = find(store, "default", "automobile", 2, SearchOptions(types=("rare",)), SearchModels(words))
    assert everything.hits[0].slug == "n/said"
    assert [hit.slug for hit in narrow.hits] == ["n/said", "n/near"]
    assert narrow.hits[1].score == pytest.approx(fusion.PAGE_WEIGHTS["vector"] * damping(2 / 62))
    pieces = find(store, "default", "automobile", 2, SearchOptions("chunk", types=("rare",)), SearchModels(words))
    only_vectors = fusion.WEIGHTS["vector"] * (1 + fusion.PAGE_PRIOR / fusion.PRIOR_CHUNKS)
    assert pieces.hits[1].score == pytest.approx(only_vectors * damping(2 / 62))


def test_a_time_that_the_query_names_raises_what_is_from_then(store: Store) -> None:
    bank(store, "early", 1, "We had soup")
    bank(store, "late", 27, "We had soup")
    monday = SearchOptions(reference_time=datetime(2024, 3, 28, 12, 0, tzinfo=UTC))
    assert find(store, "default", "what soup yesterday", 1, monday).hits[0].slug == "conversations/late"
    assert find(store, "default", "what soup four weeks ago", 1, monday).hits[0].slug == "conversations/early"


@pytest.mark.req("E-603")
def test_what_is_recent_goes_first_only_where_that_is_asked_for(store: Store) -> None:
    bank(store, "a", 11, "We had soup")
    bank(store, "b", 27, "We had soup")
    now = datetime(2024, 3, 28, 12, 0, tzinfo=UTC)
    plain = find(store, "default", "soup", 2, SearchOptions(reference_time=now)).hits
    recent = find(store, "default", "soup", 2, SearchOptions(reference_time=now, recency=True)).hits
    assert [hit.slug for hit in plain] == ["conversations/a", "conversations/b"]
    assert [hit.slug for hit in recent] == ["conversations/b", "conversations/a"]


def test_asked_about_oneself_what_one_said_goes_before_what_the_assistant_said(store: Store) -> None:
    for session, role, other in (("a", "assistant", "user"), ("b", "user", "assistant")):
        said = [Message(role, "The ferry tickets cost twenty."), Message(other, "Fine.")]
        writeback.bank(store, "default", session, said, gate=Gate(store, Key(None)), writer=HOOK, now=NOW)
    options = SearchOptions("chunk", mode="lexical")
    mine = find(store, "default", "what did my ferry tickets cost", 2, options)
    assert [hit.slug for hit in mine.hits] == ["conversations/b", "conversations/a"]
    theirs = find(store, "default", "what do ferry tickets cost", 2, options)
    assert theirs.hits[0].score == theirs.hits[1].score


def test_a_remark_is_found_by_the_words_of_the_reply_to_it(store: Store) -> None:
    said = [Message("user", "It broke again."), Message("assistant", "The kiln, once more?")]
    writeback.bank(store, "default", "a", said, gate=Gate(store, Key(None)), writer=HOOK, now=NOW)
    found = find(store, "default", "kiln", 3, SearchOptions("chunk", mode="lexical"))
    assert [hit.turn for hit in found.hits] == [1, 0]


@pytest.mark.parametrize("ending", ["", "를", "는", "라도", "에서도", "까지는", "마저", "보다"])
def test_a_korean_word_is_found_whatever_endings_it_has_in_text_or_query(
    store: Store, write: Callable[..., None], ending: str
) -> None:
    write("n/ended", "X", kind="note", body=f"어제 끝말잇기{ending} 했다")
    write("n/bare", "Y", kind="note", body="끝말잇기 대회")
    write("n/none", "Z", kind="note", body="끝말은 잇기")
    for query in ("끝말잇기", f"끝말잇기{ending}"):
        found = {hit.slug for hit in find(store, "default", query, 5).hits}
        assert found == {"n/ended", "n/bare"}, query


@pytest.mark.parametrize("part", ["សាច់ជ្រូក", "ផ្សារ", "ข้าวผัด", "จตุจักร", "ເຂົ້າໜຽວ", "ဟင်းခါး"])
def test_a_part_of_what_scripts_of_clusters_write_in_one_is_found(
    store: Store, write: Callable[..., None], part: str
) -> None:
    body = "ខ្ញុំចូលចិត្តញ៉ាំបាយសាច់ជ្រូកនៅផ្សារធំថ្មី ฉันชอบกินข้าวผัดกะเพราที่ตลาดนัดจตุจักร ຂ້ອຍມັກກິນເຂົ້າໜຽວ ကျွန်တော်မုန့်ဟင်းခါးစားတယ်"
    write("n/all", "X", kind="note", body=body)
    write("n/none", "Y", kind="note", body="ចូលចិត្ត ฉันชอบ ກິນ စားတယ်")
    assert [hit.slug for hit in find(store, "default", part, 5).hits] == ["n/all"]


def test_one_of_several_statements_is_found_by_itself_at_nine_tenths(store: Store) -> None:
    words = WordVectors()
    said = "Any recipes for a sourdough bread with seeds? My brother repaired the greenhouse heater."
    writeback.bank(store, "default", "a", [Message("user", said)], gate=Gate(store, Key(None)), writer=HOOK, now=NOW)
    embed_waiting(store, words)
    query = "My brother repaired the greenhouse heater"
    (hit,) = find(store, "default", query, 5, SearchOptions("chunk", mode="vector"), SearchModels(words)).hits
    assert hit.lanes[0].score == pytest.approx(STATED, abs=1e-6)
    (hit,) = find(store, "default", said, 5, SearchOptions("chunk", mode="vector"), SearchModels(words)).hits
    assert hit.lanes[0].score == pytest.approx(1, abs=1e-6)
