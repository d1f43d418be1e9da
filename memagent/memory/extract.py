"""Facts from talk: what a model is given to read, and what of its answer is believed. Pure.

The model proposes; code decides whose statement a fact is, by looking for its words where it is said to
stand. What the person said is trusted, what a tool, a document or a pasted text says is not, and what the
assistant says is no fact about the person at all.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import Any, cast
from zoneinfo import ZoneInfo

from memagent.memory.answers import listed
from memagent.memory.attributes import attribute_of, subject_of
from memagent.memory.never import NeverPatterns
from memagent.memory.relative_dates import Mention, dated, mentions
from memagent.memory.worth import GROUNDED, clauses, content, denied, says_something, scrap, share, states
from memagent.sanitize import clean_output
from memagent.secret_rules import holds_secret
from stores.records import MessageRole, Source, Trust
from stores.sameness import normalised

KEY = "facts"
MOST_FACT_CHARS = 400
USER_CHARS = 6_000
OTHER_CHARS = 800
"""How much of one message is shown to the model: of a longer one its beginning and end."""
LEAST_QUOTE_STEMS = 2
NEAR = 0.5
"""So much of a fact must be in the clause that says when, for the time to be the fact's."""
_TEXT_KEYS = ("text", "fact", "content", "memory", "statement")
_ORIGIN_KEYS = ("origin", "role", "speaker", "said_by", "source")
_LINE_KEYS = ("lines", "line", "entries", "entry", "ids", "id")
_JSON_SCRAP = re.compile(r"[{}]|\"\s*:|^\s*[\[\]]")
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}")
_NAME_OR_NUMBER = re.compile(r"(?<=[^.!?\s]\s)[A-ZÄÖÜÀ-Ý][\w’'-]+|\d[\w.,-]*")


@dataclass(frozen=True, slots=True)
class Said:
    """A message as the extractor sees it. ``own`` are the person's own sentences: none of a pasted text, none
    of anybody else. ``about`` names who speaks as the user where a transcript does."""

    source: Source
    role: MessageRole
    at: datetime
    zone: str
    text: str
    own: tuple[str, ...] = ()
    about: str | None = None

    @property
    def believed(self) -> tuple[str, ...]:
        """The sentences that may state something."""
        return tuple(s for s in self.own if states(s)) if says_something(" ".join(self.own)) else ()


@dataclass(frozen=True, slots=True)
class Draft:
    """A fact that may become a memory. ``said_at`` and ``zone`` are those of the newest line it rests on."""

    text: str
    trust: Trust
    sources: tuple[Source, ...]
    said_at: datetime
    zone: str
    subject: str = ""
    attribute: str = ""
    valid_from: datetime | None = None
    speaker: str | None = None


@dataclass(slots=True)
class Sifted:
    """What is left of an answer. ``dropped`` has a text and a reason for each of the others."""

    drafts: list[Draft] = field(default_factory=list[Draft])
    dropped: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


# --- what is read ------------------------------------------------------------------------------


def worth_asking(said: Sequence[Said]) -> bool:
    """Whether the person said anything that could be learned."""
    return any(one.believed or (one.role is MessageRole.USER and says_something(one.text)) for one in said)


def material(said: Sequence[Said], earlier: Sequence[Said] = ()) -> str:
    """The lines for the model, oldest first, each with its number and who spoke; ``earlier`` have no numbers."""
    lines = [f"- {_line(one, OTHER_CHARS // 2)}" for one in earlier]
    lines += [f"[{number}] {_line(one, _limit(one.role))}" for number, one in enumerate(said, start=1)]
    return "\n".join(lines)


def shown_of(role: MessageRole, text: str) -> str:
    """What the model is shown of a message: of a long one its beginning and end."""
    return _cut(" ".join(text.split()), _limit(role))


def _limit(role: MessageRole) -> int:
    return USER_CHARS if role is MessageRole.USER else OTHER_CHARS


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit * 2 // 3]} … {text[-limit // 3 :]}"


def _line(one: Said, limit: int) -> str:
    when = one.at.astimezone(ZoneInfo(one.zone)).strftime("%Y-%m-%d %a %H:%M")
    text = _cut(" ".join(dated(one.text, one.at, one.zone).split()), limit)
    who = one.role.value.upper() + (f" ({one.about})" if one.about else "")
    return f"{when} {who}: {text}"


