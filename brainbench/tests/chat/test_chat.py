from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from brainbench.chat import Budget, Chat, Endpoint, Records
from brainbench.chat.budget import Price
from brainbench.chat.endpoint import RETRIES
from brainbench.errors import CallFailed, EndpointError, IncompatibleError, OverBudget, UsageError

from ..fake_endpoint import FakeEndpoint, Said, completion, fake_endpoint, refusal

KEY = "sk-very-secret-0123456789"
BODY = {"model": "made-up", "messages": [{"role": "user", "content": "Hello?"}], "temperature": 0, "max_tokens": 20}
FREE = Price(0.0, 0.0)


@pytest.fixture
def fake() -> Iterator[FakeEndpoint]:
    with fake_endpoint() as endpoint:
        yield endpoint


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def endpoint(fake: FakeEndpoint, pauses: list[float]) -> Iterator[Endpoint]:
    opened = Endpoint(fake.url, key=KEY, seconds=2.0, sleep=pauses.append)
    yield opened
    opened.close()


def chat(endpoint: Endpoint | None, records: Records | None = None, *, limit: float = 5.0, price: Price = FREE) -> Chat:
    return Chat("made-up", records=records, endpoint=endpoint, budget=Budget(limit, price))


def test_an_answer_tells_its_words_and_what_it_took(endpoint: Endpoint, fake: FakeEndpoint) -> None:
    fake.in_turn(completion("Good day.", tokens=(1000, 500)))
    reply = chat(endpoint, price=Price(1.0, 2.0)).ask(BODY, "a test")
    assert (reply.text, reply.input_tokens, reply.output_tokens, reply.usd) == ("Good day.", 1000, 500, 0.002)
    assert fake.asked == [BODY]
    assert fake.keys == [f"Bearer {KEY}"]


def test_tool_calls_are_read_also_where_arguments_are_no_text(endpoint: Endpoint, fake: FakeEndpoint) -> None:
    document = json.loads(completion("", ("search", "{}")).body)
    document["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] = {"query": "Ada"}
    fake.in_turn(Said(json.dumps(document).encode()))
    (call,) = chat(endpoint).ask(BODY, "a test").tool_calls
    assert (call.name, json.loads(call.arguments)) == ("search", {"query": "Ada"})


@pytest.mark.req("C-1004")
@pytest.mark.parametrize(
    "trouble",
    [
        refusal(429, "Rate limit reached"),
        refusal(500, "Internal"),
        refusal(503, "Loading model"),
        Said(b"", hang_up=True),
        Said(b"<html>bad gateway</html>"),
        Said(b'{"choices": ['),
    ],
    ids=["429", "500", "503", "hung up", "no JSON", "torn JSON"],
)
def test_a_transport_error_is_tried_again_three_times_and_then_an_error(
    endpoint: Endpoint, fake: FakeEndpoint, pauses: list[float], trouble: Said
) -> None:
    fake.in_turn(trouble, trouble, trouble, completion("At last."))
    assert chat(endpoint).ask(BODY, "a test").text == "At last."
    fake.asked.clear()
    fake.in_turn(trouble)
    with pytest.raises(CallFailed, match="tried 4 times"):
        chat(endpoint).ask(BODY, "a test")
    assert len(fake.asked) == RETRIES + 1
    assert len(pauses) == 2 * RETRIES


def test_an_endpoint_that_asks_for_a_pause_is_given_it_unless_it_is_long(
    endpoint: Endpoint, fake: FakeEndpoint, pauses: list[float]
) -> None:
    fake.in_turn(refusal(429, "Slow down", retry_after="7"), completion("Now."))
    assert chat(endpoint).ask(BODY, "a test").text == "Now."
    assert pauses == [7.0]
    fake.in_turn(refusal(429, "Quota used up", retry_after="3600"))
    with pytest.raises(CallFailed, match="pause of 3600 s"):
        chat(endpoint).ask(BODY, "a test")


def test_a_slow_endpoint_is_not_waited_for_without_end(fake: FakeEndpoint) -> None:
    fake.in_turn(Said(b"{}", wait=0.6))
    opened = Endpoint(fake.url, seconds=0.1, sleep=lambda _: None)
    with pytest.raises(CallFailed, match="ReadTimeout"):
        chat(opened).ask(BODY, "a test")
    opened.close()


@pytest.mark.parametrize(
    "document",
    [{}, {"choices": []}, {"choices": [{"message": "hi"}]}, {"choices": [{"message": {"content": 7}}]}, {"choices": 3}],
)
def test_what_is_no_chat_completion_is_an_error_and_no_silence(
    endpoint: Endpoint, fake: FakeEndpoint, document: object
) -> None:
    fake.in_turn(Said(json.dumps(document).encode()))
    with pytest.raises(CallFailed, match="no chat completion"):
        chat(endpoint).ask(BODY, "a test")
    assert len(fake.asked) == 1


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (refusal(401, f"Incorrect API key provided: {KEY}"), "OPENAI_API_KEY"),
        (refusal(403, "no"), "OPENAI_API_KEY"),
        (refusal(404, "The model does not exist"), "does not know the address or the model"),
    ],
)
def test_what_no_second_try_can_mend_is_told_at_once(
    endpoint: Endpoint, fake: FakeEndpoint, answer: Said, said: str
) -> None:
    fake.in_turn(answer)
    with pytest.raises(EndpointError, match=said) as caught:
        chat(endpoint).ask(BODY, "a test")
    assert not isinstance(caught.value, CallFailed)
    assert len(fake.asked) == 1
    assert KEY not in str(caught.value)


