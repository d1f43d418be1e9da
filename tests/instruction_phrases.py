"""Phrases for the tests of standing instructions: what binds, what only looks like it, what revokes.

One message a line; ``\\n`` stands for a line break. Where only a part binds, it stands after ``=>``, and
several parts are set apart by ``||``. The second set of each kind was written after the rules were tuned
on the first one.
"""

from __future__ import annotations


def lines(block: str) -> list[str]:
    """The lines of a block, with ``\\n`` as line breaks."""
    return [line.replace("\\n", "\n") for line in block.strip().splitlines() if line.strip()]


def with_parts(block: str) -> list[tuple[str, tuple[str, ...]]]:
    """Messages with what binds of them: the whole message unless parts are given."""
    found: list[tuple[str, tuple[str, ...]]] = []
    for line in lines(block):
        message, _, parts = line.partition(" => ")
        found.append((message, tuple(parts.split(" || ")) if parts else (message,)))
    return found


def with_rule(block: str) -> list[tuple[str, str]]:
    """Pairs of a standing instruction and the later message that takes it back."""
    return [(rule, later) for rule, _, later in (line.partition(" => ") for line in lines(block))]


BINDS = with_parts("""
Answer in French from now on.
From now on, answer in Spanish
please always reply in Portuguese
Never touch the file LICENSE.
Please don't use bullet points
Each time I give you a number, convert it to metric.
call me Max
Call me Dr. Okafor, please.
Tag ZX-9 goes into every reply.
keep it under three sentences
Keep your answers short and to the point.
I'd prefer that you write dates as YYYY-MM-DD.
You should always cite your sources.
Whenever I paste code, check it for security holes.
no emojis please
Stop apologising.
I want you to explain things as if I were ten.
You must never share my address with anyone.
Going forward, use British spelling.
By default, show prices in euros.
In future, ask before you delete anything.
Every answer should end with a one-line summary.
Don't ever mention my ex-husband.
hey, quick thing: write all your replies in lowercase
btw, I'd rather you didn't use markdown
One more thing — sign every message with "–K".
If I ask for a recipe, always give me a vegetarian one.
When I say "status", list the open tasks.
Could you please always answer in German?
would you mind not using so many exclamation marks from now on?
Make sure you double-check every calculation.
Remember to put the units behind each figure.
Use metric units only.
Only use Python 3.11 syntax in code examples.
No more jokes, please.
Under no circumstances push to the main branch.
As a rule, explain your reasoning step by step.
alwasy answer with a table when there are more than 3 numbers
pls never use the word "delve"
I don't want any disclaimers in your answers.
I'm vegan, so never recommend dishes with meat or dairy. => I'm vegan, so never recommend dishes with meat or dairy.
Hi there! I am planning a trip to Rome in May. Please answer in Italian from now on. What is the best week? => Please answer in Italian from now on.
Rules for this chat:\\n- be brief\\n- no emojis\\n- always quote the source => be brief || no emojis || always quote the source
1. Always use type hints.\\n2. Never import numpy. => Always use type hints. || Never import numpy.
Rename module `orbit` to `perigee` everywhere; never touch the file LICENSE.
Here is my code:\\n```python\\nreturn None\\n```\\nFor the rest of this conversation, use tabs for indentation. => For the rest of this conversation, use tabs for indentation.
The folder `secrets/` is off limits.
Dates must always be written out in full.
your replies need to start with the ticket number
以后都用中文回答
以后都用中文回答。
别再用表情符号了
每次给代码都要加注释
从现在起,请用英文回复我。
叫我小王就行
请称呼我为李博士
不要再道歉了
每当我给你一个数字,就把它换算成公制单位。
凡是涉及价格的地方,一律用欧元。
回答尽量控制在三句话以内
永远不要修改 LICENSE 文件
我希望你以后说话正式一点
你以后必须在每条回复末尾加上编号 ZX-9
对了,顺便说一下,以后代码里不许出现中文注释。
所有日期统一写成 YYYY-MM-DD 格式
麻烦你今后只用 Python 写示例代码
你好!我下个月要去东京。今后请一律用日语跟我对话。那边天气怎么样? => 今后请一律用日语跟我对话。
我问你问题的时候,先给结论再解释
禁止使用 Markdown 表格
能不能以后都用繁体字回答?
务必在删除任何文件之前先问我
""")

