"""What facts are about: one spelling for subjects and attributes, so that facts on one matter meet. Pure."""

from __future__ import annotations

import re

from stores.sameness import normalised

USER = "user"
"""The subject of facts about the person."""
MOST_CHARS = 40
_USER = frozenset(
    ("user", "the user", "this user", "person", "the person", "speaker", "the speaker", "human", "i", "me", "myself")
) | {"self", "用户", "我", "ich"}
_SPELLINGS = {
    "name": "full name|first name|last name|surname|nickname|姓名|名字",
    "home": "home city|home town|hometown|city|residence|place of residence|city of residence|current city|location|"
    "current location|address|home address|living place|lives in|where they live|居住地|住址|城市|住处|wohnort",
    "diet": "dietary preference|dietary preferences|dietary restriction|eating habits|饮食|ernährung",
    "allergy": "allergies|food allergy|intolerance|过敏|allergie",
    "language": "languages|native language|mother tongue|spoken languages|preferred language|语言|sprache",
    "job": "work|occupation|profession|employer|career|position|workplace|job title|工作|职业|beruf",
    "birthday": "birth date|birthdate|date of birth|生日|geburtstag",
    "pet": "pets|宠物|haustier",
    "health": "medical condition|condition|illness|健康",
}
_CANONICAL = {spelling: name for name, spellings in _SPELLINGS.items() for spelling in spellings.split("|")}
_TOLD = (
    ("name", re.compile(r"\b(?:name is|is (?:called|named)|goes by)\b|\bheiß(?:t|e)\b|(?:名字是|叫)", re.IGNORECASE)),
    (
        "allergy",
        re.compile(r"\ballerg\w+|\bintoleran\w+|过敏", re.IGNORECASE),
    ),
    ("diet", re.compile(r"\b(?:vegan|vegetarian|pescatarian|kosher|halal|gluten[- ]free)\b|素食", re.IGNORECASE)),
    (
        "home",
        re.compile(r"\b(?:lives? in|living in|(?:has )?moved to|resides in|wohn(?:t|e) in)\b|住在|搬到", re.IGNORECASE),
    ),
    ("birthday", re.compile(r"\b(?:birthday|was born on|born on)\b|生日", re.IGNORECASE)),
    ("language", re.compile(r"\b(?:native language|mother tongue|speaks)\b|母语", re.IGNORECASE)),
    ("job", re.compile(r"\b(?:works (?:as|at|for)|is employed|job is|profession is)\b|工作是|职业", re.IGNORECASE)),
    ("preference", re.compile(r"\b(?:prefers?|favou?rite)\b|更喜欢|最喜欢", re.IGNORECASE)),
)


def subject_of(given: str, text: str) -> str:
    """The subject in one spelling: "user" for the person, else as given; found in the text where none is."""
    name = " ".join(given.split())[:MOST_CHARS]
    if normalised(name) in _USER:
        return USER
    if name:
        return name
    return USER if normalised(text).startswith(("the user ", "user ", "用户", "i ")) and "'s " not in text[:12] else ""


def attribute_of(given: str, text: str) -> str:
    """The attribute in one spelling, lower case; guessed from the text where none is given, "" if it cannot be."""
    name = " ".join(given.replace("_", " ").casefold().split())[:MOST_CHARS]
    if name:
        return _CANONICAL.get(name, name)
    return next((attribute for attribute, form in _TOLD if form.search(text)), "")
