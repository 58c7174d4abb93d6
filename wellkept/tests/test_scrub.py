"""What is taken out of a text by its shape, and what is left alone."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellkept.scrub import MARK, scrub

MAIL, PHONE, KEY = (MARK.format(kind) for kind in ("mail", "phone", "key"))
HEX = "0123456789abcdef"
BASE = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
WORDS = st.text(st.characters(categories=("L",), exclude_characters="@"), min_size=1, max_size=12)

SECRETS = {
    "mail": "ada.lovelace+x@mail.example.test",
    "mail with letters of other scripts": "анна@пример.рф",
    "international phone": "+49 30 901820-42",
    "phone with brackets": "(030) 9018 2042",
    "phone with dots": "030.9018.2042",
    "phone without spaces": "03090182042",
    "phone of full width": "＋４９ ３０ ９０１８２０",
    "short phone": "555-0199",
    "card": "4111 1111 1111 1111",
    "OpenAI": "sk-proj-abcdefghij0123456789",
    "Anthropic": "sk-ant-api03-abcdefghij0123456789",
    "Stripe": "sk_live_abcdefghij0123",
    "AWS": "AKIAIOSFODNN7EXAMPLE",
    "GitHub": "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "GitHub, fine": "github_pat_11ABCDEFG0abcdefghijkl",
    "GitLab": "glpat-abcdefghij0123456789",
    "Slack": "xoxb-123456789012-abcdefghijkl",
    "Google": "AIzaSyA-abcdefghijklmnopqrstuvwxyz012",
    "Hugging Face": "hf_abcdefghijklmnopqrstuvwxyz",
    "npm": "npm_abcdefghijklmnopqrstuvwxyz0123456789",
    "SendGrid": "SG.abcdefghijklmnopqr.abcdefghijklmnopqrstuvwxyz",
    "web token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijkl",
    "hexadecimal": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
    "base64": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "private key": "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1r\nZXk=\n-----END OPENSSH PRIVATE KEY-----",
    "private key without its end": "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKC",
}


@pytest.mark.req("C-901")
@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_goes_and_the_words_around_it_stay(kind: str) -> None:
    secret = SECRETS[kind]
    said = scrub(f"please use {secret}")
    assert said.startswith("please use [scrubbed ")
    assert secret not in said
    assert len(said) < len("please use ") + 2 * len(MAIL)


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("password: hunter2", f"password: {KEY}"),
        ("my API key is tr0ub4dor, ok", f"my API key is {KEY}, ok"),
        ('DB_PASSWORD="two words" now', f"DB_PASSWORD={KEY} now"),
        ("postgres://ann:pa55@db.test/x", f"postgres://{KEY}@db.test/x"),
        ("Authorization: Bearer abc123.def456-ghi", f"Authorization: {KEY}"),
        ("mail ann@example.test, bob@example.test", f"mail {MAIL}, {MAIL}"),
        ("call +1 (555) 010-9999 or write", f"call {PHONE} or write"),
    ],
)
def test_what_is_taken_out_and_no_more(said: str, left: str) -> None:
    assert scrub(said) == left


@pytest.mark.parametrize(
    "text",
    [
        "what did Ada decide on 2026-11-30, and on 30.11.2026?",
        "compare 2024 2025 2026",
        "daily/2026-11-30-planning",
        "people/ada-lovelace-and-the-analytical-engine-of-babbage",
        "conversations/123e4567-e89b-12d3-a456-426614174000",
        "version 3.11.7 of python, port 8080, 40 % of 1,000",
        "@ada and a@b",
        "the token budget of the tokenizer",
        "a_very_long_snake_case_identifier_in_some_module",
        "",
    ],
)
def test_ordinary_words_dates_and_slugs_stay_as_they_are(text: str) -> None:
    assert scrub(text) == text


@pytest.mark.req("C-901")
@given(before=WORDS, after=WORDS, name=st.text(HEX, min_size=1, max_size=20), host=st.text(HEX, min_size=1, max_size=9))
def test_no_mail_address_is_left(before: str, after: str, name: str, host: str) -> None:
    address = f"{name}@{host}.test"
    assert address not in scrub(f"{before} {address} {after}")


@pytest.mark.req("C-901")
@given(st.text(HEX, min_size=40, max_size=64).filter(lambda t: not t.isdigit() and not t.isalpha()))
def test_no_long_hexadecimal_is_left(run: str) -> None:
    assert run not in scrub(f"sha {run} of it")


@pytest.mark.req("C-901")
@given(st.sampled_from(["sk-", "ghp_", "glpat-", "hf_", "npm_", "xoxb-"]), st.text(BASE, min_size=24, max_size=60))
def test_no_key_with_a_known_beginning_is_left(prefix: str, rest: str) -> None:
    assert rest not in scrub(f"use {prefix}{rest} please")


@pytest.mark.req("C-901")
@given(st.lists(st.text("0123456789", min_size=2, max_size=4), min_size=3, max_size=4), st.sampled_from(" -./"))
def test_no_international_telephone_number_is_left(groups: list[str], between: str) -> None:
    number = "+49" + between + between.join(groups)
    assert number not in scrub(f"call {number} now")


@given(st.text())
def test_scrubbing_twice_changes_nothing(text: str) -> None:
    once = scrub(text)
    assert scrub(once) == once


@pytest.mark.parametrize(
    "piece", ["a", "a.", "1 ", "1", "-", "@", "a@", "aA0", "api_", "secret", "://a:", "eyJ", "+1("]
)
def test_the_time_grows_with_the_length_alone(piece: str) -> None:
    def cpu(size: int) -> float:
        text = piece * (size // len(piece))
        began = time.process_time()
        scrub(text)
        return time.process_time() - began

    assert cpu(50_000) < max(0.5, 40 * cpu(5_000))


@pytest.mark.parametrize(
    "text",
    [
        "apiKey: env.KEY",
        "password: process.env.DB_PASSWORD",
        'token = os.environ["TOKEN"]',
        'api_key = os.getenv("KEY")',
        "secret: ${SECRET}",
        "TOKEN=$CI_TOKEN",
        "no API key in the build",
    ],
)
def test_where_a_secret_is_kept_is_no_secret(text: str) -> None:
    assert scrub(text) == text


@pytest.mark.parametrize("text", ["password: environment7", "password: $ecret77", "token = os.environmental-9x"])
def test_what_only_looks_like_such_a_place_goes(text: str) -> None:
    assert scrub(text).endswith("[scrubbed key]")


@pytest.mark.field("HOK-09")
@pytest.mark.parametrize(
    "text",
    ["the token is expired", "The API key is not set.", "your password is wrong!", "is the secret is 'missing'?"],
)
def test_what_is_said_of_a_secret_is_no_secret(text: str) -> None:
    assert scrub(text) == text


@pytest.mark.parametrize("text", ["the password is hunter", "my token is expired7", "password: expired", "pwd=wrong"])
def test_what_tells_the_secret_goes(text: str) -> None:
    assert scrub(text).endswith("[scrubbed key]")
