"""Which English sentences bind the assistant from then on. Judged clause by clause; see `binds`."""

from __future__ import annotations

import re

from memagent.context.directives import english_words as words
from memagent.context.directives.clauses import (
    ALONE,
    LASTING_CONDITION,
    MATTER,
    ONE_OFF,
    RULE_LEAD,
    SCOPE,
    STYLE,
    Clause,
    Situation,
    clauses_of,
    is_condition,
    one_of,
    spelled_out,
)
from memagent.context.directives.nouns import ban_of_a_noun, of_a_part, wish_for_a_noun
from memagent.context.directives.orders import (
    ENSURE,
    NAMING,
    RELEASE,
    ROLE,
    STOP,
    TASK_OBJECT,
    UNWISHED,
    Order,
    concerns_assistant,
    order_binds,
    order_of,
    stop_binds,
    verb_stems,
    with_adverbs,
)
from memagent.context.directives.sentences import MASK, Sentence

# --- what makes a sentence somebody else's, a question, a fancy ---------------------------------

_SPEECH = (
    r"(?:says|said|tells|told|asks|asked|wrote|writes|replied|shouted|claims|claimed|insists|insisted|"
    r"thinks|thought|believes|"
    r"believed|reminds|reminded|warns|warned|advised|advises|suggested|suggests|ordered|taught|preached|"
    r"(?:saying|song|line|rule) goes|reads|states|"
    r"used to say|(?:kept|keeps) (?:saying|telling)|wants|wanted|prefers|preferred|demands|demanded|"
    r"expects|requires|recommends|"
    r"recommended|motto|proverb|lyrics?|slogan|"
    r"(?:they|people|some|many|others|experts|doctors|parents) (?:always |often )?(?:say|tell|think|believe|claim))"
)
_REPORT = one_of(
    r"^(?!(?:(?:when|if|once|whenever|each time|every time|any ?time|as|like) )?(?:i|"
    rf"you)\b)(?:[\w{MASK}'-]+ ){{1,6}}(?<!\bi )(?<!\byou )(?<!\bjust ){_SPEECH}\b(?! you to)",
    r"^as (?:my|the|our|his|her|they|people|\w+'s) .*\b(?:put|puts|say|says|said|goes|has it|taught|told)\b",
    r"^(?:according to|as they say|they say|remember (?:the|that|when)|to quote|in the words of|"
    r"my (?:mother|father|mum|mom|dad|"
    r"grand\w+|boss|teacher|coach|doctor)'?s? (?:motto|rule|advice|line|mantra)|the (?:motto|rule|sign|"
    r"saying|proverb|song|title|chorus|slogan|"
    r"law|golden rule|first rule))\b",
    r"^(?:tell|ask|remind|let|teach|warn|inform|advise|order) (?!me\b|us\b|you\b)\w+ (?:\w+ )?(?:to|not|"
    r"never|that|always|know)\b",
    r"^i (?:also |just |then |once |always )?(?:told|asked|reminded|taught|warned|begged|advised|tell|"
    r"remind|teach) (?!you\b|it\b|that you\b)",
    r"^i (?:also |just |then |once )?(?:made|let|want|need|would like) "
    r"(?!you\b|it\b|that you\b|all\b|every\b|each\b|your\b|the (?:answers|"
    r"replies)\b)(?:my )?\w+ (?:\w+ )?(?:to|not to|never to|that)\b",
)
_SAID_BEFORE_COLON = re.compile(
    r"^(?:the|a|an|his|her|their|our|my \w+'s|\w+'s)\b(?!.*\b(?:rules?|requests?|wish(?:es)?|"
    r"preferences?|instructions?|conditions?|favou?rs?|answers?|replies|format|style|code|tone|language|"
    r"point)\b)"
)
_REPORT_LATE = one_of(
    r"^that is (?:how|what|the (?:rule|policy|law)|why)\b",
    r"^(?:my \w+|he|she|they|people|everyone|the \w+|mum|dad|[a-z]+) (?:always |often |"
    rf"once )?{_SPEECH}\W*$",
)
_FANCY = re.compile(
    r"(?<!as )(?<!even )\bif (?:\w+ ){1,3}(?:had|were|was)\b|\bwould (?:\w+ )?have\b|\b(?:i|"
    r"we) wish (?:i|we|he|she|it|they)\b|\bimagine\b|\bsuppose\b"
)
_ASKED_POLITELY = re.compile(
    r"^(?:(?P<can>can you)|(?:could|would|will|might) you(?! mind)|(?:would|do) you mind(?: if you)?|"
    r"(?:may|can|could|might) i (?:please )?ask (?:that )?you(?: to)?|"
    r"(?:is|would) it (?:be )?(?:possible|ok|okay|too much)(?: for you)?(?: to ask you)? to|(?:how|"
    r"what) about|why do not you|do you think you (?:can|could)|"
    r"could we|can we)(?: please| maybe| perhaps| just| kindly)*\s+(?P<rest>.+)"
)
_SUBJECT = re.compile(
    r"(?:i|he|she|it|we|they|you|this|that|these|those|there|the|a|an|my|your|his|her|its|our|their|who|"
    r"which|\w+ (?:is|are|was|were|has|have|had)|\w+s)\b(?! (?:want|need|would|should|must|prefer))"
)
_TAG_QUESTION = re.compile(
    r",\s*(?:ok|okay|please|alright|all right|right|deal|yes|will you|would you|could you|can you|"
    r"shall we|agreed|got it|"
    r"understood|thanks)\s*\?+\W*$"
)


