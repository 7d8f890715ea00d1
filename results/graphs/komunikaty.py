"""Messages of the TypeScript compiler in Polish, joined by words that they quote.

Source: the npm package typescript 5.9.2, Apache licence 2.0.

Node: a message. Text, in Polish: the message, without braces around what is filled in. Edge: both
quote the same word or sign ('abstract', '--jsx'), which at most twenty messages do. Class: what the
range of the number of the message stands for.

Kinds: texts in another language than English, with class names and class texts in English;
messages of errors; edges from co-occurrence; three quarters of the nodes isolated.

Known weaknesses: numbers were given over many years, and some syntax errors carry a number of
semantic ones. The ranges are known to those who write the compiler, and not documented.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict

from graphs.sources import Made, npm, sharing

RANGES = {  # thousands of the number
    1: "Syntax errors",
    2: "Semantic errors",
    4: "Errors of declaration files",
    5: "Errors of compiler options",
    6: "Help and information",
    7: "Implicit any and strictness",
    8: "JavaScript files and JSDoc",
    9: "Isolated declarations",
    17: "JSX",
    18: "Private names, modules and newer features",
    80: "Suggestions",
    90: "Quick fixes and refactorings",
    95: "Quick fixes and refactorings",
}
MOST = 20
QUOTED = re.compile(r"[„\"'‚`]([^\s„”\"'`{}]+)[”\"'’`]")


def build() -> Made:
    """Read the Polish messages; the number ends the key of each."""
    file = npm("typescript@5.9.2") / "package/lib/pl/diagnosticMessages.generated.json"
    every = json.loads(file.read_text(encoding="utf-8"))
    ids: list[str] = []
    texts: list[str] = []
    labels: list[str] = []
    holders: defaultdict[str, list[str]] = defaultdict(list)
    for key, said in sorted(every.items()):
        number = key.rpartition("_")[2]
        if not number.isdigit() or int(number) // 1000 not in RANGES:
            continue
        ids.append(number)
        texts.append(" ".join(re.sub(r"[{}]", "", said).split()))
        labels.append(RANGES[int(number) // 1000])
        for word in set(QUOTED.findall(said)):
            holders[word].append(number)
    return Made(ids, texts, labels, sharing(holders, MOST))
