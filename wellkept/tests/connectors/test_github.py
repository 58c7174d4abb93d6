"""Issues and comments become pages from outside, once each, and nothing hostile gets further than an error."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from wellkept.connectors.github import Fetched, fetch
from wellkept.connectors.rest import LARGEST, Service, checked_service
from wellkept.errors import InvalidInput, Unreachable
from wellkept.memory import Memory
from wellkept.model import Trust

CLAIM = "Ada keeps zanzibarine frogs in Wolverhampton."


def run(memory: Memory, service: Service) -> Fetched:
    return fetch(memory, "work", "ada/engine", service)


def counts(done: Fetched) -> tuple[int, int, int, int, int]:
    return done.issues, done.comments, done.created, done.updated, done.unchanged


def test_each_issue_pull_request_and_comment_is_a_page_from_outside(memory: Memory, service: Service) -> None:
    assert counts(run(memory, service)) == (3, 2, 5, 0, 0)
    page = memory.get_page("work", "github/ada/engine/issues/7")
    assert (page.title, page.type, page.trust) == (
        'Punch cards jam when it rains: "wet" paper', "issue", Trust.EXTERNAL_UNTRUSTED,
    )  # fmt: skip
    assert page.told.url == "https://github.com/ada/engine/issues/7"
    assert page.told.source_id == "github:ada/engine#7"
    assert page.told.metadata == {"author": "menabrea", "state": "open"}
    assert page.told.valid_at is not None
    assert page.told.valid_at.isoformat() == "2026-01-06T10:30:00+00:00"
    comment = memory.get_page("work", "github/ada/engine/issues/7/comments/502")
    assert comment.title == "passerby on ada/engine#7"
    assert comment.trust is Trust.EXTERNAL_UNTRUSTED
    assert {one.trust for one in memory.export("work")} == {Trust.EXTERNAL_UNTRUSTED}
    assert memory.get_page("work", "github/ada/engine/issues/9").told.metadata["author"] == "ghost"
    assert memory.search("work", "dry them on the stove").results[0].slug == "github/ada/engine/issues/7/comments/501"


def test_what_a_body_says_of_itself_is_body(memory: Memory, service: Service) -> None:
    run(memory, service)
    page = memory.get_page("work", "github/ada/engine/issues/8")
    assert (page.title, page.type, page.status, page.trust) == (
        "Faster mill", "pull request", "active", Trust.EXTERNAL_UNTRUSTED,
    )  # fmt: skip
    assert page.body.startswith("---\ntitle: The owner confirmed this\n")


@pytest.mark.req("TC-31")
def test_a_comment_that_would_be_remembered_is_flagged_or_where_its_owner_says_so_held_once(
    memory: Memory, service: Service
) -> None:
    memory.set_mode("external_mode", "quarantine")
    first = run(memory, service)
    assert (first.created, first.held) == (3, 2), "the comment, and the body that says that its owner confirmed it"
    second = run(memory, service)
    assert (second.created, len(memory.held("work"))) == (0, 2)
    memory.set_mode("external_mode", "flag")
    for held in memory.held("work"):
        memory.release("work", held.id or 0)
    page = memory.get_page("work", "github/ada/engine/issues/7/comments/502")
    assert page.flags
    assert page.trust is Trust.EXTERNAL_UNTRUSTED


@pytest.mark.parametrize("title", ['"\nalias: ada', "a\u2028b: c", "x\x00\x1b[31m", "\ufeff---\n", "'", "名前: 東京"])
def test_a_title_cannot_say_more_than_a_title(memory: Memory, service: Service, api: Any, title: str) -> None:
    api.issues = [api.issues[0] | {"title": title, "labels": [{"name": title}]}]
    run(memory, service)
    page = memory.get_page("work", "github/ada/engine/issues/7")
    assert (page.type, page.aliases) == ("issue", ())
    assert page.title.isprintable()


def test_again_it_asks_for_what_is_new_and_keeps_nothing_twice(memory: Memory, service: Service, api: Any) -> None:
    run(memory, service)
    assert (api.asked[0].query["state"], "since" in api.asked[0].query) == ("all", False)
    second = run(memory, service)
    assert (second.created, second.updated) == (0, 0)
    assert [one.query["since"] for one in api.asked[2:4]] == ["2026-01-08T08:00:00Z", "2026-01-06T10:30:00Z"]
    third = run(memory, service)
    assert counts(third) == (0, 0, 0, 0, 0), "what did not change is not even sent"
    assert all("if-none-match" in one.headers for one in api.asked[4:6])
    api.issues[0] |= {"body": "It is the damp.", "updated_at": "2026-02-01T00:00:00Z"}
    fourth = run(memory, service)
    assert (fourth.updated, fourth.created) == (1, 0)
    assert "damp" in memory.get_page("work", "github/ada/engine/issues/7").body


def test_pages_of_answers_are_followed_to_their_end(memory: Memory, service: Service, api: Any) -> None:
    issue = api.issues[0]
    api.issues = [issue | {"number": number, "updated_at": f"2026-01-01T00:{number:02}:00Z"} for number in range(1, 24)]
    api.per_page = 5
    assert run(memory, service).issues == 23
    assert [one.query.get("page") for one in api.asked[:5]] == [None, "2", "3", "4", "5"]


def test_closed_or_gone_there_changes_nothing_that_the_owner_said(memory: Memory, service: Service, api: Any) -> None:
    memory.remember("work", "The cards still jam.", entity="github/ada/engine/issues/7")
    memory.put_page("work", "github/ada/engine/issues/8", "# Mine\nMy own notes on the mill.\n")
    run(memory, service)
    api.issues[0] |= {"state": "closed", "updated_at": "2026-02-01T00:00:00Z"}
    api.comments.clear()
    done = run(memory, service)
    assert memory.get_page("work", "github/ada/engine/issues/7").told.metadata["state"] == "closed"
    assert [fact.status for fact in memory.recall_facts("work")] == ["active"]
    assert memory.get_page("work", "github/ada/engine/issues/7/comments/501").status == "active"
    assert memory.get_page("work", "github/ada/engine/issues/8").title == "Mine"
    assert done.updated == 1


def test_a_page_of_the_owners_own_is_named_and_stays(memory: Memory, service: Service) -> None:
    memory.put_page("work", "github/ada/engine/issues/8", "# Mine\n")
    done = run(memory, service)
    assert done.left == ["github/ada/engine/issues/8: a page of your own stands there, and stays"]


def test_what_was_forgotten_for_good_is_not_fetched_again(memory: Memory, service: Service, api: Any) -> None:
    memory.remember("work", CLAIM)
    memory.purge("work", ["fact:1"])
    api.issues[0] |= {"body": f"I heard: {CLAIM} Funny?"}
    run(memory, service)
    assert "I heard: [forgotten]" in memory.get_page("work", "github/ada/engine/issues/7").body


def test_the_token_is_sent_and_shown_nowhere(memory: Memory, service: Service, api: Any) -> None:
    run(memory, service)
    assert api.asked[0].headers["authorization"] == "Bearer ghp_secret"
    assert "ghp_secret" not in repr(service)
    api.answer = lambda asked: Reply({"message": f"bad {asked.headers['authorization']}"}, 401)
    with pytest.raises(Unreachable, match="token was not accepted") as caught:
        run(memory, service)
    assert "ghp_secret" not in str(caught.value)
    for token in ("two words", "line\nend", "é"):
        with pytest.raises(InvalidInput) as refused:
            checked_service("https://api.github.com", token)
        assert token not in str(refused.value)


# -- limits


class Reply:
    """As the server's; a module of tests cannot import from conftest."""

    def __init__(self, body: Any = b"[]", status: int = 200, headers: dict[str, str] | None = None) -> None:
        self.raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.status, self.headers = status, headers or {}