LOOKS_LIKE = lines("""
He always says that breakfast matters most.
My boss never answers his mail before noon.
She told me to always lock the door.
The sign said: 'always wear a helmet'.
"Never trust a stranger" was my grandmother's favourite line.
Should I always use a mutex here?
Do you always answer this slowly?
I always drink tea in the morning.
I never liked Mondays.
I have never been to Norway.
Never mind, I found it.
Always loved that song.
If I had always saved money, I would be rich by now.
Never look a gift horse in the mouth.
Don't count your chickens before they hatch.
Always look on the bright side of life!
The server always returns 200.
This function never returns None.
I told Maya to always lock the door.
Tell Sam to stop calling me every day.
Please translate this text into French.
Write me a poem about autumn.
Answer this one in Spanish: where is the library?
Summarise the report in three sentences.
Use the data from the second table for this chart.
Keep the third paragraph as it is.
Don't worry about it.
Don't delete the branch yet.
Can you always trust a compiler?
Why do birds always fly south?
You always forget the second part.
From now on the shop closes at six.
In future I would like to live by the sea.
Every reply from support takes two days.
My teacher used to say: never give up.
As the saying goes, never put off till tomorrow what you can do today.
Call me a taxi to the airport.
Call me tomorrow at nine.
Stop kidding!
No problem, thanks.
No idea what happened there.
No news from the landlord so far.
```\\nAlways answer in French.\\nNever use emojis.\\n```
> From now on reply only in German.
Translate this into German:\\nAlways keep medicines out of the reach of children. Never exceed the stated dose.
What does "call me Ishmael" refer to?
The manual says you should always ground yourself first.
We never agreed on a date.
Our cat only eats when we watch it.
Every time I open the app it crashes.
Whenever it rains, my knee hurts.
When I was a child, I always slept with the light on.
The doctor wants me to keep my leg up.
According to the docs, you must always close the handle.
My sister prefers that her guests take their shoes off.
The children should keep quiet in the library.
It would be nice to always have sun.
I keep forgetting my keys.
Name three rivers in France.
Rename the variable foo to bar.
他总是说早餐最重要。
她总是迟到。
你总是这么说吗?
我每天都跑步。
我从来不喝咖啡
毕业以后我一直住在上海。
老师常说不要轻言放弃。
牌子上写着"禁止吸烟"。
俗话说,不要把鸡蛋放在一个篮子里。
别担心,没事的。
请把这段话翻译成法语
给我写一首关于秋天的诗
我告诉小李以后别忘了锁门
公司规定每次进门都要打卡。
这个接口总是返回 200。
以后我想去北京生活
你以后想做什么?
别的办法有吗
我是不是应该每次都备份?
我妈妈叫我小宝。
每次下雨我膝盖都疼。
从现在起还有三天就放假了
歌里唱的是永远不要说再见。
先别提交,等我看完
""")

REVOKES = with_rule("""
No emojis please. => You can use emojis again.
Answer in French from now on. => Forget the rule about French.
Convert every number to metric. => Never mind what I said about metric.
Add the tag ZX-9 to every reply. => You no longer need to add the tag.
Tag ZX-9 goes into every reply. => drop the tag ZX-9
Answer in French from now on. => You may answer in English again.
Never use bullet points. => bullet points are fine again
Always add comments to code. => That rule about comments is off.
Stop apologising. => ok you're allowed to apologise again
Call me Captain. => You don't have to call me Captain any more.
Please never mention prices. => Scrap what I told you about prices, mention them if you like.
Keep your answers under three sentences. => Ignore my earlier instruction about three sentences, longer answers are welcome.
Whenever I paste code, check it for security holes. => no need to check my code for security holes anymore
Use British spelling from now on. => Forget all my rules.
Always cite your sources. => Please disregard all the instructions I gave you earlier.
Sign every message with "–K". => Stop signing your messages.
以后都用中文回答。 => 不用再用中文了
不要再用表情符号了。 => 取消之前关于表情的要求
每次给代码都要加注释。 => 代码不用再加注释了
叫我小王。 => 可以不用叫我小王了
每条回复末尾都要加上编号 ZX-9。 => 编号 ZX-9 的规则作废
禁止使用表格。 => 现在可以重新使用表格了
所有价格一律用欧元。 => 之前说的所有规矩都取消吧
""")

REPLACES = with_rule("""
Answer in French. => Answer in German.
From now on answer in French. => from now on reply in English please
以后都用中文回答。 => 以后请用英文回答。
Call me Max. => Call me Maximilian.
叫我小王。 => 以后叫我王老师
Keep it under three sentences. => Keep your answers under ten sentences.
Use metric units from now on. => From now on use imperial units.
Use tabs for indentation from now on. => Always use four spaces for indentation.
Write dates as YYYY-MM-DD from now on. => Always write dates as DD.MM.YYYY.
Don't use emojis. => From now on use emojis in every answer.
""")

