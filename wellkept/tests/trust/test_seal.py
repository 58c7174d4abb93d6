"""Seals: no two rows are sealed alike, and each purpose has a key of its own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellkept.trust.seal import LABELS, Value, seal, subkey, verify

KEY = bytes(range(32))
values: st.SearchStrategy[Value] = st.one_of(
    st.none(), st.text(), st.integers(), st.floats(allow_nan=False), st.binary()
)
rows = st.dictionaries(st.text(min_size=1, max_size=5), values, max_size=5)


def said(row: dict[str, Value]) -> dict[str, tuple[type, Value]]:
    return {name: (type(value), value) for name, value in row.items() if value is not None}


@pytest.mark.req("T-217")
@given(rows, rows)
def test_rows_that_say_something_else_have_other_seals(one: dict[str, Value], other: dict[str, Value]) -> None:
    alike = list(said(one).items()) == list(said(other).items())
    assert verify(KEY, "row", "facts", one, seal(KEY, "row", "facts", other)) == alike


@pytest.mark.req("T-217")
def test_the_type_of_a_value_counts() -> None:
    alike: list[Value] = ["1", 1, 1.0, b"1", '["bytes", "31"]', "b'1'"]
    assert len({seal(KEY, "row", "facts", {"x": value}) for value in alike}) == len(alike)


@pytest.mark.req("T-217")
def test_a_column_that_is_added_and_null_changes_no_seal() -> None:
    assert seal(KEY, "row", "facts", {"id": 1}) == seal(KEY, "row", "facts", {"id": 1, "later": None})


@pytest.mark.req("T-216", "T-217")
def test_another_key_table_or_purpose_gives_another_seal() -> None:
    row = {"id": 1}
    found = {seal(KEY, label, table, row) for label in LABELS for table in ("facts", "pages")}
    found |= {seal(bytes(32), "row", "facts", row)}
    assert len(found) == 7
    assert len({subkey(KEY, label) for label in LABELS} | {KEY}) == 4
    with pytest.raises(ValueError, match="tier"):
        subkey(KEY, "tier")
    assert not verify(KEY, "row", "facts", row, None)
