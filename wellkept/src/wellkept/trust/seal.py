"""Seals: what makes a stored row tell whether somebody without the key has changed it. Pure functions.

A seal is HMAC-SHA256, under a key of its own for each purpose, of the name of a table and the row's columns, written as
JSON: each name and value ends where it ends and has its type, so that no two rows are written alike. A column that is
NULL is left out: one that is added to a table later changes no seal of the rows that were there.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from functools import lru_cache

Value = str | int | float | bytes | None
LABELS = ("row", "head", "receipt")
"""What seals are made for. The digests of what was forgotten are made with the key itself, as they always were."""
_FORM = "wk1"
_JSON = json.JSONEncoder(ensure_ascii=False).encode


def seal(key: bytes, label: str, table: str, fields: Mapping[str, Value]) -> bytes:
    """The seal of a row of a table, made for `label`, of LABELS.

    >>> seal(bytes(32), "row", "facts", {"id": 1, "text": "tea"}).hex()[:16]
    '57671068c545636a'
    """
    return hmac.digest(subkey(key, label), _encoded(table, fields), "sha256")


def verify(key: bytes, label: str, table: str, fields: Mapping[str, Value], found: bytes | None) -> bool:
    """Whether that is the seal of the row."""
    return found is not None and hmac.compare_digest(seal(key, label, table, fields), found)


@lru_cache(maxsize=16)
def subkey(key: bytes, label: str) -> bytes:
    """The key for one purpose: HKDF-SHA256 (RFC 5869), 32 bytes, without salt."""
    if label not in LABELS:
        raise ValueError(label)
    extracted = hmac.digest(bytes(32), key, "sha256")
    return hmac.digest(extracted, f"wellkept {label}\x01".encode(), "sha256")


def _encoded(table: str, fields: Mapping[str, Value]) -> bytes:
    said = {
        name: ["bytes", value.hex()] if isinstance(value, bytes) else value
        for name, value in fields.items()
        if value is not None
    }
    return _JSON([_FORM, table, said]).encode("utf-8", "surrogatepass")
