"""What an instruction is about, as weighted terms, so that a later sentence can be laid beside it. Pure.

A matter that has names in both languages, or many words, counts by its name ("#emoji", "#french"), so
that "forget the rule about French" meets "以后都用法语回答". Other words count by their stem, Han by pairs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from memagent.context.directives.english_words import LANGUAGE
from memagent.context.directives.sentences import CJK, QUOTES, words_of

MATTER_WEIGHT = 1.5
KIND_WEIGHT = 0.4
"""That both speak of some language, if not of the same."""
NAME_WEIGHT = 2.0
"""An identifier or a capitalised name says most surely what is meant."""
WORD_WEIGHT = 1.0
PAIR_WEIGHT = 0.9
LIGHT_WEIGHT = 0.1

_LANGUAGES: Mapping[str, str] = {
    "english": "英[文语]",
    "chinese": "中文|汉语|普通话|mandarin",
    "french": "法[文语]",
    "german": "德[文语]",
    "spanish": "西班牙[文语]|西[文语]",
    "italian": "意大利[文语]",
    "portuguese": "葡萄牙[文语]",
    "japanese": "日[文语]",
    "korean": "韩[文语]",
    "russian": "俄[文语]",
    "arabic": "阿拉伯[文语]",
    "dutch": "荷兰[文语]",
    "thai": "泰[文语]",
    "vietnamese": "越南[文语]",
    "cantonese": "粤语|广东话",
    "latin": "拉丁[文语]",
    "polish": "波兰[文语]",
    "greek": "希腊[文语]",
    "turkish": "土耳其[文语]",
    "swedish": "瑞典[文语]",
    "hindi": "印地语",
}
_MATTERS: Mapping[str, str] = {
    "emoji": r"emojis?|emoticons?|smile(?:y|ys|ies)|表情(?:符号)?|颜文字",
    "bullets": r"bullet(?:s|ed)?(?:[- ]?points?)?|项目符号|分点|要点",
    "table": r"tables?|tabular|表格",
    "markdown": r"markdown",
    "metric": r"metric|公制",
    "imperial": r"imperial|英制",
    "units": r"units?|metric|imperial|公制|英制|单位|celsius|fahrenheit|摄氏度?|华氏度?",
    "length": r"short(?:er)?|brief(?:ly)?|concise(?:ly)?|terse|(?<!no )(?<!any )long(?:er)?|length|lengthy|"
    r"sentences?|detailed|简短|简洁|长度|字数|字以内|篇幅|(?:\d+|ten|twenty|thirty|forty|fifty|hundred|"
    r"two hundred) words|(?:one|two|three|four|five|six|ten|\d+) lines|"
    r"[一二两三四五六七八九十百\d]+个?[句行段字]|啰嗦|精简",
    "apology": r"apolog\w*|sorry|道歉|抱歉|对不起",
    "comment": r"comments?|commenting|注释",
    "name": r"(?:call|address|calling|addressing) me|nickname|my name|叫我|称呼我?|称我|喊我|管我叫|外号",
    "tag": r"tag(?:s|ging|ged)?|标签|编号",
    "source": r"sources?|cit(?:e|es|ing|ations?)|references?|来源|出处|引用",
    "price": r"prices?|costs?|价格|价钱|金额",
    "currency": r"euros?|dollars?|pounds?|currenc(?:y|ies)|欧元|美元|人民币|货币",
    "date": r"dates?|日期",
    "joke": r"jok(?:e|es|ing)|humou?r|puns?|笑话|玩笑|幽默",
    "tone": r"formal(?:ly|ity)?|informal(?:ly)?|casual(?:ly)?|polite(?:ly|ness)?|tone|正式|语气|口吻|敬语|口语",
    "code": r"code|snippets?|代码",
    "disclaimer": r"disclaimers?|caveats?|免责\w*",
    "signature": r"sign(?:s|ed|ing|ature|-off)?|落款|署名|签名",
    "summary": r"summar(?:y|ies|i[sz]e|i[sz]ing)|recaps?|tl;?dr|总结|摘要|小结",
    "exclamation": r"exclamation (?:marks?|points?)|感叹号|叹号",
    "spelling": r"spell(?:ing|ings|ed)?|拼写",
    "confirm": r"confirm(?:ing|ation)?|permission|确认|先问",
    "heading": r"headings?|headers?|titles?|标题",
    "translation": r"translat(?:e|es|ing|ions?)|翻译|译文",
    "delete": r"delet(?:e|es|ing|ions?)|删除?",
    "case": r"(?:lower|upper)[ -]?case|capitals?|capital letters|caps|大写|小写|大小写",
    "vegetarian": r"vegetarian|vegan|meat|素食|荤|肉",
    "question": r"questions?|提问|问题|反问",
    "greeting": r"greet(?:ing|ings)?|salutations?|hello|问候|寒暄|打招呼",
    "example": r"examples?|例子|举例|示例",
    "link": r"links?|urls?|链接|网址",
    "simplified": "简体",
    "traditional": "繁体|正体",
}
ANY_LANGUAGE = re.compile(rf"\b{LANGUAGE}\b|" + "|".join(_LANGUAGES.values()) + "|简体|繁体|正体", re.IGNORECASE)
_NAMED = [
    (name, re.compile(rf"(?<![a-z])(?:{pattern})(?![a-z])", re.IGNORECASE))
    for name, pattern in (
        *((f"#{language}", f"{language}|{names}") for language, names in _LANGUAGES.items()),
        *((f"#{matter}", pattern) for matter, pattern in _MATTERS.items()),
    )
]
LANGUAGES = frozenset(f"#{name}" for name in (*_LANGUAGES, "simplified", "traditional"))

# Words of ordering and taking back, and those that stand in nearly every rule.
_LIGHT = words_of(
    """
    a an the this that these those it them i me my you your we our to of in on at by for from with without into as
    and or but not no do does did be is are was were am been being have has had can may could should would must
    shall will need want like prefer please always never ever every each all any again now then more anymore longer
    from going forward future default rule rules instruction instructions request requirement preference restriction
    thing things what when whenever if so just also only too about regarding concerning said told asked say tell ask
    give gave use used using using answer answers answering reply replies replying respond response responses
    message messages write writes writing written put add adding show make keep start end end ending begin get go
    going back up out off on over fine ok okay allowed allow free feel welcome forget forgot ignore drop dropped
    scrap cancel cancelled stop stopping undo lift remove earlier before previous previously old last i'm don't let
    us us there here anything everything something still instead than rather after mind never matter bother longer
    one first there's it's that's you're time times way bit part ones okay sure other enough normal usual talk isn't
    doesn't aren't wasn't needn't can't won't cannot needed necessary required apply applies limit limits limitation
    lift lifted side under below rest session chat conversation business skip ditch speak henceforth hereby further
    from-now on reply quit cease longer valid void limit
    """
)
_LIGHT_CJK = re.compile(
    r"写明|注明|以后|之前|以前|从现在起|从现在开始|关于|规则|要求|规矩|约定|取消|不用|不必|不需要|无需|"
    r"可以|不要|不许|禁止|请|回答|回复|使用|重新|继续|恢复|作废|每次|每条|每个|都要?|一律|所有|我|你|您|"
    r"的|了|吧|再|用|给|要|别|"
    r"说过?|现在|那个|这个|那条|这条|就|也|把|在|里|时候?|加上?|上|都|跟|和|对|是|叫|统一|写成?|只|今后|"
    r"凡是|务必|忘掉|忘了|算了|没关系|没事|遵守|限制|不?算数|免了|随便|照常|允许|解除|撤销|撤回|收回|"
    r"废除|忽略|那条|这条|写明|注明|为|以|每|但凡|凡是|凡|提到|涉及|必|当成|当|不"
)
_WORD = re.compile(r"#[A-Za-z]\w*|[A-Za-z0-9][\w'’/.-]*[A-Za-z0-9]|[A-Za-z0-9]")
_RUN = re.compile(f"[{CJK}]+")


@lru_cache(maxsize=2_048)
def terms(text: str) -> Mapping[str, float]:
    """The terms of a sentence with what each weighs."""
    found: dict[str, float] = {}
    rest = text
    if ANY_LANGUAGE.search(text):
        found["#language"] = KIND_WEIGHT
    for name, pattern in _NAMED:
        if pattern.search(text):
            found[name] = MATTER_WEIGHT
            rest = pattern.sub(" ", rest)
    named = {word.lower() for quote in QUOTES.findall(rest) for word in _WORD.findall(quote)}
    for position, word in enumerate(_WORD.findall(rest)):
        low = word.lower().replace("’", "'")
        if low in named:
            found[stem(low)] = NAME_WEIGHT
        elif low in _LIGHT:
            found[stem(low)] = LIGHT_WEIGHT
        elif (
            any(char.isdigit() for char in word)
            or word[0] == "#"
            or (word[0].isupper() and position > 0)
            or word.isupper()
        ):
            found[stem(low)] = NAME_WEIGHT
        else:
            found[stem(low)] = WORD_WEIGHT
    rest = ANY_LANGUAGE.sub(" ", rest)
    for run in _RUN.findall(_LIGHT_CJK.sub(" ", rest)):
        pairs = [run[index : index + 2] for index in range(max(1, len(run) - 1))]
        found |= dict.fromkeys(pairs, PAIR_WEIGHT if len(pairs) > 1 else WORD_WEIGHT)
    return found


def stem(word: str) -> str:
    """An English word without its commonest endings; crude, but the same for both sides."""
    word = word.removesuffix("'s")
    for ending in ("ations", "ation", "ings", "ing", "ies", "ied", "ed", "es", "s", "y", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word.removesuffix(ending)
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word


# --- matters of which only one can hold ---------------------------------------------------------

_NARROWED = re.compile(
    r"\b(?:when|whenever|if|each time|every time|code|comments?|titles?|headings?|docs?|docstrings?|"
    r"emails?|mails?|commits?|"
    r"letters?|translations?|subject|captions?)\b|注释|代码|标题|邮件|文档|提交|如果|的时候|每当|涉及",
    re.IGNORECASE,
)
_BAN = re.compile(
    r"\b(?:never|not|no|stop|avoid|without|refrain|skip|omit|forbidden|banned|off[- ]limits|quit|"
    r"hold (?:the|off|back)|leave [\w ]{1,30}? out|steer clear|spare me|desist|forgo|drop|ditch|lose|"
    r"rather not)\b|n[’']t\b|别|不要|不许|不准|不得|禁止|严禁|勿|避免|不再|停止|少用|一律不|都不|不(?:用|"
    r"加|带|说|写|提)",
    re.IGNORECASE,
)
_REPLYING = (
    r"(?:answer|reply|respond|speak|talk|write|communicate|chat|converse|replies|answers|responses|"
    r"responding|replying|answering)"
)
_SLOTS = {
    "language": re.compile(
        rf"\b{_REPLYING}\b.*?(?:{ANY_LANGUAGE.pattern})|(?:{ANY_LANGUAGE.pattern}).{{0,4}}(?:回答|回复|"
        r"答复|作答|交流|沟通|对话|聊|说话|跟我|和我|回我)"
        r"|(?:以后|今后|一律|都|默认|统一|请|从现在开始|从现在起)[,，]?(?:请|都|只|统一|一律|"
        rf"全部)*用(?:{ANY_LANGUAGE.pattern})"
        rf"|^\W*(?:{ANY_LANGUAGE.pattern})\b.*\b(?:only|from now on)",
        re.IGNORECASE,
    ),
    "name": re.compile(r"\b(?:call|address|refer to) me\b|叫我|称呼我|管我叫|喊我", re.IGNORECASE),
    "length": re.compile(
        r"(?:\b(?:under|below|at most|within|max(?:imum)?|no more than|no longer than|fewer than|"
        r"less than|up to)\W+(?:of )?[\w-]+ (?:sentences?|words?|paragraphs?)\b"
        r"|(?:控制|限制|不超过|不得超过).{0,6}(?:句|字|段)|(?:句话|字)(?:以内|之内))",
        re.IGNORECASE,
    ),
    "units": re.compile(r"\b(?:metric|imperial)\b|公制|英制", re.IGNORECASE),
    "spelling": re.compile(r"\b(?:british|american|us|uk|canadian) (?:english )?spellings?\b", re.IGNORECASE),
    "indentation": re.compile(
        r"\btabs\b|\bspaces\b.*\bindent|\bindent.*\bspaces\b|\b(?:two|four|2|4) spaces\b", re.IGNORECASE
    ),
    "dates": re.compile(r"\bdates?\b.*(?:\byy|\bdd|\bmm|\biso\b|\bformat\b)|日期.*(?:YYYY|格式|写成)", re.IGNORECASE),
    "currency": re.compile(
    r"\b(?:prices?|amounts?|costs?|sums?)\b.*\b(?:euros?|dollars?|pounds?|yen|francs?|usd|eur|gbp|chf)\b|"
    r"(?:价格|金额|费用).*[元镑]", re.IGNORECASE),
}  # fmt: skip


def is_ban(text: str) -> bool:
    """Whether the sentence forbids rather than asks."""
    return _BAN.search(text) is not None


def slots(text: str) -> set[str]:
    """The matters of the sentence of which only one rule can hold; none for a ban or a rule for special cases."""
    if _NARROWED.search(text):
        return {"indentation"} & {name for name, pattern in _SLOTS.items() if pattern.search(text)}
    found = {name for name, pattern in _SLOTS.items() if pattern.search(text)}
    return (
        found
        if not is_ban(text)
        else found & {"length"}
        if re.search(r"\bno (?:more|longer) than\b|不(?:得)?超过", text)
        else set()
    )
