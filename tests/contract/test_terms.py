"""Text to terms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.terms import TERM_CHARS, document_terms, query_terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("My sisters live, I said.", ["my", "sister", "live", "i", "said"]),
        ("妹妹住", ["妹妹", "妹住"]),
        ("猫 cat猫", ["猫", "cat"]),
        ("don't", ["don"]),
        ("a_b c-d 3.14", ["a", "b", "c", "d", "3", "14"]),
        ("ｶﾞ", ["ガ"]),
        ("", []),
    ],
)
def test_query_terms(text: str, terms: list[str]) -> None:
    assert query_terms(text) == terms


def test_document_terms_add_single_characters_and_keep_repeats() -> None:
    assert document_terms("妹妹 tea tea") == ["妹", "妹", "妹妹", "tea", "tea"]


@given(st.text())
def test_a_text_has_all_terms_it_can_be_asked_by(text: str) -> None:
    assert set(query_terms(text)) <= set(document_terms(text))


@given(st.text())
def test_terms_are_safe_to_quote_and_join(text: str) -> None:
    for term in document_terms(text):
        assert 0 < len(term) <= TERM_CHARS + 1
        assert not set(term) & set(" \t\n\r\0'\"\\:|&!()*_-")
        assert term == term.lower() or not term.isascii()