# --- what is believed --------------------------------------------------------------------------


def sifted(reply: str, said: Sequence[Said], *, never: NeverPatterns, instructions: Collection[str]) -> Sifted:
    """The facts of a model's answer that hold. Raises UnusableAnswerError if it is no list of facts.
    ``instructions`` are texts of the prompt, which nobody said."""
    found = Sifted()
    drafts: dict[str, Draft] = {}
    for item in listed(reply, KEY):
        claim = _claim(item)
        if claim is None:
            continue
        draft = _draft(claim, said, never, instructions)
        if isinstance(draft, str):
            found.dropped.append((claim.text[:80], draft))
            continue
        known = drafts.setdefault(normalised(draft.text), draft)
        if known.trust is draft.trust:
            drafts[normalised(draft.text)] = replace(known, sources=tuple(dict.fromkeys(known.sources + draft.sources)))
    found.drafts += drafts.values()
    return found


@dataclass(frozen=True, slots=True)
class _Claim:
    """An item as the model wrote it."""

    text: str
    subject: str = ""
    attribute: str = ""
    origin: str = ""
    lines: tuple[int, ...] = ()
    quote: str = ""
    since: str = ""


def _claim(item: Any) -> _Claim | None:
    if isinstance(item, str):
        text = _one_line(item)
        return _Claim(text) if text else None
    if not isinstance(item, dict):
        return None
    fields = cast(dict[str, Any], item)
    text = _first_text(fields, _TEXT_KEYS)
    if not text:
        return None
    lines = next((fields[key] for key in _LINE_KEYS if key in fields), ())
    return _Claim(
        text=text,
        subject=_first_text(fields, ("subject",)),
        attribute=_first_text(fields, ("attribute",)),
        origin=_first_text(fields, _ORIGIN_KEYS).casefold(),
        lines=_numbers(lines),
        quote=_first_text(fields, ("quote",)),
        since=_first_text(fields, ("since", "valid_from")),
    )


def _first_text(fields: dict[str, Any], keys: Sequence[str]) -> str:
    return next((_one_line(value) for key in keys if isinstance(value := fields.get(key), str)), "")


def _one_line(text: str) -> str:
    return " ".join(clean_output(text).split())


def _numbers(value: Any) -> tuple[int, ...]:
    values = cast(list[Any], value) if isinstance(value, list | tuple) else [value]
    return tuple(int(text) for v in values if (text := str(v).strip("[] ")).isdecimal() and len(text) < 6)


def _draft(claim: _Claim, said: Sequence[Said], never: NeverPatterns, instructions: Collection[str]) -> Draft | str:
    """The fact, or why it is none."""
    text = claim.text
    subject, attribute = subject_of(claim.subject, text), attribute_of(claim.attribute, text)
    if len(text) > MOST_FACT_CHARS:
        return "too long"
    if _JSON_SCRAP.search(text):
        return "a scrap of JSON"
    if reason := scrap(text, subject=subject, attribute=attribute):
        return reason
    evidence = _evidence(claim, said)
    if isinstance(evidence, str):
        return evidence
    words = f" {normalised(text)} "
    own = " ".join(f" {normalised(one.text)} " for one in evidence.said)
    if words not in own and any(words in f" {normalised(told)} " for told in instructions):
        return "a part of the instructions"
    if never.matching(text, *(one.text for one in evidence.said)):
        return "never to be remembered"
    if holds_secret(text):
        return "a password or a key"
    newest = max(evidence.said, key=lambda one: one.at)
    return Draft(
        text=dated(text, newest.at, newest.zone),
        trust=evidence.trust,
        sources=tuple(one.source for one in evidence.said),
        said_at=newest.at,
        zone=newest.zone,
        subject=subject,
        attribute=attribute,
        valid_from=_valid_from(claim, evidence.said),
        speaker=newest.about,
    )


@dataclass(frozen=True, slots=True)
class _Evidence:
    trust: Trust
    said: tuple[Said, ...]


