"""Sentences that remember what they were made of."""

from __future__ import annotations

import copy
import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardsched.core.unfit import adrift, recalled_unfit, stopping
from shardsched.errors import JobNotFoundError, ShardschedError
from shardsched.sentence import Foreign, Sentence, recalled, sentence_of, shortened

KNOWN = Sentence("job %(job)r has %(count)d items (%(share)g %%)", job="books", count=3, share=50.0)


def test_sentence_is_its_english_text() -> None:
    """Whoever takes texts takes it: it is equal to one, has its hash, and is written as one."""
    text = "job 'books' has 3 items (50 %)"
    assert text == KNOWN
    assert hash(KNOWN) == hash(text)
    assert json.dumps({"reason": KNOWN}) == json.dumps({"reason": text})
    assert KNOWN.template % KNOWN.values == text
    assert type(str(KNOWN)) is str


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])  # noqa: S301
def test_sentence_copy_is_the_text_alone(copied: type[str]) -> None:
    """Whatever its values are, it can be copied, and sent to another process."""
    odd = Sentence("%(value)s", value=lambda: None)
    assert type(copied(odd)) is str
    assert copied(odd) == odd


def test_sentence_of_error_is_what_it_was_raised_with() -> None:
    """An error tells its sentence, one that was raised with a text that text, and one with nothing nothing."""
    told = sentence_of(JobNotFoundError(job="books"))
    assert isinstance(told, Sentence)
    assert told.values == {"job": "books"}
    assert sentence_of(ShardschedError("as a text")) == "as a text"
    assert sentence_of(ShardschedError()) == ""
    assert sentence_of(KeyError(3)) == "3"


@given(drift_s=st.floats(-1e6, 1e6), limit_s=st.floats(1, 1e6))
def test_recalled_unfit_is_what_was_said(drift_s: float, limit_s: float) -> None:
    """What an executor stored of itself is the sentence again for those that read it."""
    for said in (stopping(), adrift(drift_s, limit_s)):
        again = recalled_unfit(str(said))
        assert again == said
        assert isinstance(again, Sentence)
        assert again.values == said.values


def test_recalled_text_of_others_is_foreign() -> None:
    """A release that says something else is quoted."""
    assert isinstance(recalled_unfit("it is on strike"), Foreign)
    assert isinstance(recalled("xit is stopping", stopping()), Foreign)


def test_shortened_text_stays_a_sentence_where_it_is_short() -> None:
    """Only what is cut loses its template."""
    assert shortened(KNOWN, 30) is KNOWN
    assert shortened(KNOWN, 3) == "job"
