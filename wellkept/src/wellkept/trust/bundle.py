"""Seals on the rows of an export: whether this installation wrote what a file says, word for word, labels included."""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from typing import Any

FIELD = "seal"


def sealed(key: bytes, row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with its seal: HMAC-SHA256 of its fields as canonical JSON, in hex.

    >>> is_sealed(b"k", sealed(b"k", {"id": "fact:1"})), is_sealed(b"k", {**sealed(b"k", {"id": "a"}), "id": "b"})
    (True, False)
    """
    return {**row, FIELD: _digest(key, row)}


def is_sealed(key: bytes, row: Mapping[str, Any]) -> bool:
    """Whether the row has the seal of this key, and nothing of it was changed since."""
    said = row.get(FIELD)
    return isinstance(said, str) and said.isascii() and hmac.compare_digest(said, _digest(key, row))


def _digest(key: bytes, row: Mapping[str, Any]) -> str:
    bare = {name: value for name, value in row.items() if name != FIELD}
    said = json.dumps(bare, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hmac.new(key, b"export\0" + said.encode(), "sha256").hexdigest()
