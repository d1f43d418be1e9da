"""Which English sentences bind the assistant from then on. Judged clause by clause; see `binds`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from memagent.context import english_words as words
from memagent.context.sentences import MASK, Sentence


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


# --- one spelling ------------------------------------------------------------------------------

_SPELLINGS = [
    (re.compile(pattern), full)
    for pattern, full in (
        (r"\b(do|does|did|would|should|could|must|need|is|are|was|were|has|have|had)n'?t\b", r"\1 not"),
        (r"\bcan'?t\b|\bcannot\b", "can not"),
        (r"\bwon'?t\b", "will not"),
        (r"\b(i|you|he|she|we|they|that|there|it)'d\b", r"\1 would"),
        (r"'ll\b", " will"),
        (r"'ve\b", " have"),
        (r"'re\b", " are"),
        (r"\bi'?m\b", "i am"),
        (r"\blet'?s\b", "let us"),
        (r"\b(it|that|he|she|there|what|here)'s\b", r"\1 is"),
        (r"\b(?:pls+|plz+|plea?se?|pelase)\b", "please"),
        (r"\bu\b", "you"),
        (r"\bur\b", "your"),
        (r"\bgonna\b", "going to"),
        (r"\bwanna\b", "want to"),
        (r"\b(?:form|fron) now on\b", "from now on"),
        (r"\b(?:al+wa?ys?|alwyas|alwasy|awlays|allways)\b", "always"),
        (r"\b(?:nevr|neevr|nver|neveer|nevver)\b", "never"),
        (r"\b(?:evry|eveyr|evrey)\b", "every"),
        (r"\b(?:whenver|wheneevr|when ever)\b", "whenever"),
    )
]


def spelled_out(text: str) -> str:
    """Lower case, contractions written out, the commonest slips of the keyboard mended."""
    text = text.lower().replace("’", "'")
    for pattern, full in _SPELLINGS:
        text = pattern.sub(full, text)
    return text


# --- clauses -----------------------------------------------------------------------------------

_BREAK = re.compile(r"[,;:()!?]+|\.(?=\s|$)|\s[-–—]+\s|[—–]|\b(?:and|but|because|although|though|plus)\b(?! so)")
_OPENER = re.compile(
    r"(?:hey|hi|hello|there|ok|okay|oh|ah|um|hmm|well|so|and|but|also|btw|by the way|please|kindly|just|simply|actually|honestly|now|then|"
    r"yes|yeah|fyi|p\.?s\.?|note that|note|nb|one (?:more |last |other |small |quick )*(?:thing|request|rule|note|favou?r)|another (?:thing|rule|request)|"
    r"(?:quick|small|new|first|second|third|last|final|important) (?:thing|note|rule|request|favou?r|reminder|ask)|for the record|to be clear|"
    r"(?:as|like) i (?:said|told you|mentioned)(?: before| earlier)?|i repeat|i said|thanks|thank you|look|listen|"
    r"dear|assistant|bot|buddy|mate|friend|if (?:possible|you can|you could|you do not mind|you please)|where possible|when possible|therefore|"
    r"hence|first(?:ly)?|second(?:ly)?|third(?:ly)?|finally|lastly|reminder|rule(?: (?:number )?\d+)?|#\d+|in general|generally|"
    r"do me a favou?r|deal|agreed|for me|from me|that said|in short|basically|seriously|really|maybe|perhaps|going further|moreover|"
    r"furthermore|additionally|in addition|on top of that|besides|instead|that is why|overall|too)\b[\s.]*"
)
_SCOPE = re.compile(words.SCOPE)
_RULE_LEAD = re.compile(
    r"\W*(?:(?:ok|okay|so|and|also|here is|a|the|my|one|another|new|first|second|third|last|next|more|small|quick|simple|only|house|ground|general|standing|important|final|\d+(?:st|nd|rd|th)?) )*"
    r"(?:rule|request|wish|preference|instruction|condition|guideline|requirement)s?(?: (?:number )?(?:\d+|one|two|three))?(?: (?:for|to) (?:you|this \w+|our \w+|all \w+|me))?:"
)
_ALONE = re.compile(rf"always|consistently|without fail|ever|every single time|{words.SCOPE}")
_HEAD_SCOPE = re.compile(rf"(?:{words.SCOPE})[\s,]*")
_MATTER = re.compile(rf"\b(?:{words.MATTERS}|{words.REPLY_PARTS})\b")
_REPLY_PART = re.compile(rf"\b{words.REPLY_PARTS}\b")
_LANGUAGE = re.compile(rf"\b{words.LANGUAGE}\b")
_STYLE = re.compile(rf"\b(?:{words.STYLE})\b")
_ONE_OFF = re.compile(words.ONE_OFF)
_ME = re.compile(r"\b(?:me|my|mine|myself|i)\b")
_THING = re.compile(rf"{MASK}|\b[a-z]*\d[\w-]*\b|[\w-]+\.(?:\w{{1,4}})\b|/\w|\w_\w|<[a-z]+>")

# --- what makes a sentence somebody else's, a question, a fancy ---------------------------------

_SPEECH = (
    r"(?:says|said|tells|told|asks|asked|wrote|writes|replied|shouted|claims|claimed|insists|insisted|thinks|thought|believes|"
    r"believed|reminds|reminded|warns|warned|advised|advises|suggested|suggests|ordered|taught|preached|(?:saying|song|line|rule) goes|reads|states|"
    r"used to say|wants|wanted|prefers|preferred|demands|demanded|expects|requires|recommends|recommended|motto|proverb|lyrics?|slogan|"
    r"(?:they|people|some|many|others|experts|doctors|parents) (?:always |often )?(?:say|tell|think|believe|claim))"
)
_REPORT = _any(
    rf"^(?!(?:(?:when|if|once|whenever|each time|every time|any ?time|as|like) )?(?:i|you)\b)(?:[\w{MASK}'-]+ ){{1,6}}{_SPEECH}\b(?! you to)",
    r"^(?:according to|as they say|as the|they say|remember (?:the|that|when)|to quote|in the words of|my (?:mother|father|mum|mom|dad|"
    r"grand\w+|boss|teacher|coach|doctor)'?s? (?:motto|rule|advice|line|mantra)|the (?:motto|rule|sign|saying|proverb|song|title|chorus|slogan|"
    r"law|golden rule|first rule))\b",
    r"^(?:tell|ask|remind|let|teach|warn|inform|advise|order) (?!me\b|us\b|you\b)\w+ (?:\w+ )?(?:to|not|never|that|always|know)\b",
    r"^i (?:also |just |then |once |always )?(?:told|asked|reminded|taught|warned|begged|advised|tell|remind|teach) (?!you\b|it\b|that you\b)",
    r"^i (?:also |just |then |once )?(?:made|let|want|need|would like) "
    r"(?!you\b|it\b|that you\b|all\b|every\b|each\b|your\b|the (?:answers|replies)\b)(?:my )?\w+ (?:\w+ )?(?:to|not to|never to|that)\b",
)
_SAID_BEFORE_COLON = re.compile(
    r"^(?:the|a|an|his|her|their|our|my \w+'s|\w+'s)\b(?!.*\b(?:rules?|requests?|wish(?:es)?|preferences?|instructions?|conditions?|favou?rs?|answers?|replies|format|style|code|tone|language|point)\b)"
)
_REPORT_LATE = _any(r"^that is (?:how|what|the (?:rule|policy|law)|why)\b", rf"^(?:my \w+|he|she|they|people|everyone|the \w+|mum|dad|[a-z]+) (?:always |often |once )?{_SPEECH}\W*$")
_FRESH_START = re.compile(r"(?:so|but|please|therefore|hence|now|from now on)\b")
_FANCY = re.compile(
    r"(?<!as )(?<!even )\bif (?:\w+ ){1,3}(?:had|were|was)\b|\bwould (?:\w+ )?have\b|\b(?:i|we) wish (?:i|we|he|she|it|they)\b|\bimagine\b|\bsuppose\b"
)
_ASKED_POLITELY = re.compile(
    r"^(?:(?P<can>can you)|(?:could|would|will|might) you(?! mind)|(?:would|do) you mind(?: if you)?|(?:may|can|could|might) i (?:please )?ask (?:that )?you(?: to)?|"
    r"(?:is|would) it (?:be )?(?:possible|ok|okay|too much)(?: for you)?(?: to ask you)? to|(?:how|what) about|why do not you|do you think you (?:can|could)|"
    r"could we|can we)(?: please| maybe| perhaps| just| kindly)*\s+(?P<rest>.+)"
)
_SUBJECT = re.compile(
    r"(?:i|he|she|it|we|they|you|this|that|these|those|there|the|a|an|my|your|his|her|its|our|their|who|which|\w+ (?:is|are|was|were|has|have|had)|\w+s)\b(?! (?:want|need|would|should|must|prefer))"
)
_TAG_QUESTION = re.compile(r",\s*(?:ok|okay|please|alright|all right|right|deal|yes|will you|would you|could you|can you|got it|understood|thanks)\s*\?+\W*$")


class _Clause(NamedTuple):
    """``fresh``: it begins with "so", "please" …, so that what others said before does not reach it;
    ``colon``: a colon and more follow, so that a job may be meant ("answer in one word: …"); ``joined``: by
    "and" or "but" to the clause before, whose subject may be meant ("they are kind and always make us smile")."""

    text: str
    scope: bool
    fresh: bool
    colon: bool
    joined: bool


def _clauses(text: str) -> Iterator[_Clause]:
    start, before = 0, ""
    for end, after in [*((match.start(), match.end()) for match in _BREAK.finditer(text)), (len(text), len(text))]:
        clause, colon = text[start:end].strip(" .…\"'*_"), ":" in text[end:after] and bool(text[after:].strip())
        scope = fresh = False
        while clause:
            fresh = fresh or _FRESH_START.match(clause) is not None
            opener = _OPENER.match(clause)
            head = None if opener else _HEAD_SCOPE.match(clause)
            if head and re.match(r"(?:every ?time|each time|any ?time|whenever)\b", clause):
                break
            step = opener or head
            if step is None or not step.end():
                break
            scope, clause = scope or head is not None, clause[step.end() :].strip()
        joined = before.strip() in ("and", "but")
        before = text[end:after]
        start = after
        yield _Clause(clause, scope, fresh, colon, joined)


def binds(sentence: Sentence) -> bool:
    """Whether the sentence holds an order, wish or ban addressed to the assistant that is meant to last."""
    text = spelled_out(sentence.plain)
    text = _TAG_QUESTION.sub("", text)
    if _FANCY.search(text):
        return False
    asking = re.search(r"\?\W*$", text) is not None
    reported = tasked = False
    clauses = list(_clauses(text))
    scope = sentence.ruled or any(_ALONE.fullmatch(clause.text) or (clause.scope and not clause.text) for clause in clauses)
    scope = scope or _RULE_LEAD.match(text) is not None
    condition = had_subject = False
    stressed = re.search(r"\b(?:please|only|always|nothing else|at all times)\b", text) is not None
    if any(_REPORT_LATE.search(clause.text) for clause in clauses[1:]):
        return False
    for clause in clauses:
        reported = reported and not clause.fresh
        if _REPORT.search(clause.text) or (clause.colon and _SAID_BEFORE_COLON.match(clause.text)):
            reported = True
        given = _order(clause.text) if clause.colon else None
        if given and given.kind == "bare" and _TASK_OBJECT.match(given.rest) and not re.match(r"(?:remember|follow|note|obey|respect|do|keep|make it|take)\b", given.rest):
            reported = True  # "Draft a rule: never …"
        if reported:
            continue
        scope = scope or clause.scope
        polite = _ASKED_POLITELY.match(clause.text)
        if polite and _polite(polite, scope or _SCOPE.search(text) is not None):
            return True
        if asking or polite:
            continue
        if _is_condition(clause.text):
            condition = True
        lasting = scope or _SCOPE.search(clause.text) is not None or bool(re.search(_LASTING_CONDITION, clause.text))
        if sentence.after_paste and not scope:
            continue
        subject, had_subject = had_subject, _SUBJECT.match(clause.text) is not None and _order(clause.text) is None
        if clause.joined and subject and (bare := _order(clause.text)) and bare.kind == "bare":
            had_subject = True
            continue
        situation = _Situation(lasting, condition, tasked, clause.colon, stressed)
        if _clause_binds(clause.text, situation) or (sentence.ruled and _fragment(clause.text)):
            return True
        tasked = tasked or _order(clause.text) is not None
    return scope and not sentence.ruled and not asking and _lone_scope(clauses)


def _lone_scope(clauses: list[_Clause]) -> bool:
    """"From now on, short answers": the order is a mere noun."""
    return any(_fragment(clause.text) and (_MATTER.search(clause.text) or _STYLE.search(clause.text)) for clause in clauses)


def _fragment(clause: str) -> bool:
    """A few words without a subject and finite verb, or an order in any words."""
    if not clause:
        return False
    if _order(clause) is not None:
        return True
    finite = re.search(r"\b(?:is|are|was|were|am|has|have|had|does|did|will|would|i|he|she|we|they|it)\b|\w{3,}ed\b", clause)
    return finite is None and len(clause.split()) <= 8


# --- conditions --------------------------------------------------------------------------------

_TALK = (
    r"(?:say|write|ask|give|send|paste|type|mention|share|upload|use|post|request|talk|speak|report|call|sound|seem|am|quote|show|want|"
    r"need|refer|switch|do|make|forget|greet|tell|provide|drop|enter|start|begin|get)"
)
_LASTING_CONDITION = (
    r"\b(?:whenever|each time|every ?time|any ?time)\b"
    rf"|\b(?:when|if|once|as soon as|in case) (?:i|we) (?:ever |just |only |do not |am |are )?{_TALK}\b"
    r"|\b(?:before|after) (?:you \w+ (?:\w+ )?(?:any\w*|every\w*|each|an?|something|\w+s)|each|every|any)\b|\b(?:when|if) (?:ever )?(?:in doubt|unsure|uncertain|unclear|not sure)\b"
    r"|\b(?:when|if|once|in case|before) you(?: ever)? (?:are (?:unsure|not sure|uncertain|in doubt|asked)|do not|can not|quote|mention|use|write|cite|give|list|answer|reply|show|recommend|"
    r"suggest|make|refer|talk|explain|run|delete|send|translate|count|round)\b"
    r"|\b(?:when|if) (?:a|an|any|the|my) (?:\w+ )?(?:question|request|answer|message|code|number|price|date|query|topic|task)\b"
    r"|\b(?:when|before) \w+ing\b"
)


def _is_condition(clause: str) -> bool:
    if re.match(r"should (?:i|we|you|any)\b", clause):
        return True
    opens = re.match(r"(?:when|whenever|if|once|each time|every ?time|any ?time|as soon as|in case|for every|for each|before|after|while|unless)\b", clause)
    return opens is not None and re.search(_LASTING_CONDITION, clause) is not None and not _ONE_OFF.search(clause)


class _Situation(NamedTuple):
    """What the clauses before said: ``lasting`` "from now on"; ``condition`` "whenever I …"; ``tasked`` a
    job was given; ``colon`` the sentence goes on with the material of a job; ``stressed`` it says please, only, always."""

    lasting: bool
    condition: bool
    tasked: bool
    colon: bool
    stressed: bool = False


# --- orders ------------------------------------------------------------------------------------

_ADVERB = re.compile(r"(?:always|never|not|only ever|only|ever|also|please|just|kindly|strictly|consistently|at least|really|be sure to|make it a habit to|simply)\b\s*")
_SHOULD = re.compile(
    r"^(?:the assistant|you)(?P<before>(?: (?:also|really|just|always|never|only|simply))*) "
    r"(?:should|must|shall|need to|have to|have got to|ought to|had better|(?:will|would)(?= (?:always|never|not|only)\b)|are (?P<nt>not |never |always |only )?to|are (?P<no>not )?(?:allowed|permitted|supposed|expected|requested|required|asked) to|"
    r"(?:may|can|might)(?= (?:not|only|never|skip|drop|omit|leave out|leave off|spare|cut|stop|save yourself|lose|ditch|do without)\b))\b\s*(?P<rest>.*)"
)
_AGREED = re.compile(r"^(?:let us agree|we agreed?|i (?:suggest|propose)|i would suggest)(?: that)? you(?P<before>(?: (?:also|always|never|only))*) (?P<rest>.+)")
_WISH = re.compile(
    r"^i(?P<before>(?: (?:really|also|just|still|much|would|strongly|always|do|must|will|am|be|very|most|so|have to|kindly|only|never))*)(?P<not> not)?"
    r"(?: (?:really|ever))?"
    r" (?P<verb>want|need|like|love|prefer|expect|appreciate|ask|rather|insist|require|request|demand|asking|counting on|grateful|glad|happy|beg|urge)"
    r"(?: it| that| for| if| of| much)* you(?P<rest>(?: to| would| could| should| not| always| never| did)* .+)"
)
_NICE = re.compile(
    r"^(?:it would be|it is|better|best|would be) (?:\w+ )?(?:great|nice|good|helpful|lovely|best|better|ideal|important|essential|crucial|vital|imperative|wonderful|easier|cool|appreciated|preferable)"
    r"(?: (?:for|to) me)? (?:if|that|when) you(?: would| could| should)? (?P<rest>.+)"
)
_LET_US = re.compile(r"^(?:let us|we (?:should|must|need to)|shall we) (?P<rest>.+)")
_DO_NOT = re.compile(r"^(?:do not|do never|never ever) (?:you )?(?:ever )?(?P<rest>.+)")
_TASK_OBJECT = re.compile(r"^\S+ (?:me |us )?(?:a|an|the|this|that|these|those|it|him|her|them|some|one|two|my)\b")
_IDIOM = re.compile(
    r"^(?:worry|bother|mind me|think so|know|care|laugh|panic|cry|remember|be (?:sad|silly|afraid|shy|mad|angry|ridiculous|rude|late|long|upset|sorry)|"
    r"get me wrong|get me started|forget|tell (?:me (?:you|that|it|he|she|they|about)|anyone i)|make me|you|hesitate|understand|dare|feel like|see why|stop believ|give up|"
    r"leave me|look back|say (?:that|a word|never|goodbye|die)|let me|go|hold|blame|judge|mention it|ask me (?:why|how)|take my word|rush)\b"
)
_INVERTED = re.compile(r"^(?:have|has|had|do|does|did|am|is|was|were|will|would|can|could|shall|should) (?:i|we|he|she|they|you|it)\b")  # "never have I"
_STOP = re.compile(r"^(?P<verb>stop|quit|cease|avoid|refrain from|abstain from|desist from|hold off(?: on)?|for(?:e)?go|dispense with|do without|get rid of|steer clear of|stay away from|cut out|cut|omit|skip|drop|ditch|lose|leave out|leave off|"
                   r"spare me|go easy on|lay off|hold back on|hold|limit|minimi[sz]e|reduce|no more)\s+(?P<rest>.+)")
_IDLE_GERUND = re.compile(r"(?:the )?(?:kidding|joking around|joking|laughing|whining|crying|worrying|by|it|that|here|there|for (?:a|the)|running away|time|now|back|off)\b")
_EACH_PART = re.compile(
    rf"\b(?:every|each|all|any)(?: (?:single|one|of|your|my|the|you|new|other|future|such|technical|foreign|spoken|written|numeric|\w+))?(?: \w+)? {words.REPLY_PARTS}\b|\b(?:your|my) (?:\w+ )?"
    r"(?:replies|answers|responses|messages|outputs|explanations|sentences|paragraphs|emails|tone|language|style|formatting|writing|code)\b|"
    r"\b(?:everything|anything|throughout|consistently|exclusively)\b|\b(?:only|solely)\b"
)
_IN_EVERY_REPLY = re.compile(
    r"\b(?:in|to|into|with|of|on|under|after|before|below|beneath|for) (?:every|each|all|any)(?: single| one)?(?: of)?(?: your| the)?(?: \w+)? "
    r"(?:repl(?:y|ies)|answers?|messages?|responses?|turns?)\b(?! (?:from|of|in) )"
)
_TASK_VERBS = frozenset(
    "sort count find extract sum total delete remove replace rename translate summarise summarize compare check fix read search make "
    "download collect get describe proofread review explain highlight add rewrite rephrase calculate compute number merge create draw "
    "generate produce build plot solve name tell identify copy move group".split()
)
_SHOWING = frozenset("give show write display list print quote put state express provide present".split())
_PLAIN_MANNER = _any(
    # "spell out numbers below ten": what is done to a bare plural is done every time
    rf"^(?:spell|number|capitali[sz]e|italici[sz]e|bold|underline|cite|round|abbreviate|format|label|mark|tag|annotate|prefix|footnote|double-check|verify|indent|wrap|end|begin|start|sign)"
    rf" (?:out |up |down |off )?(?:your |all )?(?!the\b|this\b|that\b|these\b|those\b|an?\b|my\b|it\b)(?:[\w-]+ ){{0,2}}?(?:{words.REPLY_PARTS}|{words.MATTERS}|arguments|points|reasons|thoughts|paragraphs)\b",
    # use "they" for Robin
    rf"^(?:use|say|write|put) {MASK}+ (?:for|instead of|rather than|when|as|not|and not)\b",
)
_MANNER = re.compile(rf"{words.REPLY_PARTS} (?:only )?(?:in|as|with|without|using|to) (?!the\b|this\b|that\b|these\b|those\b|my\b|our\b|an?\b|it\b)")
_NAMING = re.compile(
    r"^(?:always |only |please |just )*(?:call|address|refer to|name) me (?:as |by |with )?(?!a\b|an\b|when\b|at\b|on\b|if\b|tomorrow\b|back\b|later\b|tonight\b|today\b|crazy\b|old-fashioned|again\b|in\b|after\b|"
    r"before\b|maybe\b|anytime\b|once\b|up\b|out\b|now\b|asap\b|every\b|from\b|this\b|that again|what\b|paranoid|stupid|lazy|naive|picky|weird|old\b|mad\b|when|whenever|\d)\S"
    r"|^(?:you (?:can|may|should|could|must) )(?:just |simply )?(?:call|address|refer to) me (?:as |by )?(?!a\b|an\b|when|at\b|on\b|if\b|tomorrow|back|later|any|in\b|after|before|from|every|tonight|today|up\b)\S"
    r"|^i (?:would |do )?(?:like|prefer|want|love|rather)(?: it)?(?: to be| being| be) (?:called|addressed|referred)\b|^i go by \S"
    r"|^my pronouns are\b|^keep (?:on )?(?:calling|addressing) me \S|^it is (?:dr|mr|mrs|ms|mx|prof|professor|captain|lady)\b"
)
_UNWISHED = re.compile(r"^i (?:do not|never|no longer|hate|would hate)(?: (?:really|ever))?(?: (?:wish|want|like|care|need))? (?:to be|being|getting|to get) (?P<verb>\w+ed|told|spoken|given|shown|sworn)\b")
_RELEASE = re.compile(r"^you (?:do not (?:need|have) to|need not|do not need) (?P<rest>.+)")
_ROLE = re.compile(r"^my (?:title|name|nickname|rank|handle|pronouns?) (?:is|are)\b|^you (?:are|will be|become|play|work as|act as) (?:now )?(?:my|an?|the|called|named)\b|^(?:i|that|it|this|they) (?:always )?(?:means?|refers? to|stands? for)\b")
_BEFORE_ASKING = re.compile(r"^(?:ask|check|confirm|consult|warn|tell|notify|clear it|get my|run it by me|wait)\b.*\b(?:before (?:you|any|\w+ing)|first)\b")
_STYLE_ORDERS = _any(
    rf"^(?:answer|reply|respond|speak|talk|communicate|chat|converse|write)(?: back)?(?: to me| with me| me)?(?: only| always| solely| exclusively)?(?: in| with| using)? (?:\w+ ){{0,2}}?(?:{words.STYLE}|{words.LANGUAGE})\b",
    rf"^keep (?:it|things|them|your \w+(?: \w+)?|all \w+|answers|replies|responses|explanations|sentences|messages|(?:every|each|any) \w+|the (?:tone|style|language|answers|replies|jargon|code|explanations))(?: \w+)?(?: {words.STYLE}|(?: as)? (?:to|under|below|at|within|short|free|easy|light)\b)",
    rf"^(?:use|stick (?:to|with)|prefer|adopt|go with|switch to)(?: only| the| a| an| more| fewer)*(?: \w+)? ?(?:{words.STYLE})\b",
    rf"^be (?:as |more |less |very |always |a bit |a little |extremely |brutally )*(?:{words.STYLE}|to the point|careful with|critical|encouraging|skeptical|sceptical|patient|gentle|kind|funny|objective|explicit|consistent|straightforward)\b",
    r"^(?:act|pretend|behave|roleplay|role-play|play the role|take the role|think of yourself|consider yourself)\b(?: as| like| to be| that you)",
    r"^(?:answer|reply|respond|talk|speak|write|explain|describe)(?: to me| everything| things)? (?:as if|as though|like (?:a|an|i|you))\b",
    r"^(?:treat|talk to|speak to|write to|explain (?:\w+ )?to|address) me (?:like|as)\b",
    r"^(?:explain|describe|teach|present) (?:things|everything|stuff|concepts|ideas|it all)\b",
    rf"^(?:limit|restrict|confine|shorten|format|structure|phrase|word|write|make|give|end|finish|close|begin|start|sign|tag|prefix) (?:all |each |every |any )?(?:of )?(?:your(?: \w+)? (?:replies|answers|responses|messages|outputs|explanations|sentences|emails)|yourself|answers|replies|dates|numbers|prices|amounts|times)\b",
    r"^(?:assume|presume) (?:that )?i (?:am|know|use|work|live|do not|have no)\b",
)
_ENSURE = re.compile(r"^(?:make sure|make certain|remember|be sure|ensure|see to it|take care|be careful|do not forget|never forget|try|aim|get (?:in|into) the habit of|make it (?:a|your) (?:rule|habit|point|principle))(?: that)?(?: you)?(?: to)?\s+(?P<rest>.+)")


class _Order(NamedTuple):
    """An order without its subject: ``kind`` bare, should, wish, prefer; the adverbs before the verb; the rest."""

    kind: str
    always: bool
    banned: bool
    rest: str


def _order(clause: str) -> _Order | None:
    for pattern, kind in ((_SHOULD, "should"), (_AGREED, "prefer"), (_WISH, "wish"), (_NICE, "prefer"), (_LET_US, "bare")):
        match = pattern.match(clause)
        if match:
            groups = match.groupdict()
            if groups.get("verb") in ("prefer", "rather", "appreciate", "grateful", "insist", "glad", "happy"):
                kind = "prefer"
            rest = re.sub(r"^(?: ?(?:to|would|could|should|did)\b)+", "", groups["rest"]).strip()
            before = f"{groups.get('before') or ''} {groups.get('no') or ''} {groups.get('nt') or ''} {groups.get('not') or ''}"
            return _with_adverbs(kind, before, rest)
    released = _RELEASE.match(clause)
    if released:
        return _with_adverbs("should", "never", released["rest"])
    denied = _DO_NOT.match(clause)
    if denied:
        return _with_adverbs("bare", "not", denied["rest"])
    order = _with_adverbs("bare", "", clause)
    return order if _is_bare_verb(order) else None


def _with_adverbs(kind: str, before: str, rest: str) -> _Order:
    always = re.search(r"\b(?:always|never|ever|only)\b", before) is not None
    banned = re.search(r"\b(?:not|never)\b", before) is not None
    while adverb := _ADVERB.match(rest):
        always = always or adverb.group().startswith(("always", "never", "only ever", "consistently", "strictly")) or (kind == "should" and adverb.group().startswith("only"))
        banned = banned or adverb.group().startswith(("never", "not"))
        rest = rest[adverb.end() :].removeprefix("to ")
    return _Order(kind, always, banned, rest)


def _is_bare_verb(order: _Order) -> bool:
    first, _, rest = order.rest.partition(" ")
    if not first.isalpha() and "-" not in first:
        return False
    if first in words.IMPERATIVES:
        # "answer is", "use of", "list price was": the noun
        return not re.match(r"(?:is|are|was|were|has|of|'s)\b", rest)
    if first in words.NOT_VERBS or re.search(r"(?:ed|ing|[^su]s|ly)$", first) or first.endswith("'s"):
        return False
    return order.always or re.match(r"(?:the|a|an|your|my|me|it|them|every|each|all|any|in|with|to|up|out|no|only|on)\b", rest) is not None


def _verb_stems(verb: str) -> set[str]:
    """The forms a verb in -ed or -ing may come from."""
    stems = {verb, {"wrote": "write", "spoke": "speak", "kept": "keep", "gave": "give", "told": "tell"}.get(verb, verb)}
    for ending in ("ing", "ed", "d"):
        if verb.endswith(ending):
            bare = verb.removesuffix(ending)
            stems |= {bare, f"{bare}e", bare[:-1] if bare[-1:] == bare[-2:-1] else bare}
    return stems


def _concerns_assistant(rest: str) -> bool:
    verb = rest.split(" ", 1)[0]
    if _verb_stems(verb) & words.DEEDS:
        return True
    if re.match(r"(?:make (?:\w+ )?up|bring (?:\w+ )?up|look (?:\w+ )?up|leave (?:\w+ )?out|write (?:\w+ )?out)\b", rest):
        return True
    return bool(_MATTER.search(rest) or _THING.search(rest) or _ME.search(rest))


def _clause_binds(clause: str, situation: _Situation) -> bool:
    if not clause:
        return False
    if _NAMING.search(clause) and not re.search(r"\b(?:is|was|are|were)\b", clause.removeprefix("it is").removeprefix("my pronouns are")):
        return True
    if (situation.lasting and _ROLE.match(clause)) or (situation.condition and re.match(r"(?:i|that|it) (?:always )?means?\b", clause)):
        return True
    if _of_a_part(clause, situation) or _ban_of_a_noun(clause, situation) or _wish_for_a_noun(clause):
        return True
    ensured = _ENSURE.match(clause)
    if ensured:
        rest = ensured["rest"]
        always = re.search(r"\b(?:always|never|every|each|all|any)\b|\b(?:habit|rule|point|principle)\b(?= )", clause) is not None
        inner = _Order("should", always, False, rest)
        return _concerns_assistant(rest) and (situation.lasting or situation.condition or _order_binds(inner, situation))
    if re.match(r"my (?:only |one |main |personal |strong )?(?:preference|wish|request|rule|requirement|ask|instruction)s? (?:is|are|would be)\b", clause):
        return _concerns_assistant(clause.split(" ", 2)[2]) and not _ONE_OFF.search(clause)
    if re.match(rf"i prefer {MASK}+ (?:to|over|instead of|rather than)\b", clause):
        return True
    unwished = _UNWISHED.match(clause)
    if unwished and _verb_stems(unwished["verb"]) & words.IMPERATIVES and not _ONE_OFF.search(clause):
        return True
    stopped = _STOP.match(clause)
    if stopped and _stop_binds(stopped, situation):
        return True
    if _RELEASE.match(clause) and not (situation.lasting or re.search(r"\b(?:ever|always|every|each|any)\b", clause)):
        return False
    order = _order(clause)
    return order is not None and _order_binds(order, situation)


_OFFER = re.compile(r"(?:let me know|shoot me|hit me up|reach out|drop me|give me a (?:call|shout|ring)|ask away|feel free)\b")


def _order_binds(order: _Order, situation: _Situation) -> bool:
    rest = order.rest
    if not rest or _OFFER.match(rest):
        return False
    verb = rest.split(" ", 1)[0]
    ours = _concerns_assistant(rest)
    one_off = _ONE_OFF.search(rest) is not None
    if order.banned and (_IDIOM.match(rest) or _INVERTED.match(rest)):
        return False
    stopped = None if order.kind == "bare" else _STOP.match(rest)
    if stopped and _stop_binds(stopped, situation):
        return True
    if order.always:
        return ours or re.match(r"(?:follow|respect|obey|stick to|do|keep to|adhere to|observe|apply|remember) (?:that|this|it|these|those)\b", rest) is not None or order.kind in ("wish", "prefer")
    if situation.lasting:
        return ours or (situation.condition and verb in words.IMPERATIVES) or (order.kind == "bare" and not situation.condition)
    if situation.condition:
        return not one_off and (ours or verb in words.IMPERATIVES)
    if one_off or (situation.colon and verb not in ("be", "keep", "stick")):
        return False
    if order.banned:
        return ours and not situation.tasked
    if _BEFORE_ASKING.search(rest) or _STYLE_ORDERS.search(rest):
        return not re.match(r"(?:write|give|make) (?:me )?(?:a|an|the|some|one|two|three|this)\b", rest)
    if _IN_EVERY_REPLY.search(rest):
        return True
    if order.kind == "bare" and _PLAIN_MANNER.match(rest):
        return True
    if verb in ("keep", "continue") and re.match(r"\w+ (?:on )?\w+ing\b", rest) and _verb_stems(rest.split()[1]) & words.DEEDS:
        return _MATTER.search(rest) is not None or _ME.search(rest) is not None
    if _EACH_PART.search(rest) and ours and not _TASK_OBJECT.match(rest):
        if verb in _SHOWING and order.kind == "bare":
            return _MANNER.search(rest) is not None and not re.match(r"\w+ me\b", rest)
        return order.kind in ("should", "prefer") or verb not in _TASK_VERBS
    if order.kind in ("should", "prefer"):
        return ours and not _TASK_OBJECT.match(rest) and bool(_verb_stems(verb) & words.DEEDS or _MATTER.search(rest))
    return False


def _stop_binds(stopped: re.Match[str], situation: _Situation) -> bool:
    verb, rest = stopped["verb"], stopped["rest"]
    if _ONE_OFF.search(rest) and not situation.lasting:
        return False
    if verb in ("stop", "quit", "cease"):
        gerund = re.match(r"(?:with (?:all )?(?:the |your )?)?\w+ing\b|(?:with )?(?:the|all|your) ", rest)
        return gerund is not None and not _IDLE_GERUND.match(rest) and (_concerns_assistant(rest) or rest.startswith("being"))
    if verb in ("limit", "minimise", "minimize", "reduce", "cut", "drop", "skip", "omit", "lose", "hold", "leave out", "leave off"):
        # "drop the table users" is a job; "drop the pleasantries" is a manner
        return situation.lasting or re.match(r"(?:all |any |the |your )*" + f"(?:{words.MATTERS})" + r"(?:\W*$| (?:in|from|of|at the \w+ of) (?:your|all|every|each|any)\b)", rest) is not None
    return _concerns_assistant(rest)


# --- orders without a verb, and about a thing ---------------------------------------------------

_PART_RULES = _any(
    # "the staging server is the only one you may restart", "everything must be in lowercase"
    r"\bthe only \w+ (?:that )?you (?:may|can|should|must|are allowed to)\b",
    rf"^(?:everything|anything|all) (?:must|should|has to|needs to) (?:always )?(?:be )?(?:in|as|with|without)? ?(?:\w+ )?(?:{words.STYLE}|{words.MATTERS})\b",
    # "every recipe gets a gluten-free variant"
    rf"^(?:every|each) (?:{words.MATTERS}|{words.REPLY_PARTS}) (?:gets|needs|must have|should have) (?:an?|its|the|my)\b",
    # "everything you write to me should …"
    r"^(?:everything|anything|whatever|all(?: that)?|any \w+|every \w+|each \w+) you (?:write|say|send|draft|produce|give|make|suggest|recommend|show|create|generate|answer|tell)\b.*\b(?:should|must|needs? to|has to|shall)\b",
    # "every reply must end with …", "your answers need to be short"
    rf"^(?:(?:all|every|each|any|your|future|no|the) )*(?:\w+ ){{0,2}}?(?:{words.REPLY_PARTS}|{words.MATTERS})(?: \w+){{0,4}}? (?:should|must|needs? to|ha(?:s|ve) to|shall|ought to|(?:is|are) (?:always |never )?to)\b",
    # "… goes into every reply", "… belongs at the end of each answer"
    rf"\b(?:goes|go|belongs?|comes?|stands?|appears?|gets?|needs?|added|included?)\b.*\b(?:every|each|all|any)(?: \w+)? (?:repl(?:y|ies)|answers?|messages?|responses?|outputs?|emails?|paragraphs?|summar(?:y|ies)|snippets?|code(?: \w+)?)\b",
    rf"^(?:every|each|all)(?: of)?(?: your)?(?: \w+)? (?:repl(?:y|ies)|answers?|messages?|code(?: \w+)?|snippets?|examples?) (?:ends?|begins?|starts?|opens?|closes?|gets?|needs?|contains?|includes?|carries|carry|comes?) (?:with|in|a|an|the|my)\b",
    # "the folder X is off limits", "emojis are banned"
    r"\b(?:is|are) (?:strictly |absolutely |always |completely |totally |now )*(?:off[- ]limits|forbidden|not allowed|banned|prohibited|taboo|a no-go|no-gos?|verboten|mandatory|compulsory|not welcome|"
    r"not to be|never to be|to be (?:always |never )?(?:left|kept|written|given|shown|avoided))",
)
_NOUN_ONLY = _any(
    # "metric units only", "French only", "always in prose", "everything in lowercase"
    rf"^(?:(?:\w+ ){{0,3}}(?:{words.STYLE}|{words.REPLY_PARTS}|{words.MATTERS})(?: \w+){{0,2}} (?:only|always|everywhere|at all times)|(?:only|always|never|everything|all (?:\w+ )?{words.REPLY_PARTS}) (?:in|with|as|on)? ?(?:\w+ ){{0,2}}(?:{words.STYLE}|{words.MATTERS}))\b[\w ]{{0,20}}$",
    rf"^(?:{words.REPLY_PARTS}|{words.MATTERS}) (?:always |only |never )?(?:in|as|with|without) (?:\w+ ){{0,3}}(?:{words.STYLE}|{words.MATTERS})\b.*\b(?:always|only|please|at all times)\b",
    rf"^without (?:any )?(?:{words.MATTERS})\b.*",
)
_PEOPLE = re.compile(r"\b(?:support|customers?|clients?|kids?|children|students?|teacher|boss|team|people|users?|patients?|guests?|company|server|api|endpoint|he|she|they|his|her|their|our|we|from)\b")


_IT_IS = re.compile(r"^(?:it is|make it|make that|let it be|that is|strictly|purely) ")


_PART_AS = re.compile(rf"^(?:all )?(?:{words.REPLY_PARTS}|{words.MATTERS}) (?:in|as|with|without) \S")  # "dates as 2026-03-05"


def _of_a_part(clause: str, situation: _Situation) -> bool:
    whole, clause = clause, _SCOPE.sub(" ", _IT_IS.sub("", clause)).strip()
    if situation.lasting and re.match(rf"(?:all |the |your )?(?:{words.REPLY_PARTS}|{words.MATTERS}) (?:is|are|go|goes|come|comes|stay|stays) (?:always |only )?(?:in|as|with|without|to)\b", clause):
        return True
    if situation.lasting and re.match(r"(?:to me )?(?:should|must|needs? to|has to|shall)\b", clause):
        return True
    if _PEOPLE.search(clause) and not re.search(r"\byour?\b", clause):
        return False
    if re.search(r"\b(?:should|must|has to|needs to) (?:always |never |not )?(?:return|work|pass|happen|fail|take|last|arrive|know|have been)\b", clause):
        return False
    if _PART_RULES.search(clause) or _PART_RULES.search(whole):
        if _ONE_OFF.search(clause) and not re.search(r"\b(?:always|never|off[- ]limits)\b", clause):
            return False
        ours = _MATTER.search(clause) or _THING.search(clause)
        single = re.match(r"the \w+ (?:should|must|needs|has)\b", clause) and not re.search(r"\b(?:always|never|not)\b", clause)
        return (ours is not None or whole != clause) and not single
    if situation.stressed and _PART_AS.match(clause):
        return True
    return _NOUN_ONLY.search(clause) is not None and re.search(r"\b(?:i|we|is|are|was|were|has|have|had)\b", clause) is None


_SIGN = re.compile(r"no (?:smoking|parking|trespassing|entering|swimming|running|diving|fishing|loitering|kidding|turning|overtaking)\b")
_NOT_A_BAN = re.compile(r"^no(?: more)? (?:problem|worries|worry|idea|way|need|one|doubt|matter|thanks?|comment|luck|news|sign|clue|rush|hurry|offen[cs]e|kidding|wonder|longer|pain|risk|hard feelings|pressure|reason|time|money|sooner|big deal|milk|such|sir|please|no)\b")


def _ban_of_a_noun(clause: str, situation: _Situation) -> bool:
    match = re.match(r"(?:no (?:more )?|nothing |zero |none of (?:the |your |this )?)(?P<rest>\S.*)", clause)
    if not match or _NOT_A_BAN.match(clause) or _ONE_OFF.search(clause):
        return False
    if re.fullmatch(r"no \w+ing(?: \w+)?", clause):
        return _SIGN.match(clause) is None
    rest = match["rest"]
    finite = re.search(r"\b(?:is|are|was|were|has|have|had|needed|required|necessary|expected|received|given|available|so far|yet|left|here|there|came|works?|found|could|can|will)\b", rest)
    if finite or len(rest.split()) > 9:
        return False
    known = re.match(rf"(?:\w+ ){{0,2}}?(?:{words.MATTERS}|{words.REPLY_PARTS})\b", rest) is not None or bool(_THING.match(rest))
    polite = re.search(r"\bplease\b", rest) is not None or clause.startswith("no more ")
    return known or polite or situation.lasting


_WISHED_NOUN = re.compile(
    rf"^i (?:really |also |just |still |much |would |always |only |strongly |do |will |never )*(?P<not>not )?(?:ever |really |always )?(?P<verb>want|need|prefer|like|expect|appreciate|accept|love|care for|see|rather not (?:see|have|get|read|hear)|rather (?:see|have|get|read|hear))"
    rf" (?P<rest>(?:to (?:see|hear|read|get|have) )?(?P<det>all|every|each|any|no|my|your|short\w*|brief\w*|(?!(?:a|an|the|this|that|these|some|one|two|three)\b)[\w-]+)"
    rf"(?: [\w-]+){{0,3}}?(?: |(?<= ))?.*)"
)


def _wish_for_a_noun(clause: str) -> bool:
    """"I want all dates in ISO format", "I don't want any disclaimers", "I like my answers short"."""
    match = _WISHED_NOUN.match(clause)
    if not match or _ONE_OFF.search(clause):
        return False
    rest = match["rest"]
    part = re.search(rf"\b(?:{words.REPLY_PARTS}|{words.MATTERS})\b", " ".join(rest.split()[:6]))
    if part is None or re.match(r"(?:to (?!see|hear|read|get|have)|you\b)", rest):
        return False
    if match["verb"] in ("like", "love", "appreciate") and "would" not in clause[: match.start("verb")] and not _STYLE.search(rest) and "without" not in rest:
        return False
    stance = re.search(r"\b(?:always|only|never|not)\b", clause[: match.start("rest")]) is not None or match["verb"].startswith("rather")
    return stance or match["det"] in ("all", "every", "each", "any", "no", "my", "your") or bool(_STYLE.search(rest)) or "without" in rest


def _polite(match: re.Match[str], scope: bool) -> bool:
    rest = match["rest"]
    first, _, after = rest.partition(" ")
    if first == "not" and after:
        return _concerns_assistant(after)
    if first.endswith("ing"):
        return scope or _concerns_assistant(rest) and re.search(r"\b(?:always|only|every|each|all|your|me)\b", rest) is not None
    order = _with_adverbs("bare", "", rest)
    if match["can"] and not (scope or order.always or order.banned or "please" in match.group()):
        return False
    if order.always:
        verb = order.rest.split(" ", 1)[0]
        return bool(verb in words.DEEDS or _MATTER.search(order.rest) or re.search(r"\bme\b", order.rest))
    stopped = _STOP.match(order.rest)
    situation = _Situation(scope, False, False, False)
    return _order_binds(order, situation) or (stopped is not None and _stop_binds(stopped, situation)) or bool(_NAMING.match(order.rest))
