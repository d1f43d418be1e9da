"""What is worth keeping: a fact must say something lasting about somebody, and somebody must have said it. Pure.

General rules, no model: they decide alike what is asked of a model, and what is taken from its answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from memagent.memory.asking import asks
from stores.terms import document_terms, query_terms

_ISO_DATE = re.compile(r"\b(?:\d{4}-\d{2}(?:-\d{2})?|(?:19|20)\d{2})\b")
_CLAUSE = re.compile(
    r"[,;:.!?。！？，；：\n]+|\b(?:but|and|because|so|while|aber|und|weil|sondern)\b|但是?|不过|而且", re.IGNORECASE
)
_NEGATION = re.compile(
    r"\b(?:no|not|never|none|nothing|neither|nor|without|cannot|nicht|nie|kein\w*|ohne|pas|jamais|nunca|sin)\b"
    r"|n['’]t\b|不|没|別|别|从未|無|无(?!锡)",
    re.IGNORECASE,
)
_DENYING = re.compile(
    r"\b(?:dis\w+|un\w+|avoid\w*|hate\w*|refus\w*|stop\w*|quit\w*|gave up|gives? up|lack\w*|free|left|lost|former\w*"
    r"|ended|rejects?|except|only)\b|讨厌|避免|拒绝|戒|停止",
    re.IGNORECASE,
)
"""A fact may say without a negation what was said with one: "does not eat meat", "avoids meat"."""

_SAYS_NOTHING = """
    a an the this that these those it its i me my mine we us our you your he him his she her they them their who whom
    whose which what there here and or but if so as of at by for from in into on onto to with without about than then
    is am are was were be been being do does did done have has had having will would can could shall should may might
    must not no yes user users person people someone somebody one also too very really just still quite rather much
    many more most some any all each every own other name named call called say said says tell told mention mentioned
    ask asked state stated when where while because how why up down out over again after before only even
    get got go goes going went come came make makes made take thing things lot bit kind sort way
    ich mein meine meinen meiner du dein er sie es wir ihr ein eine einen der die das den dem und oder aber ist sind
    war bin habe hat haben auch sehr nicht kein keine zu in im am auf mit von für als
    的 了 是 我 你 他 她 它 们 在 和 有 也 很 就 都 不 这 那 个 吗 呢 啊 用户 我们 我的 你的
"""
_PLEASANT = """
    hi hello hey hiya howdy greetings welcome thanks thank thx cheers please sorry pardon excuse bye goodbye cya ciao
    ok okay okey kk yep yeah yup nope nah sure alright right fine good great nice cool awesome perfect lovely wonderful
    amazing super excellent wow oh ah hm hmm lol haha hehe hahaha indeed exactly agreed agree understood understand got
    morning afternoon evening night day weekend today tonight now later soon weather sunny rainy raining rain cloudy
    warm cold hot mood happy glad tired bored sleepy busy well feeling feel feels doing
    talk talking talked chat chatting chatted conversation question questions answer answers help helpful helped joke
    jokes fun funny laugh laughing smile smiling greet greeted greeting greets thanked thanking wish wished wishes
    hope hopes hoped think know see look looks looking sound sounds interesting interested maybe perhaps anyway
    hallo moin servus tschüss danke bitte gut gute guten tag morgen abend nacht wetter schön prima klar super müde
    你好 您好 谢谢 再见 早上 晚上 下午 上午 好的 天气 不错 今天 现在 哈哈 高兴 开心 累
