"""Text, language, query syntax."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping

from brainbench.field import wording
from brainbench.field.draw import Draw
from brainbench.field.row import Case, Row, Told, add, find, get, listed, same, short
from brainbench.replay.items import Step

SENTENCES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "Chinese": (
        ("下周三的评审改到二楼会议室举行请大家提前到场", "会议室"),
        ("他把旧自行车卖给了楼下修表的师傅", "自行车"),
        ("明天早上我们坐渡轮去对岸买新鲜的海胆", "海胆"),
        ("姐姐在院子里种了三棵石榴树和一排薄荷", "石榴树"),
        ("医生说他的膝盖要休息六个星期才能爬山", "膝盖"),
        ("仓库的钥匙挂在发电机旁边的钉子上", "发电机"),
    ),
    "Japanese": (
        ("雨の日は祖母と縁側でしりとりをして過ごした", "しりとり"),
        ("来月から駅前の花屋で働くことになりました", "花屋"),
        ("弟は毎朝かならず納豆を二杯食べてから出かける", "納豆"),
        ("図書館の三階には古い地図が並んでいます", "図書館"),
        ("荷物は管理人さんにあずけておいてください", "管理人"),
        ("去年の夏は灯台まで自転車で走りました", "灯台"),
    ),
    "Korean": (
        ("우리는 기차에서 세 시간 동안끝말잇기를 하며 놀았다", "끝말잇기"),
        ("할머니댁마당에는커다란감나무가있다", "감나무"),
        ("다음 주부터수영장이공사로문을닫는다", "수영장"),
        ("동생은어제새로산망원경을조립했다", "망원경"),
        ("회사근처에작은빵집이하나생겼다", "빵집"),
        ("삼촌은등대옆에서생선을말린다", "등대"),
    ),
    "Thai": (
        ("พรุ่งนี้เราจะประชุมกันที่ห้องสมุดชั้นสองตอนบ่าย", "ห้องสมุด"),
        ("คุณลุงเลี้ยงผึ้งไว้หลังบ้านริมคลอง", "ผึ้ง"),
        ("น้องสาวของฉันเรียนตีระนาดทุกวันเสาร์", "ระนาด"),
        ("กุญแจรถแขวนอยู่ข้างตู้เย็นในครัว", "ตู้เย็น"),
        ("เขาย้ายไปทำงานที่ประภาคารทางใต้", "ประภาคาร"),
        ("แม่ปลูกต้นมะละกอไว้สามต้นหน้าบ้าน", "มะละกอ"),
    ),
    "Khmer": (
        ("ថ្ងៃស្អែកយើងជួបគ្នានៅបណ្ណាល័យជាន់ទីពីរ", "បណ្ណាល័យ"),
        ("ពូរបស់ខ្ញុំចិញ្ចឹមឃ្មុំនៅក្រោយផ្ទះ", "ឃ្មុំ"),
        ("ប្អូនស្រីរៀនលេងរនាតរៀងរាល់ថ្ងៃសៅរ៍", "រនាត"),
        ("សោឡានព្យួរនៅជិតទូទឹកកកក្នុងផ្ទះបាយ", "ទូទឹកកក"),
        ("ម្តាយដាំដើមល្ហុងបីដើមនៅមុខផ្ទះ", "ល្ហុង"),
        ("គាត់ជួសជុលកង់នៅជិតស្ពានចាស់", "ស្ពាន"),
    ),
}
"""By language sentences that belong together by nothing, each with a word of it that stands in no other one."""
_FAMILY = "👩‍👩‍👧‍👦"
_OPERATORS = (
    "don't",
    "GB/s",
    "20.04",
    '"--flag"',
    "a*b",
    "NOT ready",
    "col:x",
    "(",
    '"',
    "a AND",
    "^x",
    "NEAR(a b)",
    "-",
)


def inner_words(draw: Draw) -> Case:
    """Sentences of scripts without spaces, asked for by a word within."""
    (scope,) = draw.scopes(1)
    steps: list[Step] = []
    wanted: list[tuple[str, str]] = []
    for language, sentences in SENTENCES.items():
        order = draw.random.sample(sentences, len(sentences))
        steps += [add(f"{language} {number}", scope, text) for number, (text, _) in enumerate(order)]
        text, word = order[draw.number(2, 3)]
        wanted.append((language, text))
        steps.append(find(language, scope, word, 3))

    def check(told: Told) -> Iterator[str]:
        for language, text in wanted:
            if told.asked(language) and not any(same(text, found) for found in told.texts(language)):
                yield f"{language}: {told.call(language)}: expected {short(text)}, got {told.gave(language)}"

    return Case((scope,), tuple(steps), check)


def glued(draw: Draw) -> Case:
    """An identifier between Chinese characters."""
    (scope,) = draw.scopes(1)
    names = [
        f"{draw.pick(wording.GLUED_NAMES)}-{number}{letter}"
        for number, letter in zip(draw.random.sample(range(10, 99), 6), "abcdef", strict=True)
    ]
    patterns = draw.random.sample(wording.GLUED, 6)
    texts = [pattern.format(name) for pattern, name in zip(patterns, names, strict=True)]
    which = draw.number(2, 3)
    steps = (*(add(f"note {n}", scope, text) for n, text in enumerate(texts)), find("asked", scope, names[which], 2))

    def check(told: Told) -> Iterator[str]:
        yield from told.holds("asked", texts[which])

    return Case((scope,), steps, check)


def titles(draw: Draw) -> Case:
    """Titles of which nothing is left when only a-z and digits are kept."""
    (scope,) = draw.scopes(1)
    names = (*draw.random.sample(wording.TITLES, 4), "")
    facts = draw.facts(len(names))
    steps = (
        *(
            add(f"title {n}", scope, fact.text, title=name)
            for n, (name, fact) in enumerate(zip(names, facts, strict=True))
        ),
        *(find(f"body {n}", scope, fact.word) for n, fact in enumerate(facts)),
        *(get(f"get {n}", scope, f"title {n}", optional=True) for n in range(len(names))),
    )

    def check(told: Told) -> Iterator[str]:
        ids = [told[f"title {n}"].text for n in range(len(names))]
        if None not in ids and len(set(ids)) != len(names):
            yield f"add with the titles {', '.join(map(short, names))}: expected 5 ids, got {len(set(ids))}"
        for n, fact in enumerate(facts):
            if told.asked(f"body {n}") and not any(fact.text in text for text in told.texts(f"body {n}")):
                yield f"title {short(names[n])}: expected its text, got {told.gave(f'body {n}')}"
            if told.asked(f"get {n}") and not any(fact.text in text for text in told.texts(f"get {n}")):
                yield f"get of title {short(names[n])}: expected its text, got {told.gave(f'get {n}')}"

    return Case((scope,), steps, check)


def broken_characters(draw: Draw) -> Case:
    """Half an emoji, NUL, a family of one character, a long row of emoji; then an ordinary text."""
    (scope,) = draw.scopes(1)
    half, null, family, emoji, plain = draw.facts(5)
    steps = (
        add("half", scope, f"{half.text} \ud83d", may_fail=True),
        add("null", scope, f"{null.text} \x00 and on", may_fail=True),
        add("family", scope, f"{family.text} {_FAMILY}"),
        add("emoji", scope, f"{emoji.text} {'x' * draw.number(0, 3)}{'🚀' * 2000}"),
        add("plain", scope, plain.text),
        find("of half", scope, half.word),
        find("of null", scope, null.word),
        find("of the family", scope, family.word),
        find("of emoji", scope, emoji.word),
        find("of plain", scope, plain.word),
        listed("list", scope, optional=True),
    )

    def check(told: Told) -> Iterator[str]:
        yield from told.holds("of plain", plain.text)
        yield from told.holds("of the family", f"{family.text} {_FAMILY}")
        for label, fact in (("half", half), ("null", null)):
            if told.asked(label) and not any(fact.text in text for text in told.texts(f"of {label}")):
                gave = told.gave(f"of {label}")
                yield f"{told.call(label)}: expected the text or a refusal, got {gave} on {fact.word}"
        for text in (text for label in ("of half", "of emoji", "list") for text in told.texts(label)):
            if any("\ud800" <= character <= "\udfff" for character in text):
                yield f"expected whole characters, got half of one in {short(text)}"
        if told.asked("of emoji") and not any(emoji.text in text for text in told.texts("of emoji")):
            yield f"{told.call('of emoji')}: expected {short(emoji.text)}, got {told.gave('of emoji')}"

    return Case((scope,), steps, check)


def operators(draw: Draw) -> Case:
    """Plain questions that hold what query languages take for operators."""
    (scope,) = draw.scopes(1)
    (fact,) = draw.facts(1)
    word = draw.pick(wording.HYPHENS)
    hyphen = f"the {word} of {draw.name()} is due"
    said, wanted = draw.pick(wording.APOSTROPHES)
    don_t = said.format(n=draw.name())
    asked = draw.random.sample(_OPERATORS, len(_OPERATORS))
    steps = (
        add("fact", scope, fact.text),
        add("hyphen", scope, hyphen),
        add("don't", scope, don_t),
        *(find(f"query {number}", scope, query) for number, query in enumerate(asked)),
        find("empty", scope, "", may_fail=True),
        find("spaces", scope, "   ", may_fail=True),
        find("pre-edit", scope, word, 2),
        find("apostrophe", scope, wanted, 2),
        find("after", scope, fact.word),
    )

    def check(told: Told) -> Iterator[str]:
        yield from told.holds("pre-edit", hyphen)
        yield from told.holds("apostrophe", don_t)
        yield from told.holds("after", fact.text)

    return Case((scope,), steps, check)


def verbatim_names(draw: Draw) -> Case:
    """Names in other scripts, as they were given."""
    (scope,) = draw.scopes(1)
    people = [(draw.pick(texts), name) for name, *texts in draw.random.sample(wording.PEOPLE, len(wording.PEOPLE))]
    steps = (
        *(add(name, scope, text) for text, name in people),
        *(find(f"of {name}", scope, name, 2) for _, name in people),
    )

    def check(told: Told) -> Iterator[str]:
        for text, name in people:
            yield from told.holds(f"of {name}", text)

    return Case((scope,), steps, check)


def forms(draw: Draw) -> Case:
    """Composed and decomposed letters, other cases, fullwidth letters."""
    (scope,) = draw.scopes(1)
    town = draw.town()
    names = [draw.pick(kind) for kind in wording.FORMS]
    sentences = draw.pick(wording.OF_FORMS)
    texts = {name: text.format(name, t=town) for (name, _), text in zip(names, sentences, strict=True)}
    marked = names[0][0]
    asked = (
        ("decomposed", unicodedata.normalize("NFD", marked), marked),
        *((f"typed {number}", typed, name) for number, (name, typed) in enumerate(names)),
    )
    others = draw.facts(3)
    steps = (
        *(add(name, scope, text) for name, text in texts.items()),
        *(add(fact.name, scope, fact.text) for fact in others),
        *(find(label, scope, query, 2) for label, query, _ in asked),
    )

    def check(told: Told) -> Iterator[str]:
        for label, query, name in asked:
            yield from told.holds(label, texts[name])
            for found in told.texts(label):
                if same(found, texts[name]) and found.strip() != texts[name]:
                    yield f"find({short(query)}): expected the text as it was given, got another form of it"

    return Case((scope,), steps, check)


def nearly_the_same(draw: Draw) -> Case:
    """Variants of one text, and a text that differs by a mark that means something."""
    (scope,) = draw.scopes(1)
    thing, name = draw.pick(wording.LIKED), draw.name()
    text = draw.pick(wording.LIKES).format(n=name, w=thing)
    variants = (text, text.replace(f" {thing}", f"  {thing}"), f"{text} ", unicodedata.normalize("NFD", text))
    steps = (
        *(add(f"variant {number}", scope, variant) for number, variant in enumerate(variants)),
        add("question", scope, f"{text}?"),
        find("found", scope, text, 20),
        listed("list", scope, optional=True),
    )

    def check(told: Told) -> Iterator[str]:
        for label in ("found", "list"):
            yield from told.holds(label, text, f"{text}?")

    return Case((scope,), steps, check)


def inverted(draw: Draw) -> Case:
    """Sentences whose meaning turns when a part is lost."""
    (scope,) = draw.scopes(1)
    name, town = draw.name(), draw.town()
    kinds = [draw.pick(kind) for kind in wording.TURNING]
    texts = [text.format(n=name, t=town) for text, _ in kinds]
    asked = [word for _, word in kinds]
    steps = (
        *(add(f"said {number}", scope, text) for number, text in enumerate(texts)),
        *(find(word, scope, word) for word in asked),
        listed("list", scope, optional=True),
    )

    def check(told: Told) -> Iterator[str]:
        for label, text in zip(asked, texts, strict=True):
            yield from told.holds(label, text)
        for label in (*asked, "list"):
            for found in told.texts(label):
                if name in found and not any(same(found, text) for text in texts):
                    yield f"{told.call(label)}: expected what was said, got {short(found)}"

    return Case((scope,), steps, check)


ROWS = (
    Row("TXT-01", 1, "a word inside a Chinese, Japanese, Korean, Thai or Khmer sentence finds it", inner_words),
    Row("TXT-02", 2, "an identifier glued to Chinese is found", glued),
    Row("TXT-03", 1, "titles without a-z are told apart and every body is readable", titles),
    Row("TXT-04", 1, "half a character or NUL is mended or refused alone, and later items are well", broken_characters),
    Row("TXT-05", 2, "operators in a plain question are text", operators),
    Row(
        "TXT-06",
        2,
        "names come back as they were written (on the raw path; translating is an LLM's fault)",
        verbatim_names,
    ),
    Row("TXT-07", 2, "letters match in every form and case, and come back as given", forms),
    Row(
        "TXT-08",
        3,
        "a question in another language",
        unasked="graded, not passed or failed: it depends on the embedder",
    ),
    Row("TXT-09", 2, "what differs by more than spaces and form is kept apart", nearly_the_same),
    Row("TXT-10", 1, "no text says the opposite of what was said", inverted),
)