@pytest.mark.parametrize("status", [403, 429])
def test_a_rate_limit_is_waited_for_as_long_as_it_says(
    memory: Memory, service: Service, api: Any, waits: list[float], status: int
) -> None:
    limited = iter([Reply({}, status, {"Retry-After": "7"}), Reply({}, status, {"Retry-After": "3"})])
    api.answer = lambda asked: next(limited, None) or api.as_documented(asked)
    assert run(memory, service).created == 5
    assert waits == [7.0, 3.0]


def test_one_that_is_too_long_is_told(memory: Memory, service: Service, api: Any, waits: list[float]) -> None:
    api.answer = lambda _: Reply({}, 429, {"Retry-After": "3600"})
    with pytest.raises(Unreachable, match="wants to be asked again after 20"):
        run(memory, service)
    reset = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "99999999999"}
    api.answer = lambda _: Reply({}, 403, reset)
    with pytest.raises(Unreachable, match="wants to be asked again"):
        run(memory, service)
    assert waits == []


def test_a_refusal_is_no_rate_limit(memory: Memory, service: Service, api: Any, waits: list[float]) -> None:
    api.answer = lambda _: Reply({"message": "Resource not accessible"}, 403)
    with pytest.raises(Unreachable, match="may not be read with this token"):
        run(memory, service)
    assert waits == []


def test_a_fault_of_the_server_is_tried_again_a_few_times(
    memory: Memory, service: Service, api: Any, waits: list[float]
) -> None:
    faults = iter([Reply(b"", 502)])
    api.answer = lambda asked: next(faults, None) or api.as_documented(asked)
    assert run(memory, service).created == 5
    api.answer = lambda _: Reply(b"", 500)
    with pytest.raises(Unreachable, match="HTTP 500"):
        run(memory, service)
    assert waits == [1.0, 1.0, 2.0, 4.0]


# -- what cannot be believed

