"""Secrets are masked before anything is kept; what only resembles them stays."""

from __future__ import annotations

import uuid

import pytest

from wellkept.trust.detect import inspect, masked

RANDOM = "k3J9vQ7xW2mZ8pL4tR6yB1nC5dF0gH3s"
# Written apart so that no scanner of this repository takes them for real ones.
SECRETS = {
    "openai": "sk-" + "proj-" + RANDOM,
    "github": "ghp_" + RANDOM + "a1B2",
    "gitlab": "glpat-" + RANDOM[:20],
    "slack": "xoxb-" + "2931847563-" + RANDOM[:16],
    "aws": "AKIA" + "Q7WZ3LMN8XPV2RTK",
    "google": "AIza" + RANDOM + "Q9w",
    "stripe": "sk_" + "live_" + RANDOM,
    "hugging-face": "hf_" + RANDOM,
    "package-registries": "npm_" + RANDOM,
    "sendgrid": "SG." + RANDOM[:22] + "." + RANDOM,
    "web-token": "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM5ODcifQ." + RANDOM,
    "private-key": "-----BEGIN PRIVATE KEY-----\n" + RANDOM * 3 + "\n-----END PRIVATE KEY-----",
    "in-a-header": "Authorization: Bearer " + RANDOM,
    "login": "postgres://ada:" + "s3cr3tW0rd" + "@db.harbour.test/main",
    "card": "4539 1488 0343 6467",
    "us-number": "536-22-8741",
    "it-number": "RSSMRA85T10A562S",
    "es-number": "54362315K",
    "br-number": "529.982.247-25",
    "cn-number": "11010519491231002X",
}
FAKES = [
    "AKIAIOSFODNN7EXAMPLE",
    "sk_test_4eC39HqLyjWDarjtT1zdp7dc_example",
    "card 4242 4242 4242 4242, or 4111-1111-1111-1111",
    "ssn 078-05-1120",
    "sk-xxxxxxxxxxxxxxxxxxxxxxxx",
    "ghp_your_token_goes_here_please_1",
    "postgres://user:password@localhost:5432/app",
    "https://user:pass@example.com/x",
    "Authorization: Bearer $TOKEN or Bearer <token>",
    "order 4539148803436468 was sent",
    "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "phone +1 415 555 2671, room 12-345-678",
    "glove-wiki-gigaword-300",
    "54362315A is no number of a person",
    "000-12-3456 and 666-12-3456",
    *(str(uuid.UUID(int=at * 0x1234567890ABCDEF1234567)) for at in range(1, 5)),
]


@pytest.mark.req("T-305")
@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_is_masked(kind):
    text, flags = masked(f"keep this: {SECRETS[kind]} somewhere")
    assert f"[secret:{kind}]" in text
    assert SECRETS[kind].split()[-1].rpartition("@")[0] not in text or kind != "login"
    assert text.startswith("keep this: ")
    assert text.endswith(" somewhere")
    assert [flag.id for flag in flags] == ["D12"]


@pytest.mark.parametrize("fake", FAKES)
def test_documented_examples_and_identifiers_stay(fake):
    assert masked(fake) == (fake, ())


def test_the_owners_secrets_are_told_too():
    assert {flag.severity for flag in inspect(SECRETS["github"], "owner")} == {2}


def test_masking_twice_changes_nothing():
    text = "\n".join(f"{kind}={secret};{secret}" for kind, secret in SECRETS.items())
    once, _ = masked(text)
    assert masked(once) == (once, ())
    assert RANDOM not in once
