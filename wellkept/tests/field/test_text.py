"""Any text of any language is kept as it is, found by what stands in it, and asked about in plain words."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wellkept.memory import Memory
from wellkept.model import Message

SENTENCES = {
    "zh": ("明天下午三点在会议室讨论预算", ("会议室", "预算", "讨论预算")),
    "ja": ("昨日友達としりとりをして遊んだ", ("しりとり", "友達")),
    "ko": ("어제 친구들과 끝말잇기를 하며 놀았다", ("끝말잇기", "친구들")),
    "th": ("พรุ่งนี้เราจะประชุมที่ห้องประชุมใหญ่", ("ห้องประชุม", "ประชุม")),
    "km": ("ខ្ញុំចូលចិត្តផឹកកាហ្វេនៅពេលព្រឹក", ("កាហ្វេ",)),
    "lo": ("ມື້ອື່ນພວກເຮົາຈະປະຊຸມຢູ່ຫ້ອງໃຫຍ່", ("ປະຊຸມ",)),
    "my": ("မနက်ဖြန် ရုံးခန်းမှာ အစည်းအဝေးရှိတယ်", ("အစည်းအဝေး",)),
    "glued zh": ("昨天重跑build-7f后通过", ("build-7f", "build-7F")),
    "glued ja": ("サーバをnginx-2.1に更新した", ("nginx-2.1",)),
    "glued th": ("ระบบใช้redis-7เมื่อวาน", ("redis-7",)),
}


@pytest.mark.field("TXT-01", "TXT-02")
@pytest.mark.parametrize("through", ["python", "http"])
def test_a_word_inside_a_sentence_without_spaces_is_found(doors: dict[str, Any], scope: str, through: str) -> None:
    door = doors[through]
    for language, (sentence, _) in SENTENCES.items():
        door("put_page", scope, slug=language, content=sentence)
        door("remember", scope, text=sentence)
    missed = [
        (language, word)
        for language, (sentence, words) in SENTENCES.items()
        for word in words
        if language not in door.ids("search", scope, word, limit=3)
        or sentence not in door.texts("recall", scope, word, limit=3)
    ]
    assert missed == []


TITLES = ("季度计划", "旅行清单", "🚀", "🎯", "", "!!!", "Ünï", "uni", "план", "计划 1", "计划-1")


@pytest.mark.field("TXT-03")
def test_titles_of_any_script_are_pages_of_their_own(place: Any, doors: dict[str, Any], scope: str) -> None:
    headers = {"Authorization": f"Bearer {place.token(scope)}"}
    ids = {}
    for title in TITLES[:4] + TITLES[5:]:
        body = {"name": title, "content": f"body of {title}"}
        answer = place.client.post("/api/entities", json=body, headers=headers)
        assert answer.status_code == 201, answer.text
        ids[title] = answer.json()["entity"]["id"]
    nameless = place.client.post("/api/entities", json={"name": "", "content": "x"}, headers=headers)
    assert (nameless.status_code, nameless.json()["code"]) == (422, "invalid_params")
    assert len(set(ids.values())) == len(ids)
    for title, number in ids.items():
        assert doors["python"]("get_page", scope, slug=number)["content"].endswith(f"body of {title}")


@pytest.mark.field("TXT-03")
def test_conversations_of_any_name_are_pages_of_their_own(memory: Memory) -> None:
    names = [name for name in TITLES if name]
    slugs = {memory.bank("default", name, (Message("user", f"said in {name}"),)).slug for name in names}
    assert len(slugs) == len(names)
    assert None not in slugs


HALVES = ("\ud83d", "a \udc00 b", "\ude80\ud83d", "end \ud83d")


@pytest.mark.field("TXT-04")
@pytest.mark.parametrize("text", [*HALVES, "a\0b", "\0"])
def test_half_an_emoji_or_a_nul_costs_itself_only(
    door: Any, scope: str, text: str, refused: Callable[..., Any]
) -> None:
    door("remember", scope, text="before it")
    code = "unreadable" if door.name == "mcp" and "\0" not in text else "invalid_params"
    for verb, asked in (
        ("remember", {"text": text}),
        ("put_page", {"slug": "a", "content": text}),
        ("recall", {"query": text}),
        ("entity", {"name": text}),
        ("context_pack", {"goal": text}),
    ):
        said = refused(door, verb, scope, **asked)
        if (door.name, verb) == ("cli", "put_page") and "\0" not in text:
            assert (said.code, "not UTF-8 text" in said.detail) == ("bad_request", True)
        else:
            assert said.code == code, (verb, said)
        assert "\ud83d" not in said.detail
    door("remember", scope, text="after it")
    assert door.texts("recall", scope, "it") == ["after it", "before it"]


@pytest.mark.field("TXT-04")
@pytest.mark.parametrize("whole", ["👨\u200d👩\u200d👧", "🚀", "e\u0301\u0323", "นี้", "🏳️\u200d🌈"])
def test_no_cut_splits_a_letter_wherever_it_falls(memory: Memory, whole: str) -> None:
    for number in (1190, 1196, 1198, 1199, 1200, 1201):
        text = "x" * number + f"{whole}harbour"
        memory.put_page("default", f"p{number}", f"---\ntitle: {text}\nsummary: {text}\n---\n{text}")
        assert memory.get_page("default", f"p{number}").content.endswith(text)
    shown = memory.context("default", (Message("user", "harbour p1199?"),)).text
    shown += memory.context_pack("default", "harbour", markdown_token_budget=500).markdown
    shown += " ".join(hit.content for hit in memory.search("default", "harbour"))
    shown.encode()
    assert "\ufffd" not in shown


QUERIES = (
    "don't",
    "pre-edit",
    "GB/s",
    "20.04",
    '"--flag"',
    "--flag",
    "a*b",
    "NOT ready",
    "ready AND NOT edit",
    "col:x",
    "text:pre",
    "(",
    ")",
    "NEAR(a b)",
    '"',
    '""',
    "'",
    "^x",
    "a;DROP TABLE pages",
    "{x}",
    "%",
    "_",
    "\\",
    " ",
)


@pytest.mark.field("TXT-05")
def test_operators_in_a_plain_question_are_text(door: Any, scope: str) -> None:
    page = "We don't ship before the pre-edit at 2 GB/s on 20.04 with --flag, NOT ready."
    door("put_page", scope, slug="notes", content=page)
    door("put_page", scope, slug="bakery", content="The bakery is closed on Sunday.")
    door("remember", scope, text="pre-edit comes first")
    for query in QUERIES:
        if not query.strip():
            continue
        found = door.ids("recall", scope, query)
        assert "bakery" not in found, query
        assert sorted(door.ids("search", scope, query)) == sorted(found)
        if query in ("don't", "pre-edit", "GB/s", "20.04", '"--flag"', "--flag"):
            assert "notes" in found, query
        if query == "pre-edit":
            assert len(found) == 2
        door("context", scope, text=query)


@pytest.mark.field("TXT-05")
def test_an_empty_question_is_refused_by_name_at_every_door_but_pythons(
    door: Any, scope: str, refused: Callable[..., Any]
) -> None:
    door("remember", scope, text="one thing")
    for verb in ("recall", "search"):
        for empty in ("", "  "):
            if door.name == "python":
                assert door.ids(verb, scope, empty) == []
            else:
                assert refused(door, verb, scope, query=empty).code == "invalid_params"


VERBATIM = (
    "王小雨在云川科技做会计",
    "Łukasz Źrebiec mieszka w Świdnicy",
    "Ο Νίκος Παπαδόπουλος μένει στη Θεσσαλονίκη",
    "محمد العربي يسكن في فاس",
    "אבי כהן גר בחיפה",
    "Нгуен живёт в Уфе",
    "अनिल कुमार पुणे में रहते हैं",
    "e\u0301cole et \u00e9cole",
    "Ａｄａ １２３",
)


@pytest.mark.field("TXT-06", "TXT-07", "TXT-10")
def test_what_is_kept_comes_back_letter_by_letter_in_its_own_language(door: Any, scope: str) -> None:
    for number, text in enumerate(VERBATIM):
        door("put_page", scope, slug=f"p{number}", content=text)
        door("remember", scope, text=text)
        assert door("get_page", scope, slug=f"p{number}")["content"] == text
        assert text in door.texts("recall", scope, text)
        name = " ".join(text.split()[:2])[:12]
        assert text in door.texts("recall", scope, name), name


SPELLINGS = (
    ("Zoë Ångström paints", unicodedata.normalize("NFD", "Zoë Ångström")),
    (unicodedata.normalize("NFD", "Zoë Ångström paints"), "Zoë Ångström"),
    ("Zoë Ångström paints", "zoe angstrom"),
    ("İrem paints", "irem"),
    ("IŞIK paints", "ışık"),
    ("Die Straße ist gesperrt", "strasse"),
    ("Ｗｉｄｅ letters", "wide"),
    ("Łukasz Źrebiec mieszka w Świdnicy", "lukasz zrebiec"),
    ("Nguyễn sống ở Huế", "nguyen hue"),
    ("한국어 공부", unicodedata.normalize("NFD", "한국어")),
    ("Ёлка в парке", "елка"),
    ("Ο ΝΙΚΟΣ μένει εδώ", "νικος"),
)


@pytest.mark.field("TXT-07")
@pytest.mark.parametrize(("kept", "query"), SPELLINGS)
def test_accents_case_and_width_are_forgiven_in_the_question_and_kept_in_the_answer(
    memory: Memory, told: Callable[..., list[str]], kept: str, query: str
) -> None:
    memory.put_page("default", "other", "The bakery is closed on Sunday")
    memory.put_page("default", "a", kept)
    memory.remember("default", kept)
    assert told(memory, query) == [kept, f"a\n{kept}"]


@pytest.mark.field("TXT-09")
def test_spellings_of_one_sentence_are_one_and_another_sentence_is_not_lost(door: Any, scope: str) -> None:
    for text in ("likes  café", "likes café ", unicodedata.normalize("NFD", "likes café"), "LIKES CAFÉ"):
        door("remember", scope, text=text)
    others = ("likes café?", "likes cafe", "like café", "likes café!", "dislikes café")
    for text in others:
        assert door("remember", scope, text=text)["status"] == "created"
    assert len(door("recall", scope, query="café cafe", limit=50)["memories"]) == 1 + len(others)


TURNED = (
    "whenever the tests fail, page me",
    "you don't need to remind me about lunch",
    "never deploy on Friday unless Noor says so",
    "I no longer dislike olives",
    "don't not call",
)


@pytest.mark.field("TXT-10")
def test_nothing_that_is_returned_says_the_opposite_of_what_was_told(door: Any, scope: str) -> None:
    for text in TURNED:
        door("remember", scope, text=text)
    for text in TURNED:
        assert set(door.texts("recall", scope, text, limit=50)) <= set(TURNED)
        assert text in door.texts("recall", scope, text)


@pytest.mark.field("TXT-04", "TXT-05", "TXT-06")
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=60))
def test_any_text_is_kept_to_the_letter_and_any_text_can_be_asked(memory: Memory, text: str) -> None:
    memory.put_page("default", "any", text)
    assert memory.get_page("default", "any").content == text
    if text.strip():
        made = memory.remember("default", text)
        assert text in [fact.text for fact in memory.recall_facts("default") if fact.id == made.facts[0]]
        memory.forget("default", [f"fact:{made.facts[0]}"])
    memory.search("default", text)
    memory.recall("default", text)
    memory.context("default", (Message("user", text),))
