"""D9: places that data would leave by: addresses with a slot for it, and calls of tools written out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from wellkept.trust.detect.signs import Sign

_SLOT = (
    r"(?:\{\{?[\w .$-]{1,60}\}|%7[bB]|<[\w .-]{2,60}>|\[[\w .-]{2,60}\]|\$\{?[A-Za-z_]\w*"
    r"|[=/](?:DATA|SECRET|TOKEN|PASSWORD|KEY|BASE64|ENCODED)\b)"
)
_URL = re.compile(
    r"(?P<image>!\[[^\]\n]{0,200}\]\(\s{0,4}|<img[^>]{0,200}?src\s{0,4}=\s{0,4}[\"']?)?"
    rf"https?://[^\s?#)\"'<>]{{1,300}}[?#/][^\s\"')]{{0,300}}?{_SLOT}"
)
_CALL = re.compile(
    r"\{\s{0,8}\"(?:name|tool|function|tool_name)\"\s{0,4}:\s{0,4}\"[\w.-]{2,60}\"\s{0,4},"
    r"\s{0,8}\"(?:arguments|args|parameters|input|params)\"\s{0,4}:"
    r"|\b(?:call|invoke|run|execute|use|trigger)\s{1,8}(?:the\s{1,8})?[`'\"]?(?P<tool>[a-z]+(?:_[a-z]+)+)\b",
    re.IGNORECASE,
)
_GIVES_AWAY = re.compile(
    r"send|post|transfer|delete|forward|upload|share|grant|mail|pay|remove|exec|write|drop|publish|wire", re.IGNORECASE
)
_TARGET = re.compile(r"@[\w-]+\.\w|https?://|(?<!\w)\.?/\w|\bbefore\b", re.IGNORECASE)
_NEAR = 160


def sinks(text: str) -> Iterator[Sign]:
    """Addresses with a slot for data (sure in an image, which is fetched unasked) and calls of tools.

    A call of a tool that gives away or removes is sure where its target is told.
    """
    if "://" in text:
        for url in _URL.finditer(text):
            yield Sign("D9", url.start(), url.end(), sure=bool(url["image"]))
    if "_" not in text and '"' not in text:
        return
    for call in _CALL.finditer(text):
        tool = call["tool"] or ""
        told = _TARGET.search(text, call.end(), call.end() + _NEAR) if _GIVES_AWAY.search(tool) else None
        yield Sign("D9", call.start(), call.end(), sure=told is not None)
