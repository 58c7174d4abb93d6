"""The languages and topics of the adversarial corpus."""

from __future__ import annotations

from collections.abc import Mapping

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "pl", "ru", "tr", "ar", "zh", "ja", "ko", "hi")
TOPICS = ("pay", "tool", "mail", "plan", "docs")
TOPIC_OF: Mapping[str, str] = {
    "A1": "docs",
    "A2": "plan",
    "A3": "plan",
    "A4": "pay",
    "A5": "mail",
    "A6": "tool",
    "A7": "docs",
    "A8": "plan",
    "A9": "mail",
    "A10": "docs",
    "A11": "plan",
    "A12": "mail",
    "A13": "tool",
    "A14": "docs",
}
"""What a payload of each class is about."""
