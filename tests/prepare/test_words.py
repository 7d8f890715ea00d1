from __future__ import annotations

from unseen.prepare.words import bag_of_words, column_of, words_of


def test_a_word_is_counted_in_the_column_that_it_is_said_to_be_in() -> None:
    words = ["garlic", "ünïcode", "北京", "x1", "straße", *(f"w{i}" for i in range(500))]
    assert [column_of(word) for word in words] == [
        int(bag_of_words([word]).indices[0]) for word in words
    ]
    assert list(words_of(["An ore_shaft, a b", ""])) == ["an", "ore", "shaft"]