_ONCE = re.compile(
    r"(?:just |only |but )?(?:for |in |on )?(?:this|that) "
    r"(?!chat|conversation|session|project|point|thread|discussion|rule|moment)\w+"
)
_STRESSED = re.compile(r"\b(?:please|only|always|nothing else|at all times)\b")
_LEADS_TO_RULES = re.compile(r"(?:remember|follow|note|obey|respect|do|keep|make it|take)\b")
_MY_PREFERENCE = re.compile(
    r"my (?:only |one |main |personal |strong )?(?:preference|wish|request|rule|requirement|ask|instruction)s? "
    r"(?:is|are|would be) (?P<rest>.+)"
)
_MY_CHOICE = re.compile(rf"i prefer {MASK}+ (?:to|over|instead of|rather than)\b")
_MEANS = re.compile(r"(?:i|that|it) (?:always )?means?\b")
_ALWAYS = re.compile(rf"\b(?:always|never)\b|{words.SCOPE}")
_UNIVERSAL = re.compile(r"\b(?:ever|always|never|every|each|all|any)\b")
_COPULA = re.compile(r"(?<!it )(?<!pronouns )\b(?:is|was|are|were)\b")


def binds(sentence: Sentence) -> bool:
    """Whether the sentence holds an order, wish or ban addressed to the assistant that is meant to last."""
    text = _TAG_QUESTION.sub("", spelled_out(sentence.plain))
    clauses = list(clauses_of(text))
    if _FANCY.search(text) or any(_REPORT_LATE.search(clause.text) for clause in clauses[1:]):
        return False
    asking = re.search(r"\?\W*$", text) is not None
    scope = sentence.ruled or RULE_LEAD.match(text) is not None
    scope = scope or any(ALONE.fullmatch(clause.text) or (clause.scope and not clause.text) for clause in clauses)
    situation = Situation(lasting=scope, stressed=_STRESSED.search(text) is not None)
    own = list(_own(clauses))
    if any(_ONCE.fullmatch(clause.text) for clause in own) and not _ALWAYS.search(text):
        return False
    # "keep code and prose apart in your replies": what is said at the end holds for the beginning
    spread = not asking and any(SCOPE.search(c.text) and not _SUBJECT.match(c.text) for c in own)
    for clause in own:
        scope = scope or clause.scope
        polite = _ASKED_POLITELY.match(clause.text)
        if polite and _polite(polite, scope or SCOPE.search(text) is not None):
            return True
        if asking or polite or (sentence.after_paste and not scope):
            continue
        situation = situation.at(
            clause, lasting=scope or spread or _lasts(clause.text), condition=is_condition(clause.text)
        )
        if _clause_binds(clause.text, situation) or (sentence.ruled and _fragment(clause.text)):
            return True
        situation = situation._replace(tasked=situation.tasked or order_of(clause.text) is not None)
    return (scope or spread) and not sentence.ruled and not asking and _lone_scope(own)