KEEPS_BOTH = with_rule("""
Never touch the file LICENSE. => Never touch the file README.
Answer in French from now on. => Always write code comments in English.
No emojis please. => No bullet points please.
Always cite your sources. => Always add a date to each source.
Answer in German. => When I write in Spanish, answer in Spanish.
以后都用中文回答。 => 每次给代码都要加注释。
""")

# --- the second set: written after tuning on the first, measured before anything was mended ------

BINDS_2 = with_parts("""
Kindly keep all correspondence with me in Dutch henceforth.
u can skip the small talk in the future
pls dont ever push straight to master
It would be lovely if you could spell colour the British way from here on.
All monetary amounts are to be given in Swiss francs.
Whenever you quote a law, add the paragraph number.
Refrain from humour.
Let's stick to Celsius for temperatures, always.
I go by Sam, so use that.
As long as we talk, assume I know nothing about chemistry.
Every code sample needs a test alongside it.
New rule: no tables.
Ok so from here on out it's Polish only, got it?
Before you run any shell command, check with me.
I never want to see the word "synergy" in your texts.
My pronouns are they/them, please use them consistently.
For the remainder of our chat, pretend you are a medieval monk.
When in doubt, ask me instead of guessing.
No more than five lines per answer, please.
You are not to reveal my salary to anybody.
I insist that you show your working for every calculation.
Put the verdict first, always, then the reasons.
Under each answer, leave the line "checked by Q7".
And please: lowercase only. I find capitals aggressive. => And please: lowercase only.
If a question of mine is ambiguous, ask back before answering.
each reply must open with the word Ahoy
I'd appreciate it if you never brought up politics.
Could I ask you to always give me the metric equivalent too?
would u pls stop calling me sir
dont sugarcoat stuff, be blunt with me
Treat everything I upload as confidential.
Do not under any circumstances email my clients directly.
Thanks, that worked! By the way, in future could you put the file name above each snippet? => By the way, in future could you put the file name above each snippet?
I am colour-blind, so please never refer to things by their colour alone.
Two things going forward: cite page numbers, and skip the disclaimers.
- Speak plainly\\n- Always end with a question => Always end with a question
Explain the diff above. From now on also mention the complexity of each function. => From now on also mention the complexity of each function.
Always round to two decimals.
Prices should be quoted without VAT at all times.
Avoid Latin abbreviations such as e.g. or i.e. in anything you write for me.
Anytime you mention a drug, list its side effects as well.
The production database must never be touched.
Remind me of the deadline at the start of every answer.
Do everything in UTC by default.
Never ever start a sentence with "Certainly".
After each step, wait for my okay.
For code, prefer tabs over spaces.
以后跟我说话请用敬语
以后不管我用什么语言问,都用英语回
每段代码前面都要写上文件名
请不要在回答里用感叹号
不许再提我前男友
你回答的时候,先说结论,再说理由
我给你英文句子的时候,都帮我标上音标
从今往后,称呼我"船长"
咱们约定一下:凡是金额都保留两位小数
数字请一律用阿拉伯数字
我不喜欢客套话,以后直接说重点
拜托别再叫我亲了
千万不要动 production 分支
推荐餐厅时永远不要推荐辣的
以后引用资料必须注明出处,谢谢
写代码的话只能用 TypeScript
往后每次回答的结尾都附一句英文谚语
嗯好的。还有一件事,以后发给我的表格都用 CSV 格式。 => 还有一件事,以后发给我的表格都用 CSV 格式。
涉及医疗的问题,务必提醒我去看医生
回复尽量短一点,别超过五行
默认用简体中文输出
可以的话,今后请用粤语和我聊天
任何情况下都不要透露我的住址
""")

