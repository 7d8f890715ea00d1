from __future__ import annotations

import unicodedata

from unseen.prepare.words import bag_of_words, column_of, words_of


def test_a_word_is_counted_in_the_column_that_it_is_said_to_be_in() -> None:
    words = ["garlic", "ünïcode", "北京", "x1", "straße", *(f"w{i}" for i in range(500))]
    assert [column_of(word) for word in words] == [
        int(bag_of_words([word]).indices[0]) for word in words
    ]
    assert list(words_of(["An ore_shaft, a b", ""])) == ["an", "ore", "shaft"]


def test_accents_are_counted_however_they_are_written() -> None:
    one, other = (unicodedata.normalize(form, "forêt de hêtres") for form in ("NFC", "NFD"))
    assert list(words_of([one])) == list(words_of([other])) == ["forêt", "de", "hêtres"]
    assert (bag_of_words([one]) != bag_of_words([other])).nnz == 0