def test_a_model_without_tools_is_told_with_what_to_do(endpoint: Endpoint, fake: FakeEndpoint) -> None:
    fake.in_turn(refusal(400, "this model does not support tools"))
    with pytest.raises(CallFailed, match="--arms off,push"):
        chat(endpoint).ask(BODY, "a test")


@pytest.mark.req("C-120")
def test_an_endpoint_or_model_that_is_not_there_is_said_before_anything_is_asked(
    endpoint: Endpoint, fake: FakeEndpoint
) -> None:
    endpoint.check("made-up")
    with pytest.raises(EndpointError, match="has no 'other'; it has made-up"):
        endpoint.check("other")
    fake.models = None
    endpoint.check("other")
    with pytest.raises(EndpointError, match="cannot be reached"):
        Endpoint("http://127.0.0.1:9/v1").check("made-up")
    assert fake.asked == []


@pytest.mark.parametrize(
    "url", ["localhost:8080", "ftp://x/v1", "http://me:pw@host/v1", "https:///v1", "https://h/v1?k=v", "http://h:x/v1"]
)
def test_an_address_that_cannot_be_used_is_refused_without_its_secrets(url: str) -> None:
    with pytest.raises(UsageError, match="--endpoint") as caught:
        Endpoint(url)
    assert "pw" not in str(caught.value)


def test_no_key_goes_over_the_network_unencrypted() -> None:
    with pytest.raises(UsageError, match="unencrypted"):
        Endpoint("http://models.example/v1", key=KEY)
    Endpoint("http://models.example/v1").close()
    Endpoint("https://models.example/v1", key=KEY).close()


@pytest.mark.req("C-1005")
def test_the_worst_case_is_set_aside_before_a_question_and_what_it_cost_is_booked(
    endpoint: Endpoint, fake: FakeEndpoint
) -> None:
    fake.in_turn(completion("Yes.", tokens=(50, 10)))
    price = Price(0.0, 1_000_000.0)
    asker = chat(endpoint, limit=35.0, price=price)
    asker.ask(BODY, "the first")
    assert asker.budget.spent == 10.0
    asker.ask(BODY, "the second")
    with pytest.raises(OverBudget, match=r"20\.0000 of 35 USD"):
        asker.ask(BODY, "the third, which can cost 20")
    assert len(fake.asked) == 2
    assert asker.exhausted is not None


def test_an_answer_lost_on_the_way_may_have_been_paid_for(fake: FakeEndpoint, endpoint: Endpoint) -> None:
    fake.in_turn(Said(b"", hang_up=True), refusal(500, "no"), completion("Yes.", tokens=(50, 10)))
    asker = chat(endpoint, limit=100.0, price=Price(0.0, 1_000_000.0))
    asker.ask(BODY, "a test")
    assert asker.budget.spent == 20.0 + 0.0 + 10.0
    assert asker.budget.reserved == 0.0


def test_an_answer_that_does_not_count_its_tokens_costs_the_worst_case(endpoint: Endpoint, fake: FakeEndpoint) -> None:
    document = json.loads(completion("Yes.").body)
    del document["usage"]
    fake.in_turn(Said(json.dumps(document).encode()))
    asker = chat(endpoint, limit=100.0, price=Price(0.0, 1_000_000.0))
    asker.ask(BODY, "a test")
    assert asker.budget.spent == 20.0


@pytest.mark.req("C-1005")
def test_what_was_recorded_is_never_paid_for_again_and_needs_no_endpoint(
    endpoint: Endpoint, fake: FakeEndpoint, tmp_path: Path
) -> None:
    fake.in_turn(completion("Once.", tokens=(50, 10)))
    price = Price(0.0, 1_000_000.0)
    records = Records.for_writing(tmp_path / "kept", "made-up", endpoint.host)
    chat(endpoint, records, limit=30.0, price=price).ask(BODY, "a test")
    again = chat(endpoint, Records.for_writing(tmp_path / "kept", "made-up", endpoint.host), limit=0.0, price=price)
    assert again.ask(BODY, "a test").text == "Once."
    assert (again.budget.spent, again.spent.usd, again.spent.new) == (0.0, 10.0, 0)
    alone = chat(None, Records.open(tmp_path / "kept"), limit=0.0)
    assert alone.ask(dict(reversed(BODY.items())), "a test").text == "Once."
    assert len(fake.asked) == 1
    assert alone.host == endpoint.host