def _own(clauses: list[Clause]) -> list[Clause]:
    """The clauses that speak to the assistant: not what others said, not what another subject always does."""
    own: list[Clause] = []
    reported = subject = False
    for clause in clauses:
        order = order_of(clause.text)
        bare = order is not None and order.kind == "bare"
        reported = (reported and not clause.fresh) or _is_report(clause, order)
        # "they are kind and always make us smile": no order, the subject is theirs
        continued = clause.joined and subject and bare
        subject = continued or (order is None and _SUBJECT.match(clause.text) is not None)
        if not reported and not continued:
            own.append(clause)
    return own


def _is_report(clause: Clause, order: Order | None) -> bool:
    if _REPORT.search(clause.text):
        return True
    if not clause.colon:
        return False
    job = order is not None and order.kind == "bare" and TASK_OBJECT.match(order.rest) is not None
    # "The note on the door: never …", "Draft a rule: never …"
    return _SAID_BEFORE_COLON.match(clause.text) is not None or (job and not _LEADS_TO_RULES.match(clause.text))


def _lasts(clause: str) -> bool:
    return SCOPE.search(clause) is not None or LASTING_CONDITION.search(clause) is not None


def _lone_scope(clauses: list[Clause]) -> bool:
    """ "From now on, short answers": the order is a mere noun."""
    rests = [SCOPE.sub(" ", clause.text).strip() for clause in clauses]
    return any(
        order_of(rest) is None and _fragment(rest) and (MATTER.search(rest) or STYLE.search(rest)) for rest in rests
    )


def _fragment(clause: str) -> bool:
    """A few words without a subject and finite verb, or an order in any words."""
    if not clause:
        return False
    if order_of(clause) is not None:
        return True
    finite = re.search(
        r"\b(?:is|are|was|were|am|has|have|had|does|did|will|would|i|he|she|we|they|it)\b|\w{3,}ed\b", clause
    )
    return finite is None and len(clause.split()) <= 8


def _clause_binds(clause: str, situation: Situation) -> bool:
    if not clause:
        return False
    if _names_or_defines(clause, situation):
        return True
    if of_a_part(clause, situation) or ban_of_a_noun(clause, situation) or wish_for_a_noun(clause, situation):
        return True
    if ensured := ENSURE.match(clause):
        return _ensured_binds(clause, ensured["rest"], situation)
    if preference := _MY_PREFERENCE.match(clause):
        return concerns_assistant(preference["rest"]) and not ONE_OFF.search(clause)
    unwished = UNWISHED.match(clause)
    if unwished and verb_stems(unwished["verb"]) & words.IMPERATIVES and not ONE_OFF.search(clause):
        return True
    stopped = STOP.match(clause)
    if stopped and stop_binds(stopped, situation):
        return True
    if RELEASE.match(clause) and not (situation.lasting or _UNIVERSAL.search(clause)):
        return False
    order = order_of(clause)
    return order is not None and order_binds(order, situation)


def _names_or_defines(clause: str, situation: Situation) -> bool:
    """What the person is called, what a word stands for, who the assistant is to be."""
    if NAMING.search(clause) and not _COPULA.search(clause):
        return True
    if situation.condition and _MEANS.match(clause):
        return True
    return (situation.lasting and ROLE.match(clause) is not None) or _MY_CHOICE.match(clause) is not None


def _ensured_binds(clause: str, rest: str, situation: Situation) -> bool:
    """ "Make sure you double-check every …", "make it a habit to …"."""
    always = _UNIVERSAL.search(rest) is not None or re.search(r"\b(?:habit|rule|point|principle) ", clause) is not None
    inner = Order("should", always, False, rest)
    return concerns_assistant(rest) and (situation.lasting or situation.condition or order_binds(inner, situation))


def _polite(match: re.Match[str], scope: bool) -> bool:
    """An order in the form of a question: "could you please always …", "would you mind not …"."""
    rest = match["rest"]
    first, _, after = rest.partition(" ")
    if first == "not" and after:
        return concerns_assistant(after)
    if first.endswith("ing"):
        each = re.search(r"\b(?:always|only|every|each|all|your|me)\b", rest) is not None
        return scope or (each and concerns_assistant(rest))
    order = with_adverbs("bare", "", rest)
    if match["can"] and not (scope or order.always or order.banned or "please" in match.group()):
        return False
    if order.always:
        verb = order.rest.split(" ", 1)[0]
        return bool(verb in words.DEEDS or MATTER.search(order.rest) or re.search(r"\bme\b", order.rest))
    return _clause_binds(rest, Situation(lasting=scope))
