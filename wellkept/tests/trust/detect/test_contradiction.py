"""What a text says otherwise than is known: another account, address or number, and retractions."""

from __future__ import annotations

import pytest

from wellkept.trust.detect import Known, against

ADA = Known(
    "Ada Lovelace",
    "Ada Lovelace: ada@engine.test, +44 20 7946 0018, https://engine.test/ada, IBAN DE75512108001245126199. "
    "Her hourly rate is 90 EUR. She leads the compiler project at Harbour.",
)


def acting(text: str, where: str = "external", known: Known = ADA) -> set[str]:
    return {flag.id for flag in against(text, [known], where) if flag.severity >= 2}


@pytest.mark.parametrize(
    "text",
    [
        "Ada Lovelace has a new mail address: ada@other.test",
        "Call Ada Lovelace at +44 20 7946 0999.",
        "Ada Lovelace's page moved to https://other.test/ada",
        "Pay Ada Lovelace on FR76 3000 6000 0112 3456 7890 189.",
        "The hourly rate of Ada Lovelace is 140 EUR.",
        "Ada Lovelace no longer leads the compiler project.",
        "Аda Lovelace can be reached at ada@other.test",
        "Ada Lovelace leitet das compiler project nicht mehr.",
    ],
)
def test_another_account_address_or_number_of_somebody_known_is_seen(text):
    assert acting(text) == {"D10"}


@pytest.mark.parametrize(
    "text",
    [
        "Write to Ada Lovelace at ada@engine.test or call +44 (20) 7946 0018.",
        "Ada Lovelace: see www.engine.test/news",
        "Grace Hopper can be reached at grace@navy.test.",
        "Ada Lovelace came to the meeting on 3 May.",
        "The hourly rate of Ada Lovelace is 90 EUR.",
    ],
)
def test_the_same_and_what_is_of_others_is_spared(text):
    assert acting(text) == set()


def test_first_contact_details_are_spared():
    assert (
        acting("Ada Lovelace: ada@engine.test", known=Known("Ada Lovelace", "Ada Lovelace leads a project.")) == set()
    )


def test_the_owner_contradicts_nobody():
    assert against("Ada Lovelace has a new mail address: ada@other.test", [ADA], "owner") == ()
