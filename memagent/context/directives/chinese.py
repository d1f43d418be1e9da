"""Which Chinese sentences bind the assistant from then on. Judged clause by clause; see `binds`.

Chinese marks no imperative. What tells an order is who could be its subject: before the word that
makes it lasting (以后, 每次, 别, 一律 …) stands nobody, 你, or something an answer is made of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from memagent.context.directives.sentences import MASK, Sentence

LANGUAGE = (
    r"(?:[中英日法德韩俄泰汉粤意西葡]文|[英日法德韩俄泰汉粤意葡西]语|(?:西班牙|葡萄牙|意大利|阿拉伯|越南|"
    r"印地|印尼|拉丁|荷兰|瑞典|土耳其|希腊|波兰)[语文]|"
    r"普通话|白话文?|文言文?|(?:简体|繁体|正体)(?:中文|字)?|双语|大白话|方言|广东话|上海话)"
)
# What an answer, or the work on it, is made of.
MATTER = (
    rf"(?:{LANGUAGE}|长度|篇幅|回答|回复|答复|答案|回应|回话|输出|消息|解释|说明|总结|摘要|结论|结果|"
    r"例子|示例|举例|代码|注释|变量|函数|测试|类型|文件|目录|文件夹|分支|仓库|"
    r"数据库|密码|密钥|隐私|地址|电话|邮箱|邮件|日期|时间|数字|数值|数据|价格|金额|费用|货币|欧元|美元|"
    r"人民币|单位|公制|英制|温度|摄氏|华氏|距离|重量|公里|"
    r"来源|出处|引用|链接|网址|参考|表情|符号|标点|感叹号|省略号|括号|标题|列表|表格|项目符号|要点|格式|"
    r"段落|句子|句话|字数|字以内|语气|口吻|风格|称呼|"
    r"敬语|客套|废话|寒暄|套话|玩笑|笑话|道歉|抱歉|免责|警告|提示|建议|推荐|翻译|术语|缩写|行话|俚语|"
    r"脏话|网络用语|成语|编号|标签|前缀|后缀|落款|署名|"
    r"名字|全名|外号|食谱|菜谱|餐厅|菜|荤|肉|品牌|链路|步骤|推理|计算|公式|图片|图表|话题|问题|观点|立场|"
    r"命令|脚本|依赖|库|工具|网|搜索|"
    r"[Mm]arkdown|[Ee]moji|HTML|JSON|LaTeX|Python|Java|Rust|SQL|YYYY|简短|简洁|简单|详细|正式|口语|专业|"
    r"通俗|严肃|幽默|直接|礼貌|大写|小写)"
)
# What only an assistant is asked to do time and again.
DEED = (
    r"(?:回答|回复|答复|作答|回我|解释|说明|翻译|输出|推荐|建议|提到|提及|提起|提我|道歉|确认|检查|核对|"
    r"核实|验算|修改|改动|删除|删掉|提交|推送|运行|执行|换算|转换|换成|改成|"
    r"标(?=[上出明注])|标注|标明|标出|注明|附上|附带|加上|补上|写成|写代码|写|用|使用|列出|列|称呼|叫我|"
    r"喊我|结尾|开头|收尾|说话|聊天|对话|交流|沟通|跟我|和我|对我|问我|告诉我|提醒我|通知我|给我|给出|"
    r"总结|概括|汇报|上传|碰|动|泄露|透露|分享|引用|编造|瞎编|胡编|猜|省略|重复|啰嗦|客套|奉承|拍马|说教|"
    r"拽|加|带|调用|搜索|举例|举|展示|显示|分点|分段|先给|先说|先讲|先问|保留|四舍五入|精确|讲)"
)
_OURS = re.compile(rf"{MATTER}|{DEED}|{MASK}|[A-Za-z][\w./-]+")

_OPENER = re.compile(
    r"(?:嗨|嘿|你好|您好|哈喽|对了|顺便(?:说一下|提一下|一提|说一句)?|还有(?:一点|一件事|就是)?|另外|"
    r"再说一(?:点|件事)|再补充一(?:点|下)|补充一(?:点|下)|那个|嗯+|哦|噢|"
    r"好的?|好吧|行|拜托(?:你|您|了)?|麻烦(?:你|您)?(?:了)?|请(?:你|您)?(?:务必)?(?=.)|烦请|劳驾|记住|"
    r"记得|切记|注意|听好了?|听着|提醒一下|先说好|约定一下|(?:我们|咱们|咱)约定|说好了|"
    r"以及|而且|所以|因此|那么|那(?=就|以后|你)|就(?=用|叫|按|别)|也(?=别|不|要|请)|并且|但是?|不过|然后|"
    r"同时|首先|其次|最后|总之|其实|真的|帮我|"
    r"第[一二三四五]|[一二三四五]是|小(?:要求|请求)|有(?:个|一个)(?:小)?(?:要求|请求|规矩)|助手|机器人|亲爱的)"
)
_SCOPE = (
    r"(?:从现在(?:起|开始)|从今(?:往|以)后|从今天(?:起|开始)|从这(?:句话|条|一刻|里)(?:起|开始)|今后|"
    r"往后|以后|日后|将来|接下来(?:的(?:对话|聊天|回答|时间)(?:里|中)?)?|之后|此后|从此(?:以后)?|自此|"
    r"后面(?:的(?:对话|回答))?|后续|默认(?:情况下)?|原则上|(?:在)?(?:整个|整场|本次|这次|全部|"
    r"所有)(?:的)?(?:对话|聊天|会话|谈话)(?:过程)?(?:里|中)?|聊天(?:中|里|时)|对话(?:中|里)|"
    r"无论.{1,10}?(?=都|请|一律|,|$)|不管.{1,10}?(?=都|请|一律|,|$)|任何时候|任何情况下|在任何情况下|"
    r"凡(?:是)?|但凡|只要|一旦|每当|每逢|每次|每回|每一次|每一?[条个句段篇份]|每(?=[^天年月周日个位])|"
    r"所有的?|一切)"
)
_LASTING = re.compile(
    rf"{_SCOPE}|我(?:给|问|说|发|要|提|贴|写|用)[^,，]{{0,12}}?(?:的时候|时)(?=都|就|请|要|先|别|不)|"
    r"(?:回答|回复|答复|解释|推荐|写|翻译|引用|总结|聊天|说话|提到|涉及|举例|输出|"
    r"提供)[^,，]{0,10}?(?:的时候|时(?!间|候|区|长|刻|代|常)|之前|的话)|每次|每回|每当|总是|一律|都要|"
    r"都得|都用|都给|都加|都写|统统|通通|务必|不要再|不许|不准|不得|禁止|严禁|永远|始终|一直|统一|只用|"
    r"只能|只准|只许|只要用|别再|别老|别总|少用|"
    r"不再|再也(?:别|不)|切勿|请勿|停止|坚持|保持|默认|尽量|从不|绝不|绝对不|千万(?:别|不)|全都|全部用|"
    r"必须|一定要|控制在|不(?:得)?超过"
)
_WEAK = re.compile(
    r"别(?!的|人|处|扭|墅|致|针|名|称|有|出心裁)|不要(?!紧|脸|命)|不能(?!不)|不可以|不用(?!说|谢|客气)|"
    r"避免|勿|应该|要(?!是|不|求|么|紧|点|领|素)|得(?=[用写加先])|可以"
)
_BAN = re.compile(r"别|不要|不许|不准|不得|禁止|严禁|勿|避免|不能|不可以|不再|停止|少用|绝不|从不")
_IDLE = re.compile(
    r"(?:别|不要|不用|甭)(?:担心|着急|急|客气|逗|闹|介意|误会|难过|生气|怕|害怕|走|哭|笑话?我|放弃|多想|"
    r"想太多|紧张|忘了?|灰心|说了|开玩笑|怪|介怀|谢|送|管我|跑|动手|"
    r"把鸡蛋|轻言|打扰|放在心上)|要不要|不要紧"
)
_ONE_OFF = re.compile(
    r"这[段句个次篇封份里条张首本道题]|那[段个句篇封份条]|第[一二三四五六七八九十\d]+[段句个章条]|"
    r"先(?:别|不)|今天(?!的?日期|起|开始)|明天|今晚|现在(?=别|不|先)|刚才|刚刚|暂时|上面|下面|以上|以下|上文|"
    r"这(?=周|月|回)|等(?:我|你|一下|会儿)|再说(?:吧)?$"
)
_QUESTION = re.compile(r"[?？]\W*$|(?:吗|呢|么)\W*$")
_ASKS_WHAT = re.compile(r"什么|怎么(?!问)|为什么|为何|谁|哪|是不是|是否|有没有|要不要|几点|多少|难道|干嘛")
_POLITE = re.compile(
    r"^(?:你|您)?(?:能不能|可不可以|可否|能否|能|可以|愿意|方便)(?!我).+|(?:好吗|行吗|可以吗|好不好|"
    r"行不行|成吗|好么|可好|ok吗|OK吗)\W*$"
)
_TAG_QUESTION = re.compile(
    r"[,，]?\s*(?:好吗|行吗|可以吗|好不好|行不行|成吗|好么|可好|谢谢|多谢|拜托了?|ok吗|OK吗)\W*$"
)

_PERSON = (
    r"(?:他|她|它|人们|大家|别人|有人|人家|我们|咱们公司|我(?:家|妈|爸|哥|姐|弟|妹|爷|奶|的?(?:老板|同事|"
    r"朋友|女儿|儿子|老公|老婆|上司|老师|邻居|孩子|室友|经理))|[老小][\u4e00-\u9fff]{1,2}(?=说|总|以后|"
    r"每次|从)|"
    r"老师|老板|妈妈|爸爸|奶奶|爷爷|外婆|公司|学校|医生|客户|经理|领导|同事|朋友|邻居|警察|服务器|系统|"
    r"程序|接口|函数|服务|网站|房东|店里|学生|孩子|用户|政府|银行|餐厅规定|合同|说明书)"
)
_REPORT = re.compile(
    rf"^(?:{_PERSON})|俗话|老话|常言|古人|(?:谚语|名言|座右铭|口号)(?:说|是|里)|(?:有|这|"
    r"那)句.{0,6}(?:谚语|名言|话)|牌子|标语|告示|歌词|歌里|诗里|书上|书里|电影里|写着|写道|说明书|"
    r"手册|文档里|据说|听说|^(?!你|您|我|以后|今后|请|别|不).{1,6}(?:都|总|常|老|经常)说|"
    r"[墙门车]上[写贴]"
    r"|^我(?:已经|刚|刚刚|昨天|今天|也|总)?(?:(?:告诉|叫|让|提醒|叮嘱|嘱咐|劝|要求)(?!你|您|我)|(?:跟|对|"
    r"和)(?!你|您).{1,4}(?:说|讲|提))|^(?:告诉|提醒|转告|通知|叫|让|跟|替我告诉)(?!我|你)"
)
_SAID_LATE = re.compile(
    rf"^(?:{_PERSON}|[\u4e00-\u9fff]{{1,4}}?)(?:总|常|老|经常|以前|曾经|这么|就是这样)?(?:是这么)?(?:说|"
    r"讲|写|唱|教|告诉我)的?(?:过)?$"
)
_FRESH_START = re.compile(r"^(?:所以|因此|请|但|不过|你|您|麻烦|那)")
_FACT_ABOUT_ME = re.compile(r"^(?:我|俺|本人)")
_WISH = re.compile(
    r"^我(?:也|真的|很|更|比较|还是|一直)?(?:希望|想要?|要|需要|要求|请|更喜欢|喜欢|宁愿|建议|拜托|麻烦|"
    r"请求|倾向于?)(?:你|您)(?P<rest>.+)"
)
_WISH_FOR = re.compile(
    r"^我(?:也|真的|很|更|比较|还是|一直|只|再也)?(?:不想再?(?:看到|听到|见到|看见|要)|不希望再?(?:看到|"
    rf"听到|见到|出现)|不要再?看到|不喜欢(?:你)|更?(?:喜欢|想要|想看|希望|需要|要|偏好)).{{0,8}}{MATTER}"
)
_NAMING = re.compile(
    r"^(?:你|您)?(?:以后|今后|可以|就|都|直接|从现在起|从现在开始|也|只|只需|还是|请|统一|一律)*(?:叫我|"
    r"称呼我|管我叫|喊我|称我)(?!什么|怎么|去|来|起床|吃|做|多|回|等|们|的|一声|醒|出|帮|别|不|过来|干|"
    r"该|写|说|把|给|在|家)(?:为|作|做)?.{1,12}$"
)
_STYLE_ORDER = re.compile(
    rf"^(?:你|您)?(?:只|都|全|尽量|就|直接)?(?:用|使用|以|说|讲|改用|换成){LANGUAGE}.{{0,4}}(?:回答|回复|"
    r"答复|作答|回我|交流|沟通|对话|聊|说|跟我|和我|写|讲|输出|就行|就好|即可|吧|$)"
    r"|^(?:你的|你|您的|所有的?)?(?:长度|篇幅|回答|回复|答复|答案|回应|解释|语气|说话|句子|代码|日期|"
    r"价格)(?:的?(?:时候|时|语气|风格|格式|长度))?.{0,3}(?:要|得|应|请|尽量|控制|保持|简短|简洁|简单|"
    r"短|直接|正式|不|别|越短|用|以|一点|必须|统一|里|中)"
    rf"|^(?:都|就)?把我当"
    rf"|^(?:说话|讲话|说|讲|写)得?(?:简短|简洁|简单|正式|直接|口语|通俗|短)"
)
_CONDITION = re.compile(
    r"^(?:当|如果|要是|假如|若|只要|一旦|每当|每次|凡是?|但凡|遇到|碰到|涉及|在)?(?:我|你|有|遇到|碰到|"
    r"涉及|提到|出现|写|给|回答|解释|提供).{0,24}?(?:时候?|之前|以前|之后|的话|前|后|,|，|就|$)"
)
_MY_TALK = re.compile(
    r"(?:我|你).{0,4}(?:说|问|给|发|写|要|提|贴|让|请|叫|提供|引用|回答|用|推荐|列|解释|不(?:知道|确定|"
    r"清楚))|涉及|提到|遇到|出现"
)
_TASK = re.compile(
    r"^(?:请|帮我|麻烦)?(?:把|给我|帮我|替我)?(?:翻译|总结|概括|润色|改写|写一|写个|写首|画|查一下|"
    r"算一下|看看|分析|解释一下|重命名|生成|列出)"
)


_MATTER_OR_DEED = re.compile(rf"{MATTER}|{DEED}|{MASK}")
_TOPIC = re.compile(rf"{MATTER}|{MASK}|[A-Za-z]|每|第一次|聊天|对话|交流|说话|写|给|用|遇到|涉及|我(?:给|问|说|发|要)")
_OF_ONES = re.compile(rf"(?:给|对|跟|关于|发给|写给).{{1,8}}的{MATTER}$")  # 写给客户的邮件
_COMPLAINT = re.compile(
    r"^(?:你|您)(?:怎么)?(?:总|老|一直|每次都|从来|永远|始终)(?:是|都)?(?!要|得|别|不要|用|请|必须|先)"
)
_BREAK = re.compile(r"[,，;；:：。！!？?()（）]|——|—|\s{2,}")
_ABILITY = re.compile(r"^(?:你|您)?(?:能不能|可不可以|可否|能否|能|可以|愿意|方便)|(?:吗|呢|么)$")
_HEAD = re.compile(
    rf"(?:你|您)?{_SCOPE}|(?!.{{0,9}}{_PERSON})[^我]{{1,10}}?(?:的时候|时)(?=请|要|别|不要|务必|必须|都|一律|只|尽量)"
)
_NO_BAN = re.compile(r"[区特分级性告离个差类识判鉴]别|别[人的处扭墅致]")
"""Words with 别 in which it forbids nothing."""
_HABIT = re.compile(r"以后|每次|永远|不要再|别再")
_STANDS_ANYWAY = re.compile(rf"^(?:你|您)?{_SCOPE}|永远|一律")
_DIRECTED = re.compile(r"都|就|要|先|帮我|务必|必须|别|不要")
_SOFT = re.compile(r"一点|一些$")
_ONE_PIECE = re.compile(r"一个|一份|一些|一篇|这")
_MANNER_WISHED = re.compile(r"不|每|都|所有|简|短|详|只|带|正式")
_FORECAST = re.compile(r"[都总就]会")
_ABOUT_LIFE = re.compile(r"(?:我|他|她|它|我们|他们|再说|再聊|会|还有|还)")
_MOVES_ON = re.compile(r"^(?:会|还|再|有|是)")
RULED_CHARS = 20


class _Situation(NamedTuple):
    """What was said before: ``scope`` 以后; ``condition`` 我给你…的时候; ``tasked`` a job was given; ``begged`` 请."""

    scope: bool = False
    condition: bool = False
    tasked: bool = False
    begged: bool = False


def binds(sentence: Sentence) -> bool:
    """Whether the sentence holds an order, wish or ban addressed to the assistant that is meant to last."""
    text = _TAG_QUESTION.sub("", sentence.plain.strip())
    asking = text == sentence.plain.strip() and _QUESTION.search(text) is not None
    clauses = [clause for part in _BREAK.split(text) if (clause := part.strip(" .…~～"))]
    if any(_SAID_LATE.search(clause) for clause in clauses[1:]):
        return False
    if asking and (_ASKS_WHAT.search(text) or not any(_POLITE.search(clause) for clause in clauses)):
        return False
    situation = _Situation(scope=sentence.ruled)
    for clause, begged in _own(clauses):
        if asking:
            clause = _ABILITY.sub("", clause)
        head = _HEAD.match(clause) is not None
        situation = situation._replace(scope=situation.scope or head, begged=begged)
        if sentence.after_paste and not head:
            continue
        if _clause_binds(clause, situation) or (sentence.ruled and len(clause) <= RULED_CHARS):
            return True
        condition = _CONDITION.search(clause) and _MY_TALK.search(clause) and not _ONE_OFF.search(clause)
        situation = situation._replace(
            condition=situation.condition or bool(condition),
            tasked=situation.tasked or _TASK.search(clause) is not None,
        )
    return False


def _own(clauses: list[str]) -> Iterator[tuple[str, bool]]:
    """The clauses that are not what others say or do, without what only opens them; and whether that was 请."""
    reported = False
    for raw in clauses:
        clause, begged = _opened(raw)
        reported = reported and not _FRESH_START.search(raw)
        reported = reported or (_REPORT.search(clause) is not None and not _NAMING.search(clause))
        if clause and not reported:
            yield clause, begged


def _opened(clause: str) -> tuple[str, bool]:
    begged = False
    while match := _OPENER.match(clause):
        begged = begged or match.group()[:1] in "请麻拜烦劳"
        clause = clause[match.end() :].strip(" ,，")
    return clause, begged


def _clause_binds(clause: str, situation: _Situation) -> bool:
    clause = _NO_BAN.sub("〇〇", clause)
    if _NAMING.search(clause):
        return True
    if _IDLE.search(clause) and not _HABIT.search(clause):
        return False
    one_off = _ONE_OFF.search(clause) is not None
    if _WISH_FOR.search(clause) and not one_off and not _ONE_PIECE.search(clause):
        return _MANNER_WISHED.search(clause) is not None
    if wish := _WISH.match(clause):
        return _wish_binds(wish["rest"], one_off=one_off)
    own_rule = _CONDITION.search(clause) and _MY_TALK.search(clause) and _LASTING.search(clause)
    if _FACT_ABOUT_ME.search(clause):
        return bool(own_rule) and _marked(clause, situation)
    if one_off and not _STANDS_ANYWAY.search(clause):
        return False
    if _STYLE_ORDER.search(clause) and not situation.tasked:
        return True
    if situation.condition:
        return _OURS.search(clause) is not None or _DIRECTED.match(clause) is not None
    return _marked(clause, situation)


def _wish_binds(rest: str, *, one_off: bool) -> bool:
    lasts = _LASTING.search(rest) or (_WEAK.search(rest) and not one_off) or _SOFT.search(rest)
    return bool(lasts) and _OURS.search(rest) is not None


def _marked(clause: str, situation: _Situation) -> bool:
    """Whether a word in the clause makes it last (一律, 每次), or forbids (别)."""
    lasting = _LASTING.search(clause)
    if lasting and _free_subject(clause, lasting.start()):
        rest = clause[lasting.end() :]
        if _complaint(clause) or _FORECAST.search(rest) or _about_life(clause):
            return False
        return _OURS.search(rest) is not None
    weak = _WEAK.search(clause)
    if weak and _free_subject(clause, weak.start()):
        if situation.scope and _OURS.search(clause):
            return True
        return not situation.tasked and _BAN.search(clause) is not None and _MATTER_OR_DEED.search(clause) is not None
    spoken_for = situation.scope or (situation.begged and re.search(r"都|只|全", clause) is not None)
    return spoken_for and _OURS.search(clause) is not None and not _MOVES_ON.search(clause)


def _about_life(clause: str) -> bool:
    """以后我想…, 以后会…: what comes, not what is to be done."""
    rest = re.sub(rf"^(?:{_SCOPE}|你|您|就|也|,)+", "", clause)
    return _ABOUT_LIFE.match(rest) is not None and not _MY_TALK.search(clause)


def _free_subject(clause: str, at: int) -> bool:
    """Whether what stands before the marker is nobody, you, or something an answer is made of."""
    before = re.sub(rf"^(?:{_SCOPE}|你|您|就|也|都|在|对|对于|关于|,|，|\s)+", "", clause[:at])
    if not before or before.endswith("请") or _OF_ONES.search(before):
        return True
    if re.match("[这那]", before) or re.search(_PERSON, before):
        return False
    if re.match(r"我(?!给|问|说|发|要|的(?:名字|全名|地址|密码|隐私|代码))", before):
        return False
    return _TOPIC.search(before) is not None


def _complaint(clause: str) -> bool:
    """你总是忘, 你每次都这样: said of the assistant, not to it."""
    return _COMPLAINT.search(clause) is not None
