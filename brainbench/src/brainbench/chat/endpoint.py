"""An OpenAI-compatible endpoint: who answers, how often it is tried, and what its refusals mean."""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Callable, Mapping
from typing import Any, NoReturn
from urllib.parse import SplitResult, urlsplit

import httpx

from brainbench.chat.budget import Budget
from brainbench.chat.records import Answer, kept, request_hash
from brainbench.errors import CallFailed, EndpointError, UsageError

RETRIES = 3
"""How often a question is asked again after a transport error."""
LONGEST_PAUSE = 30.0
"""Seconds. An endpoint that asks for a longer pause is not waited for."""
_PAUSES = (0.5, 1.0, 2.0)
_BUSY = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_REFUSED = {401: "the key is refused", 402: "payment is required", 403: "the key may not do this"}
_LARGEST = 1 << 24
"""Bytes of one answer."""


class Endpoint:
    """Where a model is asked. The key is sent to this host only, and is in no message, record or `repr`."""

    def __init__(
        self,
        url: str,
        *,
        key: str | None = None,
        key_name: str = "OPENAI_API_KEY",
        seconds: float = 120.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        parts = _parts(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
            raise UsageError(f"--endpoint: {_shown(url)} is no address; give it as https://host/v1")
        local = _is_loopback(parts.hostname)
        if key and parts.scheme == "http" and not local:
            raise UsageError(f"--endpoint: http to {parts.hostname} would send the key unencrypted; use https")
        self.host = parts.netloc
        self._url = url.rstrip("/")
        self._key, self._key_name, self._sleep = key, key_name, sleep
        self._client = httpx.Client(
            headers={"authorization": f"Bearer {key}"} if key else {}, timeout=seconds, trust_env=not local
        )

    def close(self) -> None:
        """Release the connections."""
        self._client.close()

    def check(self, model: str) -> None:
        """EndpointError unless the endpoint can be reached and, where it lists its models, has this one."""
        try:
            listed = self._client.get(f"{self._url}/models", timeout=10.0)
        except httpx.HTTPError as error:
            raise EndpointError(
                f"--endpoint: {self.host} cannot be reached: {self._without_key(str(error)) or type(error).__name__}. "
                "Start the server, mend the address, or replay answers with --recorded DIR"
            ) from None
        if listed.status_code in _REFUSED:
            self._refuse(listed)
        names = _model_names(listed)
        if names and model not in names:
            raise EndpointError(f"--model: {self.host} has no {model!r}; it has {', '.join(sorted(names)[:20])}")

    def complete(self, body: Mapping[str, object], budget: Budget) -> Answer:
        """The answer to a question, tried again on transport errors. What failed midway may have been paid for."""
        why = ""
        for attempt in range(RETRIES + 1):
            reserved = budget.reserve(body)
            cost = 0.0
            pause = _PAUSES[min(attempt, len(_PAUSES) - 1)]
            started = time.perf_counter()
            try:
                response = self._client.post(f"{self._url}/chat/completions", json=dict(body))
                if response.status_code == 200 and (document := _object(response)) is not None:
                    taken = round((time.perf_counter() - started) * 1000, 1)
                    answer = Answer(request_hash(body), kept(self._scrubbed(response, document)), taken)
                    cost = budget.price.of(*answer.tokens) if any(answer.tokens) else reserved
                    return answer
                cost = reserved if response.status_code == 200 else 0.0
                why, pause = self._why_not(response, pause)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                why = f"{self.host} cannot be reached: {self._without_key(str(error))}"
            except httpx.HTTPError as error:
                cost = reserved
                why = f"{self.host}: {type(error).__name__}: {self._without_key(str(error)) or 'no answer'}"
            finally:
                budget.settle(reserved, cost)
            if attempt < RETRIES:
                self._sleep(pause)
        raise CallFailed(f"{why} (tried {RETRIES + 1} times)")

    def _why_not(self, response: httpx.Response, pause: float) -> tuple[str, float]:
        """Why this was no answer, and how long to wait. Raises where trying again cannot help."""
        status, said = response.status_code, self._words(response)
        if status == 200:
            return f"{self.host} answered what is no JSON object", pause
        if status in _REFUSED:
            self._refuse(response)
        if status == 404:
            raise EndpointError(f"--endpoint, --model: {self.host} does not know the address or the model: {said}")
        if status not in _BUSY:
            raise CallFailed(f"{self.host} refuses the question (HTTP {status}): {said}{_hint(said)}")
        asked = _seconds(response.headers.get("retry-after"))
        if asked is not None and asked > LONGEST_PAUSE:
            raise CallFailed(f"{self.host} asks for a pause of {asked:g} s (HTTP {status}); run again later")
        return f"{self.host} answers HTTP {status}: {said}{_hint(said)}", pause if asked is None else asked

    def _refuse(self, response: httpx.Response) -> NoReturn:
        remedy = f"put a valid key into the environment variable {self._key_name}"
        if self._key is None:
            remedy = f"{self._key_name} is not set: {remedy}"
        why = _REFUSED[response.status_code]
        raise EndpointError(f"{self.host}: {why} (HTTP {response.status_code}); {remedy}")

    def _words(self, response: httpx.Response) -> str:
        document = _object(response) or {}
        error = document.get("error")
        said = error.get("message") if isinstance(error, dict) else error
        text = said if isinstance(said, str) else response.text
        line = " ".join(self._without_key(text).split())[:200]
        return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line) or "no reason given"

    def _without_key(self, text: str) -> str:
        return text.replace(self._key, "[key]") if self._key else text

    def _scrubbed(self, response: httpx.Response, document: dict[str, Any]) -> dict[str, Any]:
        """The document without the key, should the endpoint have repeated it."""
        if not self._key or self._key not in response.text:
            return document
        scrubbed = _mapped(document, self._without_key)
        return scrubbed if isinstance(scrubbed, dict) else {}


def _parts(url: str) -> SplitResult:
    parts = urlsplit(url)
    try:
        _ = parts.port
    except ValueError:
        return urlsplit("")
    return parts


def _mapped(value: object, change: Callable[[str], str]) -> object:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_mapped(item, change) for item in value]
    if isinstance(value, dict):
        return {change(str(key)): _mapped(item, change) for key, item in value.items()}
    return value


def _object(response: httpx.Response) -> dict[str, Any] | None:
    if len(response.content) > _LARGEST:
        return None
    try:
        document = response.json()
    except ValueError:
        return None
    return document if isinstance(document, dict) else None


def _model_names(response: httpx.Response) -> set[str]:
    """The ids and aliases that an endpoint lists; empty where it lists none."""
    listed = (_object(response) or {}).get("data") if response.status_code == 200 else None
    names: set[str] = set()
    for entry in listed if isinstance(listed, list) else ():
        if isinstance(entry, dict):
            aliases = entry.get("aliases")
            names |= {str(n) for n in (entry.get("id"), *(aliases if isinstance(aliases, list) else ())) if n}
    return names


def _hint(said: str) -> str:
    if "tool" not in said.lower():
        return ""
    return ". The model or its server takes no tools: use one that does, or measure --arms off,push"


def _seconds(value: str | None) -> float | None:
    try:
        return max(0.0, float(value)) if value is not None else None
    except ValueError:
        return None


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _shown(url: str) -> str:
    """The address without what may be a secret in it."""
    return repr(url.rpartition("@")[2].partition("?")[0])