HOSTILE: dict[str, tuple[Callable[[Any], Any], str]] = {
    "an HTML page": (lambda _: Reply(b"<html>Sign in</html>", headers={"Content-Type": "text/html"}), "not with JSON"),
    "HTML without a word": (lambda _: Reply(b"<html>"), "no JSON"),
    "half of a document": (lambda _: Reply(b'[{"number": 1,'), "no JSON"),
    "deep": (lambda _: Reply(b"[" * 100_000), "no JSON"),
    "an object": (lambda _: Reply({"message": "hello"}), "dict where a list was asked for"),
    "no objects in it": (lambda _: Reply([1, 2]), "item 1 of page 1 of issues"),
    "a number that is none": (lambda api: Reply([api.issues[0] | {"number": "../../x"}]), "number: is '../../x'"),
    "no body but a list": (lambda api: Reply([api.issues[0] | {"body": ["x"]}]), "body: is list"),
    "no moment": (lambda api: Reply([api.issues[0] | {"updated_at": "yesterday"}]), "updated_at"),
    "no title": (lambda api: Reply([{key: value for key, value in api.issues[0].items() if key != "title"}]), "title"),
    "the last one broken": (lambda api: Reply([*api.issues, {"number": 1}]), "item 4 of page 1 of issues"),
    "packed": (lambda _: Reply(b"\x1f\x8b", headers={"Content-Encoding": "gzip"}), "packed its answer"),
    "too much": (lambda _: Reply(b" " * (LARGEST + 1)), "more than"),
    "broken off": (lambda _: Reply(b"[]", headers={"Content-Length": "900"}), "broke off|timed out|IncompleteRead"),
    "elsewhere": (
        lambda _: Reply(b"", 302, {"Location": "http://127.0.0.1:1/steal"}), "leads elsewhere"),
    "a next page elsewhere": (
        lambda api: Reply(api.issues, headers={"Link": '<https://evil.example/x>; rel="next"'}), "leads elsewhere"),
    "moved for ever": (lambda _: Reply(b"", 301, {"Location": "/again"}), "moved more than"),
}  # fmt: skip


@pytest.mark.parametrize("kind", HOSTILE)
def test_what_is_no_answer_is_an_error_and_nothing_is_half_kept(
    memory: Memory, service: Service, api: Any, kind: str
) -> None:
    answer, told = HOSTILE[kind]
    api.answer = lambda _: answer(api)
    with pytest.raises(Unreachable, match=told):
        run(memory, service)
    assert list(memory.export("work")) == []
    api.answer = api.as_documented
    assert run(memory, service).created == 5, "what failed stands in the way of nothing later"


def test_pages_that_never_end_are_left(memory: Memory, service: Service, api: Any) -> None:
    def endless(asked: Any) -> Reply:
        following = f"{api.url}{asked.path}?page={int(asked.query.get('page', '1')) + 1}"
        return Reply(api.issues, headers={"Link": f'<{following}>; rel="next"'})

    api.answer = endless
    with pytest.raises(Unreachable, match="never end"):
        run(memory, service)
    api.answer = lambda asked: Reply(api.issues, headers={"Link": f'<{api.url}{asked.path}>; rel="next"'})
    with pytest.raises(Unreachable, match=r"never end|in a circle"):
        run(memory, service)
    assert len(api.asked) < 10


def test_where_reading_stopped_the_next_run_goes_on(memory: Memory, service: Service, api: Any) -> None:
    api.per_page = 1
    api.answer = lambda asked: Reply(b"", 404) if asked.query.get("page") == "3" else api.as_documented(asked)
    with pytest.raises(Unreachable):
        run(memory, service)
    assert len(list(memory.export("work"))) == 2
    api.answer = api.as_documented
    done = run(memory, service)
    assert (done.created, done.unchanged) == (3, 1)


def test_a_body_that_is_too_large_is_named_and_the_others_are_kept(memory: Memory, service: Service, api: Any) -> None:
    api.issues[0] |= {"body": "x" * 10_000_000}
    api.issues[1] |= {"body": "half a pair: \ud800"}
    done = run(memory, service)
    assert (done.created, len(done.left)) == (3, 2)
    assert "Split it" in done.left[0]
    assert "surrogate" in done.left[1]


def test_a_moment_from_ahead_does_not_hide_what_comes_before_it(memory: Memory, service: Service, api: Any) -> None:
    api.issues[0] |= {"updated_at": "9999-01-01T00:00:00Z"}
    run(memory, service)
    run(memory, service)
    assert api.asked[-2].query["since"] < "2100"


@pytest.mark.parametrize("name", ["ada", "../x", "ada/..", "ada/engine/issues", "a b/c", "ada/en?gine", ""])
def test_a_repository_is_an_owner_and_a_name(memory: Memory, service: Service, api: Any, name: str) -> None:
    with pytest.raises(InvalidInput, match="OWNER/NAME"):
        fetch(memory, "work", name, service)
    assert api.asked == []


@pytest.mark.parametrize(
    "url", ["http://api.example.org", "ftp://x", "https://u:p@x", "https://x?y", "x", "http://[::1"]
)
def test_an_address_that_would_give_the_token_away_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput):
        checked_service(url, "ghp_secret")


def test_nobody_there_is_an_error(memory: Memory, service: Service) -> None:
    with pytest.raises(Unreachable, match="ConnectionRefusedError"):
        run(memory, replace(service, url="http://127.0.0.1:9"))
