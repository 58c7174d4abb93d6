"""Whole conversations in many languages: what is said in passing must find its page."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from wellkept.ingest import writeback
from wellkept.ingest.markdown import parse_page
from wellkept.model import HOOK, CandidateFact, Message, Trust, WriteReceipt
from wellkept.providers.scripted import ScriptedExtractor
from wellkept.storage import Store, open_store
from wellkept.trust.gate import Gate, Key

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


def bank(store: Store, *how: Any, **more: Any) -> WriteReceipt:
    return writeback.bank(store, *how, gate=Gate(store, Key(None)), writer=HOOK, **more)


@dataclass(frozen=True, slots=True)
class Scene:
    """Pages (slug, title, type, aliases), what was said, and facts (turn, mention, fact, slug wanted)."""

    pages: list[tuple[str, str, str, str]]
    said: list[str]
    facts: list[tuple[int, str | None, str, str | None]]


SCENES = {
    "english": Scene(
        [
            ("people/ida-marsh", "Ida Marsh", "person", "ida"),
            ("companies/tinware-co", "Tinware Co", "company", ""),
            ("people/sam-a", "Sam Abara", "person", "Sam"),
            ("people/sam-b", "Sam Bellweather", "person", "Sam"),
            ("projects/gantry", "Gantry", "project", "the gantry move"),
            ("companies/abara", "Abara Labs", "company", ""),
        ],
        [
            "Just got off the call with Ida Marsh.",
            "She is worried the tinware-co pricing model undercuts their margin.",
            "Tinware Co's runway is 9 months",
            "Met Sam Bellweather at the gate",
            "Sam wants a discount, and he said Abara Labs does too",
            "Gantry slips to June; it needs two more people",
            "they hired a CFO",
        ],
        [
            (1, "She", "She is worried about the pricing", "people/ida-marsh"),
            (1, "tinware-co", "The pricing undercuts the margin", "companies/tinware-co"),
            (1, "the tinware-co pricing model", "The model undercuts the margin", "companies/tinware-co"),
            (2, "Tinware Co's", "The runway is 9 months", "companies/tinware-co"),
            (3, "ida", "Was not there", "people/ida-marsh"),
            (4, "Sam", "Wants a discount", "people/sam-b"),
            (4, "he", "He said so", "people/sam-b"),
            (4, "Abara Labs", "Wants one too", "companies/abara"),
            (4, "Sam's request", "It is about price", "people/sam-b"),
            (5, "it", "It needs two people", "projects/gantry"),
            (6, "they", "They hired a CFO", "companies/abara"),
        ],
    ),
    "german": Scene(
        [
            ("leute/uwe", "Uwe Brandstätter", "person", "Uwe"),
            ("leute/ina", "Ina Kolb", "person", "Ina"),
            ("firmen/kolb", "Kolb Elektro GmbH", "company", "Kolb Elektro"),
            ("orte/laube", "Gartenlaube", "place", "die Laube"),
        ],
        [
            "uwe hat angerufen wegen der laube",
            "er will das dach selber decken",
            "Ina meint, die Laube braucht neue Fenster. Sie bezahlt die Hälfte",
            "Kolb elektro kommt am Dienstag, die rechnen 60 die Stunde",
            "Uwes Bruder hilft",
            "er nimmt kein Bargeld",
        ],
        [
            (1, None, "Er will das Dach selber decken", "leute/uwe"),
            (1, "er", "Uwe will das Dach decken", "leute/uwe"),
            (2, "Sie", "Sie bezahlt die Hälfte", "leute/ina"),
            (2, "die Laube", "Die Laube braucht Fenster", "orte/laube"),
            (3, "Kolb elektro", "Die Stunde kostet 60", "firmen/kolb"),
            (4, "Uwes Bruder", "Der Bruder hilft", "leute/uwe"),
            (4, None, "Der Bruder von Uwe hilft", "leute/uwe"),
            (5, "er", "Er nimmt kein Bargeld", "leute/uwe"),
        ],
    ),
    "russian": Scene(
        [
            ("люди/марина", "Марина Седова", "person", "Марина, Маринка"),
            ("проекты/маяк", "Маяк", "project", ""),
            ("люди/глеб", "Глеб Орлов", "person", "Глеб"),
        ],
        [
            "Сегодня говорил с Мариной про Маяк",
            "она хочет сдвинуть запуск на май",
            "Глебу нужен доступ к серверу",
            "у Седовой отпуск в июле",
            "в Маяке баг",
        ],
        [
            (0, None, "Разговор с Мариной", "люди/марина"),
            (1, "она", "Хочет сдвинуть запуск на май", "люди/марина"),
            (1, None, "Она хочет сдвинуть запуск", "люди/марина"),
            (2, None, "Глебу нужен доступ", "люди/глеб"),
            (2, "Глебу", "Нужен доступ", "люди/глеб"),
            (3, "Седовой", "Отпуск в июле", "люди/марина"),
            (4, "Маяке", "Есть баг", "проекты/маяк"),
        ],
    ),
    "japanese": Scene(
        [("人/田中", "田中太郎", "person", "田中さん, 田中"), ("会社/青空", "株式会社青空", "company", "青空")],
        ["田中さんと会った", "彼は来週休みだ", "青空は値上げする", "田中さんが言った"],
        [
            (1, "彼", "来週休み", "人/田中"),
            (1, None, "来週は休みだ", "人/田中"),
            (2, "青空", "値上げ", "会社/青空"),
            (3, None, "田中さんが言ったこと", "人/田中"),
        ],
    ),
    "arabic": Scene(
        [("ناس/سلمى", "سلمى الخطيب", "person", "سلمى"), ("ناس/يوسف", "يوسف منصور", "person", "يوسف")],
        ["التقيت بسلمى اليوم", "هي تريد السعر الجديد", "قال يوسف إنه مسافر", "وسلمى وافقت"],
        [
            (0, None, "لقاء اليوم", "ناس/سلمى"),
            (1, "هي", "تريد السعر", "ناس/سلمى"),
            (2, "يوسف", "مسافر", "ناس/يوسف"),
            (3, "وسلمى", "وافقت", "ناس/سلمى"),
            (3, None, "وسلمى وافقت على ذلك", "ناس/سلمى"),
        ],
    ),
    "turkish": Scene(
        [("kisi/defne", "Defne Aksoy", "person", "Defne"), ("proje/liman", "Liman", "project", "")],
        ["Defne'yle konuştum", "o yarın gelmeyecek", "Liman'ın bütçesi 400 bin", "Aksoy'un arabası bozuk"],
        [
            (0, None, "Defne'yle görüşme", "kisi/defne"),
            (1, "o", "Yarın gelmeyecek", "kisi/defne"),
            (2, "Liman'ın", "Bütçe 400 bin", "proje/liman"),
            (3, "Aksoy'un", "Araba bozuk", "kisi/defne"),
        ],
    ),
    "spanish": Scene(
        [
            ("p/chema", "José María Otxoa", "person", "Chema"),
            ("p/lourdes", "Lourdes Basterra", "person", "Lourdes"),
            ("c/taller", "Taller Zubieta", "company", "el taller"),
        ],
        [
            "hablé con chema por el taller",
            "dice que cierra en agosto",
            "Lourdes le debe 300 euros",
            "el taller ya no acepta tarjeta",
            "ella paga mañana",
        ],
        [
            (1, None, "Dice que cierra en agosto", None),
            (1, None, "Chema dice que el local cierra en agosto", "p/chema"),
            (2, "Lourdes", "Debe 300", "p/lourdes"),
            (2, "le", "Chema recibe 300 euros", "p/chema"),
            (3, "el taller", "Ya no acepta tarjeta", "c/taller"),
            (4, "ella", "Paga mañana", "p/lourdes"),
            (4, None, "Ella paga mañana", "p/lourdes"),
        ],
    ),
    "polish": Scene(
        [("o/kasia", "Katarzyna Wilk", "person", "Kasia"), ("o/marek", "Marek Zając", "person", "Marek")],
        ["rozmawiałem z Kasią", "ona woli środę", "Markowi kończy się umowa", "spotkanie z Kasią Wilk"],
        [
            (0, None, "Rozmowa z Kasią", "o/kasia"),
            (0, "Kasią", "Rozmowa", "o/kasia"),
            (1, "ona", "Woli środę", "o/kasia"),
            (2, "Markowi", "Kończy się umowa", "o/marek"),
        ],
    ),
}


@pytest.mark.req("C-505", "C-506")
@pytest.mark.parametrize("name", SCENES)
def test_every_fact_of_a_scene_finds_its_page(name: str) -> None:
    scene = SCENES[name]
    store = open_store("sqlite", ":memory:")
    for slug, title, kind, aliases in scene.pages:
        content = f"---\ntitle: {title}\ntype: {kind}\naliases: [{aliases}]\n---\n\nBody.\n"
        store.put_page(*parse_page("default", slug, content, trust=Trust.USER_WRITTEN, now=NOW))
    said = [Message("user", text, NOW, str(turn)) for turn, text in enumerate(scene.said)]
    script = [CandidateFact(fact, "fact", mention, scene.said[turn]) for turn, mention, fact, _ in scene.facts]
    bank(store, "default", "s", said, extractor=ScriptedExtractor(script), now=NOW)
    found = {fact.text: fact.entity for fact in store.facts("default")}
    store.close()
    assert found == {fact: wanted for _, _, fact, wanted in scene.facts}
