"""A memory as a server: `--system http://127.0.0.1:9000`. Each method is `POST /v1/<method>`.

The server is its owner's: the bench neither starts nor ends it, and bounds only what it takes from it: the time of a
call and the size of an answer. Redirects, proxies and compressed answers are not followed.
"""

from __future__ import annotations

import ipaddress
import time
from typing import Any

import httpx

from brainbench import __version__
from brainbench.errors import SystemFailure, SystemLost, UsageError
from brainbench.systems.access import Access
from brainbench.systems.wire import MOST_ANSWER_BYTES, Answer, Remote, decoded, encoded, result_of, too_big


def checked_url(name: str, access: Access, url: str) -> httpx.URL:
    """The address of a memory. UsageError for another machine that was not allowed, and for secrets in the address."""
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise UsageError(f"--system: {name}: {error}") from None
    if parsed.userinfo or parsed.query or parsed.fragment:
        raise UsageError("--system: an address of host, port and path only; give a token by --token-env NAME")
    if not parsed.host:
        raise UsageError(f"--system: {name}: no host in the address")
    here = _is_here(parsed.host)
    if not here and not access.remote:
        raise UsageError(
            f"--system: {name}: {parsed.host} is not this machine; --allow-remote measures a memory elsewhere"
        )
    if not here and access.token is not None and parsed.scheme != "https":
        raise UsageError(f"--token-env: a token goes to another machine over https only, not to {name}")
    return parsed


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def headers_of(access: Access) -> dict[str, str]:
    """What is sent with every request."""
    token = {"Authorization": f"Bearer {access.token}"} if access.token is not None else {}
    return {"User-Agent": f"brainbench/{__version__}", "Accept-Encoding": "identity", **token}


class Web(Remote):
    """A memory behind an HTTP address."""

    def __init__(self, name: str, access: Access) -> None:
        self.name, self._access = name, access
        url = checked_url(name, access, name)
        self._base = str(url).rstrip("/")
        # Environment variables of proxies and certificates are the caller's, not the memory's.
        self.call_seconds = access.call_seconds
        self._client = httpx.Client(headers=headers_of(access), trust_env=False, follow_redirects=False)
        self.greet()
        self.alone = True

    def ask(self, method: str, params: Any) -> bytes:
        deadline = self.deadline()
        try:
            told, status = self._posted(f"{self._base}/v1/{method}", encoded(params), deadline)
        except httpx.TimeoutException:
            raise SystemLost(self.too_slow()) from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise SystemLost(f"no answer: {error}; see that the memory runs at {self._base}") from None
        what = f"answered status {status} with what is no answer"
        answer: Answer = decoded(told, Answer, what)
        if status != httpx.codes.OK and answer.error is None:
            raise SystemFailure(what)
        return result_of(answer)

    def drop(self) -> None:
        if self.lost is None:
            self._client.close()

    def _posted(self, url: str, body: bytes, deadline: float) -> tuple[bytes, int]:
        """The bytes and status of an answer. Each wait is bounded by what is left of the call, and so is their sum."""
        told = bytearray()
        headers = {"Content-Type": "application/json"}
        seconds = max(deadline - time.monotonic(), 0.0)
        with self._client.stream("POST", url, content=body, headers=headers, timeout=seconds) as response:
            coding = response.headers.get("Content-Encoding", "identity")
            if coding != "identity":
                raise SystemFailure(f"answered with Content-Encoding {coding}, which was not asked for")
            for chunk in response.iter_raw():
                told += chunk
                if len(told) > MOST_ANSWER_BYTES:
                    raise too_big()
                if time.monotonic() > deadline:
                    raise SystemLost(self.too_slow("no whole answer"))
            return bytes(told), response.status_code