def test_a_question_that_was_not_recorded_is_named(tmp_path: Path) -> None:
    alone = chat(None, Records.for_writing(tmp_path, "made-up", "host"), limit=0.0)
    with pytest.raises(EndpointError, match=r"no answer is recorded in .* for fixture x/3.*--record DIR"):
        alone.ask(BODY, "fixture x/3")


def test_a_failure_is_replayed_as_one_but_asked_again_when_recording(
    endpoint: Endpoint, fake: FakeEndpoint, tmp_path: Path
) -> None:
    fake.in_turn(refusal(400, "context too long"))
    with pytest.raises(CallFailed):
        chat(endpoint, Records.for_writing(tmp_path, "made-up", endpoint.host)).ask(BODY, "a test")
    with pytest.raises(CallFailed, match="context too long"):
        chat(None, Records.open(tmp_path)).ask(BODY, "a test")
    fake.in_turn(completion("Better."))
    records = Records.for_writing(tmp_path, "made-up", endpoint.host)
    assert chat(endpoint, records).ask(BODY, "a test").text == "Better."
    assert chat(None, Records.open(tmp_path)).ask(BODY, "a test").text == "Better."


def test_a_line_torn_by_a_crash_is_asked_again_and_spoils_no_other(
    endpoint: Endpoint, fake: FakeEndpoint, tmp_path: Path
) -> None:
    records = Records.for_writing(tmp_path, "made-up", endpoint.host)
    chat(endpoint, records).ask(BODY, "one")
    with (tmp_path / "answers.jsonl").open("ab") as file:
        file.write(b'{"request_sha256": "ab')
    records = Records.for_writing(tmp_path, "made-up", endpoint.host)
    chat(endpoint, records).ask(BODY | {"seed": 2}, "two")
    assert len(Records.open(tmp_path)) == 2
    assert len(fake.asked) == 2


def test_records_of_another_model_or_host_are_not_mixed(tmp_path: Path) -> None:
    Records.for_writing(tmp_path, "made-up", "a.example")
    for model, host in (("other", "a.example"), ("made-up", "b.example")):
        with pytest.raises(IncompatibleError, match="name another directory"):
            Records.for_writing(tmp_path, model, host)
    with pytest.raises(IncompatibleError, match="holds no recorded answers"):
        Records.open(tmp_path / "nothing")


def test_the_key_is_in_no_record_error_or_repr(endpoint: Endpoint, fake: FakeEndpoint, tmp_path: Path) -> None:
    fake.in_turn(completion(f"Your key is {KEY}."))
    asker = chat(endpoint, Records.for_writing(tmp_path, "made-up", endpoint.host))
    assert asker.ask(BODY, "a test").text == "Your key is [key]."
    fake.in_turn(refusal(400, f"bad key {KEY}"))
    with pytest.raises(CallFailed) as caught:
        asker.ask(BODY | {"seed": 2}, "a test")
    told = "".join(file.read_text() for file in tmp_path.iterdir()) + str(caught.value) + repr(asker) + repr(endpoint)
    assert KEY not in told


def test_a_taken_key_is_gone_from_the_environment_and_from_what_the_system_shows_of_it() -> None:
    code = (
        "import os, subprocess, sys; from pathlib import Path; from brainbench.chat.key import take_key; "
        "assert take_key('K') == 'sk-secret'; assert take_key('K') is None; "
        "seen = Path('/proc/self/environ'); assert not seen.exists() or b'sk-secret' not in seen.read_bytes(); "
        "child = 'import os; print(sorted(os.environ.values()))'; "
        "assert b'sk-secret' not in subprocess.run([sys.executable, '-c', child], capture_output=True).stdout"
    )
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "K": "sk-secret"}, capture_output=True)
    assert done.returncode == 0, done.stderr


def test_a_question_is_the_same_whatever_opaque_name_its_session_has() -> None:
    from brainbench.chat.records import request_hash

    def body(session: str, text: str = "hello") -> dict[str, object]:
        return {"messages": [{"role": "user", "content": f"Conversation {session}\n---\n{text}"}]}

    one, other = f"{'0a' * 16}-1", f"{'b7' * 16}-1"
    assert request_hash(body(one)) == request_hash(body(other))
    assert request_hash(body(one)) != request_hash(body(f"{'0a' * 16}-2"))
    assert request_hash(body(one)) != request_hash(body(one, "other"))