"""
_ABOUT_THE_TALK = re.compile(
    r"^(?:the )?(?:user|person|speaker|they|he|she|i)\b(?!['’]s)[^.]{0,12}?\b(?:"
    r"said|says|say|asked|asks|ask|asking|greeted|greets|thanked|thanks|wished|wishes (?:the|a)|mentioned|replied|"
    r"responded|answered|agreed|acknowledged|confirmed|laughed|smiled|apologi[sz]ed|chatt(?:ed|ing)|"
    r"talk(?:ed|ing) (?:to|with) (?:the )?(?:assistant|ai|bot)|feels?|felt|"
    r"will be back|wants? (?:to (?:know|talk|chat|hear|ask)|help|an? (?:answer|joke|explanation)|the assistant)|"
    r"(?:is|was) (?:chatting|talking|asking|greeting|making small talk|looking for|(?:feeling )?(?:fine|ok|okay|good|"
    r"great|well|happy|glad|tired|bored|sleepy|busy|hungry|thirsty|ready|curious|polite)))\b"
    r"|^用户(?:说|问|打招呼|感谢|表示|想知道|询问)",
    re.IGNORECASE,
)
_PERSONAL = re.compile(r"\b(?:my|our|mein\w*|unser\w*|mi|mis|mon|ma|mes)\b|我的?|我们", re.IGNORECASE)
_YES_OR_NO = re.compile(
    r"^\W*(?:(?:so|and|but|ok|okay|hey|well)\W+)?(?:am|is|are|was|were|do|does|did|have|has|had|can|could|will|would|"
    r"shall|should|may|might|must|bin|ist|sind|habe|hat|kann|soll)\b|吗\W*$|是不是|有没有",
    re.IGNORECASE,
)
LEAST_CJK_TERMS = 3
GROUNDED = 0.6
"""So much of what a fact says must be in the words of who is said to have stated it."""


def _stems(words: str) -> frozenset[str]:
    return frozenset(document_terms(words))


_NOTHING = _stems(_SAYS_NOTHING)
_SMALL = _NOTHING | _stems(_PLEASANT)


@lru_cache(maxsize=4_096)
def content(text: str) -> frozenset[str]:
    """The stems that say something, without dates: those a model may have worked out."""
    return frozenset(query_terms(_ISO_DATE.sub(" ", text))) - _NOTHING


def names_something(text: str) -> bool:
    """Whether a text holds a word that is neither a pleasantry nor one that says nothing by itself."""
    return bool(content(text) - _SMALL)


def states(sentence: str) -> bool:
    """Whether a sentence may state something of the speaker: no question, unless something of the speaker's is
    taken for granted in it ("Where can I buy food for my cat?"), which a yes-or-no question does not do."""
    if not asks(sentence):
        return True
    return _PERSONAL.search(sentence) is not None and _YES_OR_NO.search(sentence) is None


def says_something(text: str) -> bool:
    """Whether a message can hold anything to learn: more than pleasantries, moods and the weather."""
    words = frozenset(stem for stem in content(text) if not stem.isdecimal())
    return len(words - _SMALL) >= 1 and len(query_terms(text)) >= 2


def scrap(text: str, *, subject: str, attribute: str) -> str | None:
    """Why a fact is not worth keeping whoever said it; None if it may be. Where nobody could say what it is about,
    more is asked of it: what merely happened, at no date and to nobody with a name, is found as an episode."""
    named = bool(subject and attribute)
    if asks(text):
        return "a question"
    if attribute in _PASSING:
        return "of the moment"
    if _ABOUT_THE_TALK.search(text.strip()):
        return "about the talk itself, or a mood"
    said = frozenset(stem for stem in content(text) if not stem.isdecimal())
    if not said - _SMALL:
        return "small talk"
    if not named and not _about_somebody(text):
        return "about nobody"
    if _SOON_OVER.search(text) and not _NAME.search(text):
        return "of the moment"
    if _NOT_ALONE.search(text):
        return "not understood alone"
    if not named and not _lasts(text):
        return "an episode"
    if _MOMENT.search(text) and not _NAME.search(text):
        return "of the moment"
    wordy = len(query_terms(text))
    if wordy < 2 or (not named and len(said) < 2 and not _is_unspaced(text) and not _IS_SOMETHING.match(text)):
        return "too short"
    if _is_unspaced(text) and wordy < LEAST_CJK_TERMS:
        return "too short"
    return None


def share(fact: frozenset[str], said: Iterable[str]) -> float:
    """How much of what the fact says is among the stems of what was said."""
    return len(fact.intersection(said)) / len(fact) if fact else 0.0


def clauses(sentence: str) -> list[str]:
    """The parts of a sentence that say one thing each."""
    return [clause for clause in _CLAUSE.split(sentence) if clause.strip()]


def denied(text: str, sentences: Iterable[str]) -> bool:
    """Whether what was said to the same effect was a denial, and the fact is none."""
    if _NEGATION.search(text) or _DENYING.search(text):
        return False
    fact = content(text)
    said = [clause for sentence in sentences for clause in clauses(sentence)]
    best = max(said, key=lambda clause: share(fact, content(clause)), default="")
    return share(fact, content(best)) >= GROUNDED and _NEGATION.search(best) is not None


_SOMEBODY = re.compile(
    r"\b(?:user|person|i|i['’]m|i['’]ve|me|my|we|our|he|she|they|his|her|their|ich|wir|mein\w*|unser\w*)\b|用户|我|他|她",
    re.IGNORECASE,
)
_IMPLIED = re.compile(
    r"^(?:is|was|has|had|lives?|lived|works?|worked|likes?|loves?|prefers?|preferred|hates?|dislikes?|enjoys?|wants?|needs?|owns?|"
    r"speaks?|plays?|studies|studied|teaches|moved|plans?|grew|born|married|allergic|vegan|vegetarian|uses?|drives?|"
    r"eats?|drinks?|avoids?|does|doesn['’]t|can|cannot|cannot|can['’]t|never|always|collects?|runs?|knows?|keeps?|favou?rite)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"[^.!?\s]\s+[A-ZÄÖÜÀ-Ý][\w’'-]+")
"""A capital that begins no sentence."""
_IS_SOMETHING = re.compile(r"\s*(?:(?:the )?(?:user|person) is|i am|i['’]m)\b", re.IGNORECASE)
_MOMENT = re.compile(
    r"\b(?:today|tonight|now|this (?:morning|afternoon|evening)|at the moment|currently|just|heute|gerade|jetzt)\b"
    r"|今天|现在|刚才|目前",
    re.IGNORECASE,
)
_SOON_OVER = re.compile(
    r"\b(?:is|are|am|was) (?:not )?(?:a (?:bit|little) |so |very |really |feeling )?(?:late|delayed|cold|hot|warm|wet|"
    r"dry|full|empty|quiet|loud|noisy|slow|worried|stressed|annoyed|excited|surprised|amused|hungry|thirsty|awake|"
    r"asleep|tired|sleepy|bored|back|here|there|ready|at \d+ ?%)(?: again| today| now)?[.!]?$"
    r"|\b(?:going|off|heading|about to go) to (?:bed|sleep|lunch|dinner|work|the (?:shop|store|gym))\b"
    r"|\b(?:needs?|wants?|could use|craves?) (?:a |an |some |more )?(?:\w+ )?(?:coffee|tea|drink|water|snack|break|nap|"
    r"rest|sleep|minute|moment|hug|holiday|food|lunch|dinner|pizza)\b"
    r"|\bchang(?:ed|es) (?:his|her|their|my) mind\b|\b(?:mon|tues|wednes|thurs|fri)days?$"
    r"|\b(?:will|['’]ll) (?:be|talk|write|chat|return|come) ?(?:back|again)?(?: tomorrow| later| soon)"
    r"|\b(?:is|are|am) (?:relaxing|chilling|waiting|resting|listening|watching|scrolling|thinking|cooking|eating)\b"
    r"|有点|好(?:累|困|饿|热|冷|烦|无聊)|(?:困|饿|累|渴)了|想(?:睡|喝|吃)",
    re.IGNORECASE,
)
"""States and wishes that are over before the next day."""
_HAN = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")


_PASSING = frozenset(
    ("mood", "weather", "greeting", "small talk", "smalltalk", "chat", "conversation", "question", "request", "feeling")
) | {
    "emotion",
    "emotional state",
    "current mood",
    "current activity",
    "joke",
    "farewell",
    "thanks",
    "opinion of the assistant",
}
"""What a model calls the matter of a fact that will not matter tomorrow."""
_NOT_ALONE = re.compile(
    r"\b(?:this|these|those) \w+|\bthat (?:one|thing|song|joke|idea|movie|film|book|place)\b|这首|这个|那个",
    re.IGNORECASE,
)
_LASTING = re.compile(
    r"\b(?:is|are|am|has|have|lives?|works?|likes?|loves?|prefers?|hates?|dislikes?|enjoys?|needs?|owns?|speaks?|plays?|"
    r"studies|study|teach(?:es)?|plans?|uses?|drives?|eats?|drinks?|avoids?|doesn['’]t|does not|don['’]t|can|cannot|"
    r"never|always|usually|often|collects?|runs?|knows?|keeps?|favou?rite|allergic|born|grew up|married|moved|wants?)\b"
    r"|['’](?:m|ve|re)\b",
    re.IGNORECASE,
)


def _lasts(text: str) -> bool:
    dated = _ISO_DATE.search(text) is not None
    return dated or any(form.search(text) for form in (_LASTING, _NAME)) or _is_unspaced(text)


def _about_somebody(text: str) -> bool:
    """About the person, somebody of theirs, or somebody or something with a name."""
    return any(form.search(text.strip()) for form in (_SOMEBODY, _IMPLIED, _NAME))


def _is_unspaced(text: str) -> bool:
    return _HAN.search(text) is not None