def _evidence(claim: _Claim, said: Sequence[Said]) -> _Evidence | str:
    """Whose statement a fact is, and where that stands; or why it is nobody's."""
    origin = claim.origin
    if "assistant" in origin:
        return "the assistant's statement"
    cited = [said[n - 1] for n in claim.lines if 0 < n <= len(said)]
    if "tool" not in origin and "document" not in origin and (own := _of_user(claim, said, cited)):
        return _Evidence(Trust.USER, own)
    # what the person only pasted, and what tools returned, is somebody's statement, but nobody's we trust
    for role, trust in ((MessageRole.USER, Trust.DOCUMENT), (MessageRole.TOOL, Trust.TOOL)):
        if role is MessageRole.USER and "tool" in origin:
            continue
        others = [one for one in said if one.role is role and (role is MessageRole.TOOL or _pasted(one))]
        best = max(others, key=lambda one: share(content(claim.text), content(one.text)), default=None)
        if best is not None and share(content(claim.text), content(best.text)) >= GROUNDED:
            return _Evidence(trust, (best,))
    return "nothing that the user said"


def _pasted(one: Said) -> bool:
    """Whether more stands in the person's message than they said themselves."""
    return bool(content(one.text) - content(" ".join(one.own)))


def _of_user(claim: _Claim, said: Sequence[Said], cited: Sequence[Said]) -> tuple[Said, ...]:
    """The person's messages that state the fact, oldest first; () if they do not."""
    users = [one for one in said if one.believed]
    fact = content(claim.text)
    quoted = _quoted(claim.quote, users)
    together = [one for one in cited if one in users] or list(quoted)
    by_share = sorted(users, key=lambda one: -share(fact, _stems(one)))
    for group in (together, by_share[:1]):
        words = frozenset[str]().union(*(_stems(one) for one in group))
        if share(fact, words) < GROUNDED or _borrowed(claim.text, words, said, names_only=True):
            continue
        if denied(claim.text, [s for one in group for s in one.believed]):
            continue
        return tuple(one for one in users if (one in group and fact & _stems(one)) or _tells_all(claim.text, one))
    if quoted:  # said in other words: then none of them may come from anybody else
        words = _stems(quoted[0])
        if not _borrowed(claim.text, words, said, names_only=False):
            return quoted
    return ()


def _tells_all(text: str, one: Said) -> bool:
    """Whether a message states a fact all by itself: then it is one of its sources, whatever the model says."""
    return share(content(text), _stems(one)) == 1.0 and not denied(text, one.believed)


def _stems(one: Said) -> frozenset[str]:
    return content(" ".join(one.believed)) | content(one.about or "")


def _quoted(quote: str, users: Sequence[Said]) -> tuple[Said, ...]:
    """The message that holds the quote, if it says something."""
    words = normalised(quote)
    if len(content(quote)) < LEAST_QUOTE_STEMS:
        return ()
    return tuple(one for one in users if words in normalised(" ".join(one.believed)))[-1:]


def _borrowed(text: str, words: frozenset[str], said: Sequence[Said], *, names_only: bool) -> bool:
    """Whether the fact has words (or names and numbers) that only others said, or numbers that nobody did."""
    told = content(" ".join(_NAME_OR_NUMBER.findall(_ISO.sub(" ", text)))) if names_only else content(text)
    missing = told - words
    others = frozenset[str]().union(*(content(one.text) for one in said if one.role is not MessageRole.USER))
    return bool(missing & others) or any(stem.isdecimal() for stem in missing)


def _valid_from(claim: _Claim, said: Sequence[Said]) -> datetime | None:
    """Since when it holds: as the model says if the person said so, else the one time in the past that the
    person's sentence names."""
    told = [(clause, one) for one in said for sentence in one.own for clause in clauses(sentence)]
    found = [(mention, clause, one) for clause, one in told for mention in mentions(clause, one.at, one.zone)]
    if since := _ISO.search(claim.since):
        try:
            day = date.fromisoformat(since.group())
        except ValueError:
            return None
        for mention, _, one in found:
            if mention.span.first <= day <= mention.span.last:
                return _midnight(day, one.zone)
        year = str(day.year)
        return next((_midnight(day, one.zone) for one in said if year in one.text), None)
    fact = content(claim.text)
    near = [(m, one) for m, clause, one in found if _is_past(m, one) and share(fact, content(clause)) >= NEAR]
    return _midnight(near[0][0].span.first, near[0][1].zone) if len(near) == 1 else None


def _is_past(mention: Mention, one: Said) -> bool:
    return mention.span.first < one.at.astimezone(ZoneInfo(one.zone)).date()


def _midnight(day: date, zone: str) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(zone)).astimezone(UTC)
