"""English orders: imperatives, wishes, what you should; which of them are meant to last. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

from memagent.context.directives import english_words as words
from memagent.context.directives.clauses import MATTER, ME, ONE_OFF, THING, Situation, one_of
from memagent.context.directives.sentences import MASK, words_of

_ADVERB = re.compile(
    r"(?:always|never|not|only ever|only|ever|also|please|just|kindly|strictly|consistently|at least|"
    r"really|be sure to|make it a habit to|simply)\b\s*"
)
_SHOULD = re.compile(
    r"^(?:the assistant|you)(?P<before>(?: (?:also|really|just|always|never|only|simply))*) "
    r"(?:should|must|shall|need to|have to|have got to|ought to|had better|(?:will|would)(?= (?:always|"
    r"never|not|only)\b)|are (?P<nt>not |never |always |only )?to|are (?P<no>not )?(?:allowed|permitted|"
    r"supposed|expected|requested|required|asked) to|"
    r"(?:may|can|might)(?= (?:not|only|never|skip|drop|omit|leave out|leave off|spare|cut|stop|"
    r"save yourself|lose|ditch|do without)\b))\b\s*(?P<rest>.*)"
)
_ARE_YOU_TO = re.compile(r"^are you (?:ever )?to (?P<rest>.+)")  # "under no circumstances are you to …"
_WELCOME = re.compile(r"^(?:feel free to|you are (?:welcome|free) to|go ahead and) (?P<rest>.+)")
_AGREED = re.compile(
    r"^(?:let us agree|we agreed?|i (?:suggest|propose)|"
    r"i would suggest)(?: that)? you(?P<before>(?: (?:also|always|never|only))*) (?P<rest>.+)"
)
_WISH = re.compile(
    r"^i(?P<before>(?: (?:really|also|just|still|much|would|strongly|always|do|must|will|am|be|very|most|"
    r"so|have to|kindly|only|never))*)(?P<not> not)?"
    r"(?: (?:really|ever))?"
    r" (?P<verb>want|need|like|love|prefer|expect|appreciate|ask|rather|insist|require|request|demand|"
    r"asking|counting on|grateful|glad|happy|beg|urge)"
    r"(?: it| that| for| if| of| much)* you(?P<rest>(?: to| would| could| should| not| always| never| did)* .+)"
)
_NICE = re.compile(
    r"^(?:it would be|it is|better|best|would be) (?:\w+ )?(?:great|nice|good|helpful|lovely|best|better|"
    r"ideal|important|essential|crucial|vital|imperative|wonderful|easier|cool|appreciated|preferable)"
    r"(?: (?:for|to) me)? (?:if|that|when) you(?: would| could| should)? (?P<rest>.+)"
)
_LET_US = re.compile(r"^(?:let us|we (?:should|must|need to)|shall we) (?P<rest>.+)")
_DO_NOT = re.compile(r"^(?:do not|do never|never ever) (?:you )?(?:ever )?(?P<rest>.+)")
TASK_OBJECT = re.compile(r"^\S+ (?:me |us )?(?:a|an|the|this|that|these|those|it|him|her|them|some|one|two|my)\b")
_IDIOM = re.compile(
    r"^(?:worry|bother|mind me|think so|know|care|laugh|panic|cry|remember|be (?:sad|silly|afraid|shy|"
    r"mad|angry|ridiculous|rude|late|long|upset|sorry)|"
    r"get me wrong|get me started|forget|tell (?:me (?:you|that|it|he|she|they|about)|anyone i)|make me|"
    r"you|hesitate|understand|dare|feel like|see why|stop believ|give up|"
    r"leave me|look back|say (?:that|a word|never|goodbye|die)|let me|go|hold|blame|judge|mention it|"
    r"ask me (?:why|how)|take my word|rush)\b"
)
_INVERTED = re.compile(
    r"^(?:have|has|had|do|does|did|am|is|was|were|will|would|can|could|shall|should) (?:i|we|he|she|they|"
    r"you|it)\b"
)  # "never have I"
STOP = re.compile(
    r"^(?P<verb>stop|quit|cease|avoid|refrain from|abstain from|desist from|hold off(?: on)?|for(?:e)?go|"
    r"dispense with|do without|get rid of|steer clear of|stay away from|cut out|cut|omit|skip|drop|ditch|"
    r"lose|leave out|leave off|"
    r"spare me|go easy on|lay off|hold back on|hold|limit|minimi[sz]e|reduce|no more)\s+(?P<rest>.+)"
)
_IDLE_GERUND = re.compile(
    r"(?:the )?(?:kidding|joking around|joking|laughing|whining|crying|worrying|by|it|that|here|there|"
    r"for (?:a|the)|running away|time|now|back|off)\b"
)
_EACH_PART = re.compile(
    r"\b(?:every|each|all|any)(?: (?:single|one|of|your|my|the|you|new|other|future|such|technical|"
    rf"foreign|spoken|written|numeric|\w+))?(?: \w+)? {words.REPLY_PARTS}\b|\b(?:your|my) (?:\w+ )?"
    r"(?:replies|answers|responses|messages|outputs|explanations|sentences|paragraphs|emails|tone|"
    r"language|style|formatting|writing|code)\b|"
    r"\b(?:everything|anything|throughout|consistently|exclusively)\b|\b(?:only|solely)\b"
)
_IN_EVERY_REPLY = re.compile(
    r"\b(?:in|to|into|with|of|on|under|after|before|below|beneath|for) (?:every|each|all|any)(?: single|"
    r" one)?(?: of)?(?: your| the)?(?: \w+)? "
    r"(?:repl(?:y|ies)|answers?|messages?|responses?|turns?)\b(?! (?:from|of|in) )"
)
_TASK_VERBS = words_of(
    """
    sort count find extract sum total delete remove replace rename translate summarise summarize compare check fix
    read search make download collect get describe proofread review explain highlight add rewrite rephrase calculate
    compute number merge create draw generate produce build plot solve name tell identify copy move group
    """
)
_SHOWING = words_of(
    """
    give show write display list print quote put state express provide present
    """
)
_PLAIN_MANNER = one_of(
    # "spell out numbers below ten": what is done to a bare plural is done every time
    r"^(?:spell|write out|number|capitali[sz]e|italici[sz]e|bold|underline|cite|round|abbreviate|format|label|"
    r"mark|tag|annotate|prefix|footnote|double-check|verify|indent|wrap|end|begin|start|sign)"
    r" (?:out |up |down |off )?(?:your |all )?(?!the\b|this\b|that\b|these\b|those\b|an?\b|my\b|"
    rf"it\b)(?:[\w-]+ ){{0,2}}?(?:{words.REPLY_PARTS}|{words.MATTERS}|arguments|points|reasons|thoughts|"
    r"paragraphs)\b",
    # use "they" for Robin
    rf"^(?:use|say|write|put) {MASK}+ (?:for|instead of|rather than|when|as|not|and not)\b",
)
_MANNER = re.compile(
    rf"{words.REPLY_PARTS} (?:only )?(?:in|as|with|without|using|to) (?!the\b|this\b|that\b|these\b|"
    r"those\b|my\b|our\b|an?\b|it\b)"
)
NAMING = re.compile(
    r"^(?:always |only |please |just )*(?:call|address|refer to|name) me (?:as |by |with )?(?!a\b|an\b|"
    r"when\b|at\b|on\b|if\b|tomorrow\b|back\b|later\b|tonight\b|today\b|crazy\b|old-fashioned|again\b|"
    r"in\b|after\b|"
    r"before\b|maybe\b|anytime\b|once\b|up\b|out\b|now\b|asap\b|every\b|from\b|this\b|that again|what\b|"
    r"paranoid|stupid|lazy|naive|picky|weird|old\b|mad\b|when|whenever|\d)\S"
    r"|^(?:you (?:can|may|should|could|must|will|shall|are to) )(?:just |simply )?(?:call|address|"
    r"refer to) me (?:as |"
    r"by )?(?!a\b|an\b|when|at\b|on\b|if\b|tomorrow|back|later|any|in\b|after|before|from|every|tonight|"
    r"today|up\b)\S"
    r"|^i (?:would |do )?(?:like|prefer|want|love|rather)(?: it)?(?: to be| being| be) (?:called|"
    r"addressed|referred)\b|^i go by \S"
    r"|^my pronouns are\b|^keep (?:on )?(?:calling|addressing) me \S|^it is (?:dr|mr|mrs|ms|mx|prof|"
    r"professor|captain|lady)\b"
)
UNWISHED = re.compile(
    r"^i (?:do not|never|no longer|hate|would hate)(?: (?:really|ever))?(?: (?:wish|want|like|care|"
    r"need))? (?:to be|being|getting|to get) (?P<verb>\w+ed|told|spoken|given|shown|sworn)\b"
)
RELEASE = re.compile(r"^you (?:do not (?:need|have) to|need not|do not need) (?P<rest>.+)")
ROLE = re.compile(
    r"^my (?:title|name|nickname|rank|handle|pronouns?) (?:is|are)\b|^you (?:are|will be|become|play|"
    r"work as|act as) (?:now )?(?:my|an?|the|called|named)\b|^(?:i|that|it|this|"
    r"they) (?:always )?(?:means?|refers? to|stands? for)\b"
)
_BEFORE_ASKING = re.compile(
    r"^(?:ask|check|confirm|consult|warn|tell|notify|clear it|get my|run it by me|"
    r"wait)\b.*\b(?:before (?:you|any|\w+ing)|first)\b"
)
_STYLE_ORDERS = one_of(
    r"^(?:answer|reply|respond|speak|talk|communicate|chat|converse|write)(?: back)?(?: to me| with me|"
    r" me)?(?: only| always| solely| exclusively)?(?: in| with|"
    rf" using)? (?:\w+ ){{0,2}}?(?:{words.STYLE}|{words.LANGUAGE})\b",
    r"^keep (?:it|things|them|your \w+(?: \w+)?|all \w+|answers|replies|responses|explanations|"
    r"sentences|messages|(?:every|each|any) \w+|the (?:tone|style|language|answers|replies|jargon|code|"
    rf"explanations))(?: \w+)?(?: {words.STYLE}|(?: as)? (?:to|under|below|at|within|short|free|easy|"
    r"light)\b)",
    r"^(?:use|stick (?:to|with)|prefer|adopt|go with|switch to)(?: only| the| a| an| more|"
    rf" fewer)*(?: \w+)? ?(?:{words.STYLE})\b",
    rf"^be (?:as |more |less |very |always |a bit |a little |extremely |brutally )*(?:{words.STYLE}|"
    r"to the point|careful with|critical|encouraging|skeptical|sceptical|patient|gentle|kind|funny|"
    r"objective|explicit|consistent|straightforward)\b",
    r"^(?:act|pretend|behave|roleplay|role-play|play the role|take the role|think of yourself|"
    r"consider yourself)\b(?: as| like| to be| that you)",
    r"^(?:answer|reply|respond|talk|speak|write|explain|describe)(?: to me| everything|"
    r" things)? (?:as if|as though|like (?:a|an|i|you))\b",
    r"^use (?:the |a |an )?(?:\w+ ){0,2}(?:comma|dash|spellings?|format|notation|style|tone|"
    r"quotation marks|pronouns?|clock|calendar|"
    r"convention|system|units?|capitals?|quotes|brackets)\b",
    r"^(?:treat|talk to|speak to|write to|explain (?:\w+ )?to|address) me (?:like|as)\b",
    r"^(?:explain|describe|teach|present) (?:things|everything|stuff|concepts|ideas|it all)\b",
    r"^(?:limit|restrict|confine|shorten|format|structure|phrase|word|write|make|give|end|finish|close|"
    r"begin|start|sign|tag|prefix) (?:all |each |every |any )?(?:of )?(?:your(?: \w+)? (?:replies|"
    r"answers|responses|messages|outputs|explanations|sentences|emails)|yourself|answers|replies|dates|"
    r"numbers|prices|amounts|times)\b",
    r"^(?:assume|presume) (?:that )?i (?:am|know|use|work|live|do not|have no)\b",
)
ENSURE = re.compile(
    r"^(?:make sure|make certain|remember|be sure|ensure|see to it|take care|be careful|do not forget|"
    r"never forget|try to|aim to|get (?:in|into) the habit of|make it (?:a|your) (?:rule|habit|point|"
    r"principle))(?: that)?(?: you)?(?: to)?\s+(?P<rest>.+)"
)


class Order(NamedTuple):
    """An order without its subject: ``kind`` bare, should, wish, prefer; the adverbs before the verb; the rest."""

    kind: str
    always: bool
    banned: bool
    rest: str
    only: bool = False


def order_of(clause: str) -> Order | None:
    """The order that a clause is, if it is one."""
    for pattern, kind in (
        (_SHOULD, "should"),
        (_AGREED, "prefer"),
        (_WISH, "wish"),
        (_NICE, "prefer"),
        (_LET_US, "bare"),
    ):
        match = pattern.match(clause)
        if match:
            groups = match.groupdict()
            if groups.get("verb") in ("prefer", "rather", "appreciate", "grateful", "insist", "glad", "happy"):
                kind = "prefer"
            rest = re.sub(r"^(?: ?(?:to|would|could|should|did)\b)+", "", groups["rest"]).strip()
            before = " ".join(groups.get(name) or "" for name in ("before", "no", "nt", "not"))
            return with_adverbs(kind, before, rest)
    released = RELEASE.match(clause)
    if released:
        return with_adverbs("should", "never", released["rest"])
    if inverted := _ARE_YOU_TO.match(clause):
        return with_adverbs("should", "never", inverted["rest"])
    if welcome := _WELCOME.match(clause):
        return with_adverbs("bare", "", welcome["rest"])
    denied = _DO_NOT.match(clause)
    if denied:
        return with_adverbs("bare", "not", denied["rest"])
    order = with_adverbs("bare", "", clause)
    return order if _is_bare_verb(order) else None


def with_adverbs(kind: str, before: str, rest: str) -> Order:
    """An order with the adverbs before its verb read off."""
    always = re.search(r"\b(?:always|never|ever|only)\b", before) is not None
    banned = re.search(r"\b(?:not|never)\b", before) is not None
    only = False
    while adverb := _ADVERB.match(rest):
        only = only or adverb.group().startswith(("only", "solely"))
        always = (
            always
            or adverb.group().startswith(("always", "never", "only ever", "consistently", "strictly"))
            or (kind == "should" and adverb.group().startswith("only"))
        )
        banned = banned or adverb.group().startswith(("never", "not"))
        rest = rest[adverb.end() :].removeprefix("to ")
    return Order(kind, always, banned, rest, only)


def _is_bare_verb(order: Order) -> bool:
    first, _, rest = order.rest.partition(" ")
    if not first.isalpha() and "-" not in first:
        return False
    if first in words.IMPERATIVES:
        # "answer is", "use of", "list price was": the noun
        return not re.match(r"(?:is|are|was|were|has|of|'s)\b", rest)
    if first in words.NOT_VERBS or re.search(r"(?:ed|ing|[^su]s|ly)$", first) or first.endswith("'s"):
        return False
    return (
        order.always
        or re.match(r"(?:the|a|an|your|my|me|it|them|every|each|all|any|in|with|to|up|out|no|only|on)\b", rest)
        is not None
    )


def verb_stems(verb: str) -> set[str]:
    """The forms a verb in -ed or -ing may come from."""
    stems = {verb, {"wrote": "write", "spoke": "speak", "kept": "keep", "gave": "give", "told": "tell"}.get(verb, verb)}
    for ending in ("ing", "ed", "d"):
        if verb.endswith(ending):
            bare = verb.removesuffix(ending)
            stems |= {bare, f"{bare}e", bare[:-1] if bare[-1:] == bare[-2:-1] else bare}
    return stems


def concerns_assistant(rest: str) -> bool:
    """Whether an order is of a kind that an assistant is given; mankind is told much else."""
    verb = rest.split(" ", 1)[0]
    if verb_stems(verb) & words.DEEDS:
        return True
    if re.match(
        r"(?:make (?:\w+ )?up|bring (?:\w+ )?up|look (?:\w+ )?up|leave (?:\w+ )?out|write (?:\w+ )?out|"
        r"get (?:straight |right )?to the point|cut to the chase|stay on (?:topic|point)|"
        r"think (?:it )?(?:step by step|out loud)|show your work\w*|play along)\b",
        rest,
    ):
        return True
    return bool(MATTER.search(rest) or THING.search(rest) or ME.search(rest))


_THAT_RULE = re.compile(
    r"(?:follow|respect|obey|stick to|do|keep to|adhere to|observe|apply|remember) (?:that|this|it|these|those)\b"
)
_ONE_PIECE = re.compile(r"(?:write|give|make) (?:me )?(?:a|an|the|some|one|two|three|this)\b")
_SOON = re.compile(r"\b(?:today|tonight|tomorrow|right now|for now|this (?:time|week|month|evening|morning))\b")
_OFFER = re.compile(
    r"(?:let me know|shoot me|hit me up|reach out|drop me|give me a (?:call|shout|ring)|ask away|"
    r"feel free)\b"
)


_WHEN_YOU_DO = re.compile(
    r"\b(?:whenever|each time|every ?time) you (?!need|want|like|have|feel|are ready|get|can|come|go|make it)"
)


def order_binds(order: Order, situation: Situation) -> bool:
    """Whether the order is meant to last."""
    rest = order.rest
    if not rest or (_OFFER.match(rest) and not _WHEN_YOU_DO.search(rest)):
        return False
    if order.banned and (_IDIOM.match(rest) or _INVERTED.match(rest)):
        return False
    stopped = None if order.kind == "bare" else STOP.match(rest)
    if stopped and stop_binds(stopped, situation):
        return True
    verb = rest.split(" ", 1)[0]
    ours = concerns_assistant(rest)
    if order.always:
        return ours or order.kind in ("wish", "prefer") or _THAT_RULE.match(rest) is not None
    one_off = ONE_OFF.search(rest) is not None
    if situation.condition:
        return (ours or order.kind == "bare") and not _SOON.search(rest)
    if situation.lasting:
        return ours or order.kind == "bare"
    # a colon after "answer in one word" brings a job; "be consistent: …" is a manner all the same
    if one_off or (situation.colon and verb not in ("be", "keep", "stick")):
        return False
    if order.banned:
        return ours and not situation.tasked
    if order.only and verb in words.DEEDS and not TASK_OBJECT.match(rest):
        return True
    return _is_manner(order) or (ours and _is_of_each(order, verb))


def _is_manner(order: Order) -> bool:
    """Whether the order says how to answer rather than what."""
    rest = order.rest
    if _BEFORE_ASKING.search(rest) or _STYLE_ORDERS.search(rest):
        return _ONE_PIECE.match(rest) is None
    if _IN_EVERY_REPLY.search(rest) or (order.kind == "bare" and _PLAIN_MANNER.match(rest)):
        return True
    goes_on = re.match(r"(?:keep|continue) (?:on )?(?P<gerund>\w+ing)\b", rest)
    if goes_on and verb_stems(goes_on["gerund"]) & words.DEEDS:
        return MATTER.search(rest) is not None or ME.search(rest) is not None
    return False


def _is_of_each(order: Order, verb: str) -> bool:
    """Whether the order is about every answer, all dates, numbers as such, and not about one piece of work."""
    rest = order.rest
    if TASK_OBJECT.match(rest):
        return False
    told = order.kind in ("should", "prefer")
    if _EACH_PART.search(rest):
        if verb in _SHOWING and not told:
            return _MANNER.search(rest) is not None and not re.match(r"\w+ me\b", rest)
        return told or verb not in _TASK_VERBS
    return told and (bool(verb_stems(verb) & words.DEEDS) or MATTER.search(rest) is not None)


def stop_binds(stopped: re.Match[str], situation: Situation) -> bool:
    """Whether "stop …", "avoid …", "skip …" is said of a habit and not of a job."""
    verb, rest = stopped["verb"], stopped["rest"]
    if ONE_OFF.search(rest) and not situation.lasting:
        return False
    if verb in ("stop", "quit", "cease"):
        gerund = re.match(r"(?:with (?:all )?(?:the |your )?)?\w+ing\b|(?:with )?(?:the|all|your) ", rest)
        return (
            gerund is not None
            and not _IDLE_GERUND.match(rest)
            and (concerns_assistant(rest) or rest.startswith("being"))
        )
    if verb in (
        "limit",
        "minimise",
        "minimize",
        "reduce",
        "cut",
        "drop",
        "skip",
        "omit",
        "lose",
        "hold",
        "leave out",
        "leave off",
    ):
        # "drop the table users" is a job; "drop the pleasantries" is a manner
        return (
            situation.lasting
            or re.match(
                r"(?:all |any |the |your )*"
                + f"(?:{words.MATTERS})"
                + r"(?:\W*$| (?:in|from|of|at the \w+ of) (?:your|all|every|each|any)\b)",
                rest,
            )
            is not None
        )
    return concerns_assistant(rest)
