"""One question to a model's server, over the interface that most of them share."""

from __future__ import annotations

import http.client
import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from wellkept.errors import ModelUnavailable

_LARGEST = 1 << 26


@dataclass(frozen=True, slots=True)
class Address:
    """Where a model answers, as https://host/v1, with a key if it needs one, and how long to wait for it."""

    url: str
    key: str | None = field(default=None, repr=False)
    seconds: float = 60.0


def post(to: Address, path: str, body: Mapping[str, object]) -> bytes:
    """The answer to a JSON document. Raises ModelUnavailable with the server's own reason, never with the key."""
    parts = urlsplit(to.url)
    headers = {"content-type": "application/json"}
    if to.key:
        headers["authorization"] = f"Bearer {to.key}"
    connection = _connection(parts.scheme, parts.hostname or "", parts.port, to.seconds)
    try:
        connection.request("POST", f"{parts.path.rstrip('/')}{path}", json.dumps(body).encode(), headers)
        response = connection.getresponse()
        answer = response.read(_LARGEST)
    except (OSError, http.client.HTTPException) as error:
        raise ModelUnavailable(to.url, f"{type(error).__name__}: {error}") from None
    finally:
        connection.close()
    if response.status != 200:
        raise ModelUnavailable(to.url, f"HTTP {response.status}{_reason(answer, to.key)}")
    return answer


def _connection(scheme: str, host: str, port: int | None, seconds: float) -> http.client.HTTPConnection:
    if scheme == "https":
        return http.client.HTTPSConnection(host, port, timeout=seconds, context=ssl.create_default_context())
    return http.client.HTTPConnection(host, port, timeout=seconds)


def _reason(answer: bytes, key: str | None) -> str:
    """What the server says of a refusal, in a line and without the key."""
    document: Any
    try:
        document = json.loads(answer)
    except (ValueError, RecursionError):
        return ""
    error = document.get("error") if isinstance(document, dict) else None
    said = error.get("message") if isinstance(error, dict) else error
    if not isinstance(said, str):
        return ""
    line = " ".join((said.replace(key, "[key]") if key else said).split())[:200]
    return f": {line}"