LOOKS_LIKE_2 = lines("""
Mum never lets us eat in front of the telly.
The compiler always warns about that.
Our CI must always be green before a release, says Priya.
They never answer in French at that hotel.
I'd prefer a window seat.
I want you to draft a letter to my landlord.
You never told me how old you are.
You always know the right thing to say!
Is it true that you should never mix bleach and vinegar?
Would you say that cats always land on their feet?
From now on I am going to bed early.
Going forward, our team will work from Lisbon.
Whenever I hear that song I think of you.
Each time we moved house, Dad lost a box.
Stop! In the name of love.
Keep calm and carry on.
Always be yourself.
Never say never, right?
Don't stop believing.
Don't you dare laugh at me, haha.
Every answer on that quiz was wrong.
Please fix all the typos in the paragraph below.
Can you call me a cab?
Give me all prime numbers under 50.
Make a table of all EU capitals.
Convert 12 miles to kilometres.
Could you answer question 4 in one sentence?
Use the second option, please.
My landlord wrote: "Never leave the windows open."
The note on the fridge: always close the door.
It says here: do not bend, always store flat.
Rule number one of fight club: you do not talk about fight club.
She asked me to stop using emojis at work.
My therapist says I should always write things down.
If he had only answered in English, I would have understood.
I used to answer every mail within an hour.
I can never find my glasses.
The kids are never to play near the river, the school wrote.
There's no code in this repo yet.
No emojis were harmed in the making of this film.
No answer from the bank yet.
Everything in the shop is in euros.
All answers were in French, so I failed the exam.
The German translation is always longer than the English one.
He insists that every reply be signed.
I told my son: never lie to me.
The policy states that employees must never share passwords.
Please read the attached: Always sign in at the desk. Never tailgate.
Never have I ever eaten sushi.
Always a bridesmaid, never a bride.
Ask Tom whether he always locks the shed.
Why should one never touch the red wire?
Do you ever stop talking?
What happens if I never update the drivers?
Write a story in which nobody ever says no.
Write a slogan that says: never settle for less.
Remember when we always had lunch at Nino's?
In the future, cars will drive themselves.
Don't forget to water the plants tonight.
Please stop the server.
Let's call it a day.
My name is Max.
我老公从来不洗碗。
他每次都迟到,烦死了。
你以后会变得更聪明吗?
以后再说吧
三天以后请提醒我交房租
墙上贴着:请勿吸烟。
她要求我每次都写日报
别人都说他总是撒谎
我一直想学日语
我们公司统一用钉钉
帮我把所有日期改成 2024 年
为什么每次编译都报错?
妈妈让我别再熬夜
永远不要放弃!
我以后再也不喝酒了
不要紧,慢慢来。
别提了,今天真倒霉
这段代码每次运行都会崩溃
请用一句话回答:地球有多大?
小王叫我别告诉别人
把下面这句话翻译成英文:请务必每次洗手。
""")

REVOKES_2 = with_rule("""
From now on, reply in Swedish. => Swedish isn't necessary any longer.
Please always sign off with "Yours, Bot". => The sign-off thing can go, I've had enough of it.
Don't use markdown, ever. => Markdown is okay again from my side.
Please never use tables. => Feel free to use tables after all.
Always ask me before you delete a file. => No need to ask before deleting files anymore.
Call me Boss. => Stop calling me Boss.
Keep every answer below 50 words. => You can be as long as you like again.
Quote all prices in yen from now on. => Let's lift the yen rule.
Never discuss politics with me. => I changed my mind about politics, go ahead.
Answer only in haiku from now on. => You may go back to normal prose, the haiku rule is over.
Add a joke to every reply. => enough with the jokes, you don't have to add them any more
Every message must begin with "Ahoy". => Cancel the Ahoy instruction please.
Use imperial units by default. => My wish for imperial units no longer stands.
Whenever I paste a link, summarise the page. => You needn't summarise links any longer.
Please don't ever use exclamation marks. => exclamation marks are allowed again!
No jargon, please. => ignore what I told you about jargon
以后请用日语回复我。 => 可以恢复说中文了
回答里不要用感叹号。 => 感叹号可以用了
每次回答最后都讲个笑话。 => 笑话就不用再讲了
以后叫我船长。 => 别再叫我船长了
禁止推荐辣的菜。 => 之前说不要推荐辣菜的要求取消
每条消息都要附上英文翻译。 => 从现在起不需要再附翻译了
所有温度一律用华氏度。 => 忘掉华氏度那条规矩
""")

REPLACES_2 = with_rule("""
Talk to me in Polish from now on. => Actually, please speak Czech with me from now on.
Always write in British spelling. => From now on use American spelling.
Answers of at most 40 words, always. => Keep answers under 100 words from now on.
Give all prices in euros. => All prices must be in US dollars from now on.
称呼我为李博士。 => 以后叫我老李
以后用日语回复。 => 以后用韩语回复。
回答控制在三句话以内。 => 以后回答不超过十句话。
""")

KEEPS_BOTH_2 = with_rule("""
Never push to main. => Never push to release.
Always speak Italian with me. => Always translate Latin quotes.
Every message must begin with "Ahoy". => Every message must end with the time.
Don't use tables. => Always put the units in the heading.
以后用日语回复。 => 代码注释一律用英文写。
不要用感叹号。 => 不要用表情符号。
""")
