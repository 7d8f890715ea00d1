"""Exercises for the body, joined when they are done with the same things in the same way.

Source: the npm package exercises-cli 1.0.5, MIT licence.

Node: an exercise. Text: how it is done, up to 120 words, without its name. Edge: both need the same
equipment, are of the same kind and difficulty, and push, pull or hold alike; at most sixty do.
Class: the muscle that is trained first.

Kinds: texts of about 100 words; heterophilous; dense; edges from shared attributes.

Known weaknesses: many exercises train several muscles, and the first is an opinion. Steps repeat
sentences on breathing and repetition.
"""

from __future__ import annotations

import re
from collections import defaultdict

from graphs.sources import Made, npm, sharing, start

WORDS = 120
MOST = 60
BEGIN, END = "var exercises_default = ", "var muscle_groups_default = "
WAY = ("category", "difficultyLevel", "forceType", "mechanics")
FIELD = r'\b{}: (?:"([^"]*)"|null)'
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


def build() -> Made:
    """Read the exercises, which stand as a literal in a program that is not run."""
    file = npm("exercises-cli@1.0.5") / "package/dist/cli.js"
    said = file.read_text(encoding="utf-8")
    said = said[said.index(BEGIN) : said.index(END)]
    ids: list[str] = []
    texts: list[str] = []
    labels: list[str] = []
    holders: defaultdict[str, list[str]] = defaultdict(list)
    for one in re.split(r"^  \{$", said, flags=re.MULTILINE)[1:]:
        head, rest = one.split("instructions: [", 1)
        steps, muscles = rest.split("muscleGroups: [", 1)
        muscles, needed = muscles.split("equipment: [", 1)
        trained = re.search(r'name: "([^"]+)",\s*type: "primary"', muscles)
        if trained is None:
            continue
        ids.append(re.findall(FIELD.format("id"), head)[0])
        texts.append(start(" ".join(STRING.findall(steps)).replace("\\n", " "), WORDS))
        labels.append(trained[1].capitalize())
        way = [re.findall(FIELD.format(name), head) for name in WAY]
        holders[f"{way} {re.findall(FIELD.format('name'), needed)}"].append(ids[-1])
    return Made(ids, texts, labels, sharing(holders, MOST))
