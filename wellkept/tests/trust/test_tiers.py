"""The tier of a text: the door that it came through, where it is said to be from, and what it was made of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellkept.errors import InvalidInput
from wellkept.model import CHANNELS, CONTENT_ORIGINS, Trust, Writer
from wellkept.trust import CEILINGS, UNSAID, admitted

E, A, U = Trust.EXTERNAL_UNTRUSTED, Trust.AGENT_WRITTEN, Trust.USER_WRITTEN
ORIGINS = ("user_said", "agent_inferred", "document", "tool_output", "import")
# Written out again on purpose: a slip in the table of the engine is no slip here.
WANTED = {
    "owner_tty": (U, A, U, E, E),
    "owner_local": (A, A, A, E, E),
    "owner_git": (None, None, U, E, None),
    "hook": (A, A, E, E, None),
    "agent_mcp": (A, A, E, E, E),
    "agent_http": (A, A, E, E, E),
    "agent_cli": (A, A, E, E, E),
    "connector": (E, E, E, E, E),
    "peer": (A, A, E, E, E),
    "restore": (E, E, E, E, E),
    "maintenance": (None, None, None, None, None),
}


@pytest.mark.req("T-201", "T-203")
@pytest.mark.parametrize("channel", CHANNELS)
def test_a_door_gives_no_more_than_its_ceiling(channel: str) -> None:
    for origin, tier in zip(ORIGINS, WANTED[channel], strict=True):
        writer = Writer(channel)  # type: ignore[arg-type]
        if tier is None:
            with pytest.raises(InvalidInput, match="content_origin"):
                admitted(writer, origin)  # type: ignore[arg-type]
        else:
            assert admitted(writer, origin) is tier  # type: ignore[arg-type]


@pytest.mark.req("T-202")
def test_what_is_not_said_counts_as_the_least_that_the_door_brings() -> None:
    assert set(UNSAID) == set(CEILINGS) == set(CHANNELS)
    tiers = {channel: admitted(Writer(channel), None) for channel in CHANNELS}
    assert {channel for channel, tier in tiers.items() if tier is U} == {"owner_tty", "owner_git"}
    assert {tiers[channel] for channel in ("connector", "peer", "restore", "maintenance")} == {E}


@pytest.mark.req("T-203", "T-204", "T-210")
@given(st.sampled_from(CHANNELS), st.sampled_from(CONTENT_ORIGINS), st.lists(st.sampled_from(Trust), max_size=4))
def test_what_was_made_of_others_has_no_more_than_the_least_of_them(channel, origin, lineage) -> None:  # type: ignore[no-untyped-def]
    try:
        tier = admitted(Writer(channel), origin, lineage)
    except InvalidInput:
        return
    assert all(tier <= one for one in lineage)
    assert tier <= admitted(Writer(channel), origin) or origin == "derived"
    if origin == "derived" and not lineage:
        assert tier is E
    assert tier < Trust.USER_CONFIRMED


@pytest.mark.req("T-202")
def test_an_origin_that_nobody_knows_is_refused() -> None:
    with pytest.raises(InvalidInput, match="content_origin"):
        admitted(Writer("owner_tty"), "gospel")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="channel"):
        admitted(Writer("root"), None)  # type: ignore[arg-type]
