"""Finding pages by their words."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wellkept.recall import search
from wellkept.recall.search import WORDS, content_words
from wellkept.storage import Store


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
