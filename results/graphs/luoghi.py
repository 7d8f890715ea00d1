"""Kinds of things on a map, in Italian, joined by what a mapper may say of them.

Source: the npm package @openstreetmap/id-tagging-schema 7.2.0, ISC licence: what the map editors of
OpenStreetMap offer.

Node: a kind of thing that can be drawn ("preset") with an Italian name. Text, in Italian: name and
search words. Edge: the editor asks for the same field, one of at most 120 kinds, for both. Class:
the first key of the tags that the thing gets, by a plain Italian name; keys of fewer than eight
kinds are left out.

Kinds: texts in another language than English, class names in Italian too; texts of few words; edges
from shared attributes; classes of under twenty nodes.

Known weaknesses: keys grew over twenty years and overlap: "amenity" is what came before there were
keys for shops, crafts, health or education. Some kinds are translated without search words.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict

from graphs.sources import Made, npm, sharing

MOST = 120
FEWEST = 8
KEYS = {
    "aerialway": "Impianti a fune",
    "aeroway": "Aeroporti e aviazione",
    "amenity": "Servizi e strutture pubbliche",
    "attraction": "Attrazioni di parchi e zoo",
    "barrier": "Barriere e recinzioni",
    "building": "Edifici",
    "craft": "Artigiani",
    "emergency": "Emergenza e soccorso",
    "golf": "Golf",
    "healthcare": "Sanità",
    "highway": "Strade e percorsi",
    "historic": "Luoghi storici",
    "landuse": "Uso del suolo",
    "leisure": "Tempo libero e sport",
    "man_made": "Opere e manufatti",
    "natural": "Natura",
    "office": "Uffici",
    "piste:type": "Piste da sci",
    "place": "Località",
    "playground": "Giochi per bambini",
    "power": "Energia elettrica",
    "public_transport": "Trasporto pubblico",
    "railway": "Ferrovie",
    "shop": "Negozi",
    "tourism": "Turismo",
    "traffic_calming": "Moderazione del traffico",
    "type": "Relazioni",
    "waterway": "Corsi d'acqua",
}


def build() -> Made:
    """Read the presets and their Italian names."""
    folder = npm("@openstreetmap/id-tagging-schema@7.2.0") / "package/dist"
    presets = json.loads((folder / "presets.json").read_text(encoding="utf-8"))
    told = json.loads((folder / "translations/it.json").read_text(encoding="utf-8"))
    names = told["it"]["presets"]["presets"]
    keys = {
        own: next(iter(preset["tags"]))
        for own, preset in presets.items()
        if preset.get("tags") and names.get(own, {}).get("name")
    }
    sizes = Counter(keys.values())
    ids = [own for own in sorted(keys) if keys[own] in KEYS and sizes[keys[own]] >= FEWEST]
    holders: defaultdict[str, list[str]] = defaultdict(list)
    for own in ids:
        for field in (*presets[own].get("fields", []), *presets[own].get("moreFields", [])):
            holders[field].append(own)
    texts = [", ".join((names[own]["name"], *names[own].get("terms", []))) for own in ids]
    return Made(ids, texts, [KEYS[keys[own]] for own in ids], sharing(holders, MOST))
