"""D4: text that pretends to be a turn, a role, a tool's answer or the border of what surrounds it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator

from wellkept.trust.detect.signs import Sign

_TAGS = (
    "system|assistant|developer|human|instructions?|important|information|admin|prompt|tool_(?:result|call|use|output)s?"
    r"|function_(?:call|result)s?|invoke|external[-_]data|untrusted[\w-]*|system[-_](?:reminder|prompt|note|message)"
    "|user[-_](?:input|query|message|turn|data)|assistant[-_]\\w+|memory|memories|trusted[\\w-]*|sys|inst|context|thinking"
)
_BRACKETS = re.compile(
    r"<\|[\w -]{2,30}\|>|<<\s{0,4}/?\s{0,4}SYS\s{0,4}>>|\[\s{0,4}/?\s{0,4}INST\s{0,4}\]|<(?:start|end)_of_turn>"
    rf"|<\s{{0,4}}/?\s{{0,4}}(?:{_TAGS})(?:\s[^<>]{{0,200}})?/?\s{{0,4}}>"
    r"|^[\W_]{0,12}\[\s{0,4}(?:system|developer|admin|assistant)(?:[ _-](?:message|note|prompt|update))?\s{0,4}\]"
    r"|^[\W_]{0,12}\(\s{0,4}(?:system|developer|admin)[ _-](?:message|note|prompt|update|instruction)s?\s{0,4}\)"
    r"|<\s{0,4}/?\s{0,4}(?:im_start|im_end|endoftext|eot_id|s)\s{0,4}>",
    re.IGNORECASE | re.MULTILINE,
)
_JSON_ROLE = re.compile(r"[\"']role[\"']\s{0,4}:\s{0,4}[\"'](?:system|developer|assistant|tool)[\"']")
_BORDERS = re.compile(
    r"^[\W_]{0,12}(?:end[ _]of[ _](?:the[ _])?"
    r"(?:document|user|input|context|data|untrusted|external|system|prompt|message|conversation|tool|email|file|page"
    r"|article|review|transcript)s?"
    r"|(?:begin|start)[ _](?:of[ _])?(?:(?:new|system|admin|priority)[ _])+(?:instruction|prompt|message|session)s?)\b",
    re.IGNORECASE | re.MULTILINE,
)
_ROLE = re.compile(
    r"^[\W_]{0,6}(?P<role>system|assistant|developer)"
    r"(?P<more>[ _-](?:message|note|prompt|update|override|instruction|alert|notice)s?)?"
    r"[*_]{0,2}[ \t]{0,3}:[ \t*_]{0,4}(?=\S)",
    re.IGNORECASE | re.MULTILINE,
)
_NOTE = re.compile(
    r"^[\W_]{0,6}(?:(?:note|message|avis|nota|avviso|messaggio|mensaje|aviso|mensagem|instrucci[oó]n|consigne)[ \t]"
    r"(?:d[eiou] |d[eo]l )?(?:syst[eè]me|sistema)"
    r"|system(?:hinweis|nachricht|meldung|anweisung|melding|bericht|instructie)"
    r"|(?:komunikat|notatka|wiadomość) systemow[ya]|(?:системн(?:ое|а|е)|системная) "
    r"(?:сообщение|инструкция|примечание"
    r"|повідомлення|інструкція|примітка)|sistem (?:notu|mesajı|talimatı)|(?:رسالة|ملاحظة|تنبيه) (?:من )?النظام"
    r"|(?:הודעת|הערת|הנחיית) (?:ה)?מערכת|सिस्टम (?:नोट|संदेश|निर्देश)|系[统統](?:消息|提示|通知|指令|訊息)"
    r"|システム(?:メッセージ|通知|指示|注記)|시스템 ?(?:메시지|알림|지시|공지))[ \t]{0,3}[:：]",
    re.IGNORECASE | re.MULTILINE,
)
_ADDRESSED = re.compile(
    r"\b(?:you(?:r|'re)?|ignore|disregard|forget|call|must|reveal|grant|comply|new|instructions?|override|the user"
    r"|sure|here is|of course|okay|understood)\b",
    re.IGNORECASE,
)
_FENCE = re.compile(r"^[ \t]{0,3}(```|~~~).*?(?:^[ \t]{0,3}\1|\Z)", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"`[^`\n]{1,300}`")
_OURS = re.compile(r"external[-_]data", re.IGNORECASE)


_FORGED = (
    (_BRACKETS, "<[("),
    (_JSON_ROLE, ("role",)),
    (_BORDERS, ("nd of", "nd_of", "begin", "start")),
    (_NOTE, ":："),
)
"""What is forged, and what must stand in a text for it to be worth a look."""
_ROLES = ("system", "assistant", "developer")


def markup(text: str) -> Iterator[Sign]:
    """Forged turns, roles, tool results and borders. What is shown as code is no sure sign, but for our own border."""
    lower = text.lower()
    found = [
        (one.start(), one.end(), True)
        for pattern, needed in _FORGED
        if any(part in lower for part in needed)
        for one in pattern.finditer(text)
    ]
    if any(role in lower for role in _ROLES):
        for role in _ROLE.finditer(text):
            rest = text[role.end() : role.end() + 160].split("\n", 1)[0]
            found.append((role.start("role"), role.end(), bool(role["more"] or _ADDRESSED.search(rest))))
    if not found:
        return
    code = shown_as_code(text)
    for start, end, sure in sorted(found):
        yield Sign("D4", start, end, sure and (not code(start, end) or _OURS.search(text, start, end) is not None))


def shown_as_code(text: str) -> Callable[[int, int], bool]:
    """Tells whether text[start:end] stands within a fence or between backticks."""
    shown = sorted((one.start(), one.end()) for pattern in (_FENCE, _CODE) for one in pattern.finditer(text))

    def within(start: int, end: int) -> bool:
        before = bisect_right(shown, (start, len(text)))
        return any(end <= stop for _, stop in shown[max(0, before - 2) : before])

    return within
