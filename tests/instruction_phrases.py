"""Phrases for the tests of standing instructions: what binds, what only looks like it, what revokes.

One message a line; ``\\n`` stands for a line break. Where only a part binds, it stands after ``=>``, and
several
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
""")  # noqa: E501

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
""")  # noqa: E501

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

# --- set 2 ---

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
""")  # noqa: E501

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

# --- set 3 ---

BINDS_3 = with_parts("""
Heads up: I only read plain text, so no HTML in your replies ever.
You may address me as Captain Ruiz from this point on.
Any figure you give me must carry its unit.
Whatever I ask, respond in Hungarian.
It is important to me that you never guess; say you don't know.
Should I mention a medication, warn me about interactions.
Mark uncertain statements with a question mark in brackets, always.
Nothing longer than two paragraphs, please, ever.
Please note that I'd like times in the 24-hour format from now on.
The word "utilize" is banned.
Leave my boss out of everything you write.
I expect you to double-check names before you use them.
No need to be polite, just give me the bare facts every time.
Use my full name, Ana Sofia, in every letter you draft.
Don't assume I'm American.
Never, ever book anything without asking me first.
When you show code, show only the changed lines.
Each of your answers should mention which source it rests on.
Please keep calling me Professor.
English only, thanks.
Everything you write to me should be in the second person.
Answer first, explain later, every time.
Steer clear of sports metaphors from now on, would you?
If you're not sure, say so rather than inventing something.
Start each reply with a one-word mood.
Hold the emojis, please.
One request for all our chats: always tell me how confident you are.
Do me a favour and end all messages with the code word "tulip".
From today on you are my strict Latin teacher.
I'd be grateful if you could always include the ISBN when you mention a book.
In all future replies, put key terms in bold.
My dog's name is Pixel; whenever I write "P", I mean him.
Under all circumstances keep the customer names secret.
You shall not reveal the contents of notes.txt to anyone.
The tag #kappa belongs at the bottom of each answer.
Consider me an expert in networking from now on.
For every recipe you suggest, list the calories.
Please be consistent: dates as 2026-03-05, nothing else.
It's Dr. Lin, not Mr. Lin, please remember that.
Please remember: I am allergic to nuts, never suggest anything with nuts.
Quick rule, no swearing.
Respond with JSON and nothing but JSON until I tell you otherwise.
Speak to me like a pirate for the rest of the session.
Please refrain from repeating my question back to me.
I want you to always challenge my assumptions.
Every single time you compute something, show the formula.
Whenever possible, prefer open-source tools.
Make it a rule to list the risks first.
Try to keep replies under 100 words.
Don't thank me all the time.
Just don't ever use the passive voice.
Kindly desist from using my first name.
In this project we write commit messages in the imperative; always follow that.
Always, always, always run the tests before you say you're done.
以后凡是写邮件都用我的全名落款
从下一条消息开始,请全部用繁体中文
记住,我对花生过敏,永远别推荐含花生的菜
回复我的时候请带上时间
每次总结都要列出三个要点
跟我聊天不要打官腔
今后你就叫我阿杰吧
不管聊什么,都请先给出结论
有个要求:以后所有代码示例都得能直接运行
你以后解释概念的时候要多举例子
不准使用网络流行语
长度上请始终控制在一百字以内
提到外国人名时请附上原文
不要在没有我同意的情况下发送邮件
请一直用第二人称称呼我
每回答完一个问题,都问我一句"明白了吗"
以后别跟我说"作为一个AI"
关于我的健康状况,请勿向任何人透露
如果你不确定,就直接说不知道
从现在开始,你的每句话都要以"喵"结尾
""")
LOOKS_LIKE_3 = lines("""
My wife always tells me to slow down.
Doctors recommend that you never skip breakfast.
The law says you must always carry a licence.
Why must I always restart the router?
I always answer in French when my aunt calls.
We never use emojis in our company newsletter.
Nobody ever replies in English over there.
The bot on that website only answers in German.
He wants every reply signed.
Could you always see the Milky Way from here in the old days?
Please answer the following question in one word: is water wet?
Call me Ishmael is the first line of Moby-Dick.
Stop me if you've heard this one.
Just call me when dinner is ready, I told Anna.
Keep an eye on the oven, mum said.
I keep my answers short when I'm nervous.
In future versions the API will always return JSON.
By default the printer uses both sides.
Each test must pass before merging, that's how our CI works.
What is the rule for always capitalising nouns in German?
Which languages never use articles?
List every country that starts with A.
Please convert all these temperatures to Celsius: 20F, 30F.
Never in my life have I seen such a mess.
Never thought I'd say that.
Always happy to help!
No reply needed.
No, I don't think so.
Never mind the typo above.
Don't know, don't care.
Keep going.
Always and forever is my favourite album.
The song "Don't Speak" came out in 1996.
Imagine a world where everyone always tells the truth.
I wish I could always sleep until ten.
If only the bus would always be on time.
Tell the driver to always take the left lane.
Ask your sister never to call after ten.
You should have seen his face!
You must be joking.
You must be tired after such a day.
You should try the ramen at Kenzo.
I'd like you to meet my brother.
Rewrite this paragraph without emojis.
Use bullet points for this summary.
Please shorten the text to three sentences.
She'd prefer that people call her Liz.
From now on, says the new manager, nobody leaves before six.
It never rains in July here.
All my dates were wrong in the spreadsheet.
Whenever we talk about money, he gets angry.
Every time I see that ad I laugh.
Let me always remember this evening.
The instructions read "never immerse in water".
My horoscope says: avoid big decisions.
Error: never call setState in render.
The linter complained: "Always use const".
Honestly, I never read the manual.
Would you ever lie to me?
Have you always been called Claude?
他妈妈不许他吃糖。
老板每次开会都要求我们关手机
我以前总是用英文写日记
你们公司是不是统一着装?
每次都是我买单
我们家从不吃辣
这家店禁止自带酒水
我总觉得自己忘了什么
爷爷一直叫我胖虎
一旦下雨,比赛就取消。
以后的事以后再想
你永远是我最好的朋友
代码里为什么不能用全角空格?
请帮我写一句话:永远相信自己
医生说以后都不能喝酒
请只翻译第二段
要是我以前每天都背单词就好了
所有人都迟到了
这道题必须用微积分吗
他说:"以后都用中文回答。"
这个网站只能用英文注册
我儿子的老师要求每次作业都要家长签字
""")
REVOKES_3 = with_rule("""
Always reply in Hungarian. => Hungarian is no longer needed.
No swearing, please. => you may swear again
Start each reply with a one-word mood. => Please drop the mood word at the start.
Never book anything without asking me first. => Forget what I said about asking before booking.
Include the ISBN whenever you mention a book. => I don't need the ISBN any more.
Keep replies under 100 words. => The 100 words limit is lifted.
Use tables for all comparisons from now on. => Please don't use tables for comparisons anymore.
The word "utilize" is banned. => "utilize" is fine after all
Speak to me like a pirate for the rest of the session. => ok enough pirate talk, back to normal please
Whenever I paste a stack trace, explain it line by line. => You can stop explaining stack traces line by line.
For every recipe you suggest, list the calories. => Skip the calories from now on.
Please put key terms in bold in all replies. => the bold key terms: cancel that
Don't mention my ex. => It's okay to mention my ex again.
Write everything in lowercase from now on. => lowercase rule cancelled
Always cite the ISBN of a book. => Disregard everything I've asked you to always do.
请一直用第二人称称呼我。 => 第二人称那个要求不算了
以后凡是写邮件都用我的全名落款。 => 邮件落款不必再用全名
每句话都要以"喵"结尾。 => 不用再喵了
不准使用网络流行语。 => 网络流行语可以随便用了
以后回复都带上时间。 => 时间就别再带了
长度请始终控制在一百字以内。 => 取消一百字的限制
以后都用繁体中文。 => 还是用回简体吧
""")

# --- set 4 ---

BINDS_4 = with_parts("""
I'd rather not see any code comments in German.
Every time you recommend a book, tell me its length as well.
Please, no follow-up questions at the end of your replies.
My preference is for bullet lists over long paragraphs.
Would it be possible to always get the answer before the explanation?
Be sure to mention the version number whenever you talk about a library.
Metric, please, and never Fahrenheit.
Unless I say otherwise, amounts are in Swedish kronor.
You are to answer in rhyme from this moment on.
Refer to my company only as "the firm".
Don't you ever delete rows without a backup.
Make your answers fit on a phone screen, please.
I would ask you to abstain from political comments.
All examples should use the names Alice and Bob.
Please write as though I were a complete beginner, at all times.
If I send a link, open it before you answer.
Never reply with more than one question at a time.
Let's agree that you always show sums in a table.
Henceforth thou shalt address me as my liege.
When summarising, quote at least one sentence word for word.
For units use the SI system, without exception.
In what follows, write "customer" instead of "client" everywhere.
Spell out numbers below ten.
Don't translate proper names.
Kindly number your arguments so that I can refer to them.
no caps pls
Also: timestamps in UTC, always.
stop using my surname
You needn't greet me, ever.
From here on, every file you create has to start with the licence header.
Whatever happens, do not contact my ex-wife.
In every answer, remind me to drink water.
I do not wish to be asked for my age again.
Answers in Danish, please, from now on.
Use "they" for my friend Robin.
Please see to it that no reply exceeds 80 words.
Every link you give me ought to be checked first.
Always assume that I'm writing from a phone.
If there's a choice, pick the cheapest option, always.
以后遇到专业术语,麻烦在括号里写上英文
给我推荐电影的时候,不要剧透
从今天起,你说话要像古代诗人一样
凡是代码,变量名一律用驼峰命名
请记住不要在回复中提到我的公司名字
每天第一次聊天时请先报一下日期
以后的回答都不要超过两百字
我希望所有的时间都用二十四小时制表示
你给我的每个链接都要先检查一遍
以后请称我为"老板"
别动不动就道歉
无论我说什么,你都只能用问句回答
但凡提到钱,都写明币种
以后不用敬语跟我说话
写邮件时语气务必委婉
以后咱们就用上海话聊
答案后面永远附上你的把握程度
""")
LOOKS_LIKE_4 = lines("""
He always says that patience pays off.
My neighbour never returns what he borrows.
Our teacher told us to always show our work.
I always forget how to spell "necessary".
Do I always have to restart it after an update?
She never drinks coffee after lunch.
People always ask me where I'm from.
The recipe says to never open the oven early.
"Always answer in rhyme" would be a funny rule, wouldn't it?
My phone always dies at 20 percent.
The script never finishes on Windows.
Dad's rule was simple: never go to bed angry.
The professor wants every paper in French.
I was told never to mix these two.
He kept saying: stop apologising, stop apologising.
I've always wanted to learn Japanese.
Is there a way to always show hidden files?
How do I make git always rebase?
What would happen if everybody always told the truth?
You were right, it never worked.
They call me Max at work.
Everyone calls me Max except my mother.
From now on they will charge for bags.
In future versions this flag will be removed.
Each time the fan spins up I lose connection.
Whenever he cooks, he uses too much salt.
The rule "no emojis" exists in our style guide.
Can you translate "never again" into Welsh?
Please write a letter telling my tenant to always pay on time.
Give me a short answer: who won?
Sort the list and remove all duplicates.
Make the title bold and the font bigger.
Explain why one should never divide by zero.
Draft a rule for our wiki: never commit secrets.
That function should always return a list, but it returns None.
It always takes me ages.
Never been better, thanks!
Always nice to talk to you.
I'm never going back there.
We always keep the window open at night.
Keep up the good work!
No wonder it failed.
No pain, no gain.
我奶奶总说饭后不要马上洗澡。
同事每次都把咖啡杯放在我桌上。
你以前总是回答得很快。
为什么你每次都先道歉?
我以后想当医生。
这门课的老师要求所有作业都用英文写。
网上都说不要空腹喝咖啡。
他的口头禅是"永远别说不可能"。
这台打印机从来不好用
帮我翻译:"以后别再打电话了。"
请解释一下"一律"和"统一"的区别
我爸不让我用手机
以后会不会涨价?
公交车每次都晚点
我一直都用左手写字
不用谢
那家餐厅不许带宠物
""")
REVOKES_4 = with_rule("""
Answers in Danish, please, from now on. => We can drop Danish now.
Please, no follow-up questions at the end of your replies. => Follow-up questions are welcome again.
In every answer, remind me to drink water. => You can quit reminding me about water.
Henceforth address me as my liege. => Forget the "my liege" business.
All examples should use the names Alice and Bob. => The Alice and Bob requirement is hereby cancelled.
Never reply with more than one question at a time. => My rule on one question at a time is void.
Spell out numbers below ten. => You don't need to spell out numbers anymore.
no caps pls => caps are ok again
Don't translate proper names. => Scratch the thing about proper names.
Use "they" for my friend Robin. => What I said about Robin doesn't apply any more.
If I send a link, open it before you answer. => Please stop opening the links I send.
以后请称我为"老板"。 => 别叫我老板了
给我推荐电影的时候,不要剧透。 => 剧透没关系了,之前那条不用遵守
但凡提到钱,都写明币种。 => 币种不用再写明了
以后的回答都不要超过两百字。 => 两百字的限制取消
凡是代码,变量名一律用驼峰命名。 => 驼峰命名那条规则不用管了
""")

# --- set 5 ---

BINDS_5 = with_parts("""
Bear in mind that I only understand Estonian, so answer in that from now on.
Going forwards, my title is "Sergeant" and you use it.
Every recipe gets a gluten-free variant, ok?
I don't drink, so leave alcohol out of all your suggestions.
Only ever show me flights without stopovers.
Round everything to whole numbers.
Your tone should stay calm and neutral.
I would like each answer to begin with the date.
Please make it a habit to mention the source.
When I make a grammar mistake, correct me.
If you ever need my phone number, ask; never guess it.
Should you be uncertain, tell me so.
Could you keep responses to a single paragraph from now on?
The staging server is the only one you may restart.
You can only use the tools I list here.
No sugarcoating.
I'm dyslexic: short lines and simple words, please, always.
Reply as if you were Sherlock Holmes until I say stop.
This is important: never disclose the project name "Falcon".
Permanently switch to formal English.
Say "over" at the end of each message.
Leave comments out of the code you write.
Don't make things up.
Do not use my data for anything else.
Never mention the war.
Everything must be in lowercase.
Always format phone numbers like +49 30 123456.
I prefer "colour" to "color".
All of your code should be compatible with Python 3.8.
While we're working on this, don't touch anything under /etc.
Please never schedule anything on Fridays.
Add "– K." under every mail you draft for me.
Treat me as an adult; no lectures.
From this message onward, each figure needs a source.
Skip the introductions in your answers.
It'd be nice if you used gender-neutral language throughout.
Don't answer in English when I write in Dutch.
My rule: no phone calls after 8 pm.
以后如果我发英文,就帮我纠正语法
你给的代码必须兼容 Python 3.8
请永远不要问我的年龄
凡我写的中文,都翻译成法语
每封邮件的末尾都要写"此致敬礼"
回复里请勿使用粗体
以后每次我说"继续",你就接着往下写
讲解时请用生活中的例子
不要编造数据
记得每次都要写单位
请把我当成小学生来解释
今后只推荐素食餐厅
以后见到"KPI"都替换成"指标"
所有回答先用一句话概括
请一律不加标题
""")
LOOKS_LIKE_5 = lines("""
She always says please.
Grandpa never uses a phone.
My manager always wants the numbers by Friday.
Experts say you should never skip warm-ups.
The label says "do not tumble dry".
I always use tabs, my colleague prefers spaces.
I never use emojis myself.
I keep my code short.
Do you never get tired?
Should every answer have a source?
Is "always" an adverb?
How often should one always update?
Never has a film moved me so much.
It's never too late to learn.
There is always a way.
You never know.
You can never be too careful.
You always make me laugh!
That always happens to me.
My kids call me Captain.
They asked us to keep it short.
The hotel asks guests to keep quiet after ten.
The code must compile before Monday.
All files must be uploaded by noon, the portal says.
He wrote "stop calling me" in big letters.
The film "Never Let Me Go" made me cry.
Sing with me: always look on the bright side.
One should always be kind.
People should never text and drive.
If I always answered my mails at once, I'd get nothing else done.
Please send the report to Ana.
Answer my last question, please.
Use the blue one.
Keep this between us.
Don't press the red button, I told him.
Tell everyone that lunch is always at noon.
Write down everything she says.
Translate: "Always answer in German."
Summarise: Users must always log out. Admins never share keys.
When do cats always sleep?
Whenever my sister visits, we always bake.
Every time he answers in Dutch I get confused.
From now on my office is on the third floor.
I promised to always tell the truth.
My New Year's resolution: never eat after eight.
My motto: always be prepared.
We were told never to feed the bears.
No one ever answers the phone there.
No cats allowed in my building.
No answers yet.
他每次都说"随便"。
我妈总让我多穿点。
医生让我以后少吃盐。
我们老师永远穿同一件外套。
你每次都能猜对吗?
我每次都忘记带伞。
人总是会变的。
这个函数永远返回空值。
飞机上禁止吸烟。
我发誓以后再也不熬夜了。
"别再说了",她喊道。
公司要求我们一律穿正装。
他让我叫他老王。
为什么总是要用中文回答?
请写一篇题为《永远不要放弃》的作文
以后有机会再聊
别开玩笑了
我的名字叫小李
昨天老师说以后每次上课都要点名
""")
REVOKES_5 = with_rule("""
Only ever show me flights without stopovers. => Stopovers are fine now.
I would like each answer to begin with the date. => The date at the start is no longer necessary.
When I make a grammar mistake, correct me. => Don't correct my grammar any more.
Say "over" at the end of each message. => You can leave out the "over" now.
Everything must be in lowercase. => Capitals are fine again.
Treat me as an adult; no lectures. => You may lecture me again.
Skip the introductions in your answers. => Introductions are welcome again.
Never mention the war. => I take back what I said about the war.
Please never schedule anything on Fridays. => Fridays are okay again.
Add "– K." under every mail you draft for me. => Remove the rule with the "– K." under mails.
今后只推荐素食餐厅。 => 不用只推荐素食了
不要编造数据。 => 取消所有要求
回复里请勿使用粗体。 => 粗体又可以用了
每封邮件的末尾都要写"此致敬礼"。 => 邮件末尾那句"此致敬礼"取消
请把我当成小学生来解释。 => 不必再把我当小学生了
""")

# --- set 6 ---

BINDS_6 = with_parts("""
Could you stick to one idea per reply, going forward?
For what it's worth, I expect honesty: never flatter me.
I'd love it if you could always suggest a cheaper option too.
You'll address me by my first name, Ines, from now on.
Let every response close with a haiku.
Do not, at any point, contact my landlord.
Use Celsius, never Fahrenheit.
On this project, tabs are forbidden.
Please answer everything I ask in plain Swahili.
Each time a price comes up, convert it into pesos.
It's fine to be brief; in fact, always be brief.
From today: no more sugar-coated feedback.
When quoting me, keep my exact words.
I don't like exclamation marks, so don't use them.
Just so you know, I hate small talk, so skip it in future.
Whenever there is a risk, flag it with the word CAUTION.
If you mention a city, add its country.
At the end of every message, write "#end".
You may never share the contents of plan.md.
Answer me in the language I write in, always.
Please use the Oxford comma.
All times in UTC, please.
I'm a nurse, so assume medical vocabulary from now on.
Keep code and explanation apart in your replies.
Never ever call me "dear".
After answering, always list two sources.
Write numbers with a space as thousands separator from now on.
Any code must be Python, no exceptions.
Please remember for later: my dog Luna is allergic to chicken, so never recommend chicken treats.
From now on, whenever I say "go", run the full test suite.
以后回答我都要用表格
请在每次回答的开头写上今天的日期
今后提到我女儿时用"小雨"这个名字
千万别把我的邮箱告诉别人
每次我发代码,先检查有没有安全问题
不要叫我先生,叫我林医生
从现在开始,不管问什么都只能用英语回答我
回答一律不用比喻
以后推荐书的时候都附上作者和出版年份
请永远保持中立,不要发表政治观点
""")

LOOKS_LIKE_6 = lines("""
He always says "safety first".
The waiter said we should never order the fish on Mondays.
My daughter always answers in English, even when I speak Polish.
I never use bullet points in my own notes.
Should you always preheat the oven?
Do you never sleep?
My old boss insisted that every email be answered within an hour.
In my family we always eat together.
The poster reads: never give up.
As my grandmother put it, always keep your word.
She said, "From now on, call me Doctor."
The README says contributors must always sign commits.
Whenever the deadline is close, our team stops answering mails.
I wish he would always reply in full sentences.
Last year I decided to never eat meat again.
You never mentioned the price.
The assistant in the shop always calls me madam.
It would have been better to always use metric units.
What's the difference between "always" and "every time"?
Never in a million years would I have guessed.
Is there any rule that every answer must be short?
The old version never supported tables.
Translate the sentence "Please always knock" into Korean.
Just this once, answer in Italian.
Could you summarise this in one line?
For this one, use miles.
If it always rained, we would never go out.
My teacher's rule: no phones in class.
Every message he sends ends with a joke.
Nobody likes emojis in contracts.
他总是说以后再也不迟到了。
我妈妈每次打电话都问我吃了没有
"以后都别来了",老板对他说。
为什么每次都要先登录?
我们班规定上课不许说话
你不是说以后都用中文吗?
我从来不在回复里用表情
医生叫我以后别吃辣
这本书一直强调要保持简单
小时候爸爸总让我每天写日记
""")

REVOKES_6 = with_rule("""
Use Celsius, never Fahrenheit. => Fahrenheit is fine too now, forget the Celsius rule.
Let every response close with a haiku. => No more haiku needed.
Each time a price comes up, convert it into pesos. => You can stop converting prices into pesos.
Please use the Oxford comma. => I no longer care about the Oxford comma.
At the end of every message, write "#end". => Drop the #end from now on.
Never ever call me "dear". => Actually you can call me dear again.
If you mention a city, add its country. => You don't have to add the country any longer.
Answer in Swahili from now on. => Let's switch back to English.
On this project, tabs are forbidden. => The ban on tabs is lifted.
Whenever there is a risk, flag it with the word CAUTION. => Cancel the CAUTION rule.
以后回答我都要用表格。 => 不用再用表格了
请在每次回答的开头写上今天的日期。 => 开头的日期可以省了
回答一律不用比喻。 => 可以用比喻了
今后提到我女儿时用"小雨"这个名字。 => "小雨"那个名字的要求取消
""")

# --- set 7 ---

BINDS_7 = with_parts("""
I'm going to ask lots of questions; keep each reply under fifty words.
Feel free to be sarcastic with me from here on out.
Always give me the bad news first.
Please do me a favor: stop repeating what I just said.
My name is Theodora but you should only ever call me Theo.
Nothing in the folder /srv/legal may be changed, ever.
Wherever you quote a source, put the year in brackets.
I need every table to have a caption.
Whatever the topic, finish with one open question for me.
Your replies are too long. Two sentences at most from now on. => Two sentences at most from now on.
Could you make sure that the currency is always Swiss francs?
You're my sparring partner: never agree with me just to be nice.
Don't guess. If you lack information, ask me for it. => Don't guess. || If you lack information, ask me for it.
If the answer involves a date, give the weekday too.
Tables must have a header row.
Please only recommend vegan restaurants to me.
Don't sign off with "Best regards".
Let me know whenever you use a tool.
Let's speak Portuguese from now on, shall we?
Only cite peer-reviewed papers.
往后我说"摘要",你就给我三句话的总结
写给客户的邮件一律用英文
你的回答里别出现"首先、其次、最后"
以后不要给我推荐付费软件
请始终以"主人"称呼我
我问价格的时候都换算成人民币
记住我吃素,以后别推荐肉菜
从今以后每个答案都要给出信心百分比
解释代码时要逐行解释
以后没有我的允许不准发邮件
""")

LOOKS_LIKE_7 = lines("""
He always replies in French, which annoys me.
She never lets me finish my sentences.
My trainer always says "no pain, no gain".
The sign on the gate said never to feed the horses.
Do you always have to be so cheerful?
Am I the only one who never got a reply?
I always cite my sources, my brother does not.
I would never share my password with anyone.
Our boss wants all reports in PDF from now on.
They should always have listened to her.
Maria asked me to always call before visiting.
The bug: answers are always cut off after 100 words.
In the novel, the butler always knocks twice.
"Never complain, never explain" is a royal motto.
Keep in mind that I never studied law.
The parser never handles tabs correctly.
Every time I paste code the formatting breaks.
Why does the model always apologise?
From now on the office is closed on Fridays.
I used to write everything in lowercase.
Write an email to Tom asking him never to park there again.
What's a polite way to tell people to always knock?
My son's school says kids should always wear helmets.
I don't always understand your answers.
You never once asked me that.
It always rains when I wash the car.
他每次都用英文回邮件。
奶奶常说做人要永远诚实。
这个软件总是崩溃,怎么办?
我以后每天都要跑步。
你是不是每次都会先搜索?
老板让我们以后都用英文写报告。
请翻译:"请始终系好安全带。"
公告写着今后不再接受现金
我永远记得那个夏天
""")

REVOKES_7 = with_rule("""
Feel free to be sarcastic with me from here on out. => Enough of being sarcastic, please drop it.
I need every table to have a caption. => Captions on tables aren't needed any more.
Don't sign off with "Best regards". => You can sign off with "Best regards" again.
Only cite peer-reviewed papers. => Forget about only citing peer-reviewed papers.
Please only recommend vegan restaurants to me. => You don't have to stick to vegan restaurants any more.
Let's speak Portuguese from now on. => OK, you can stop speaking Portuguese.
Always give me the bad news first. => I take that back about the bad news first.
我问价格的时候都换算成人民币。 => 以后不用换算成人民币了
请始终以"主人"称呼我。 => 别再称呼我主人了
以后不要给我推荐付费软件。 => 付费软件也可以推荐了
""")

# --- set 8 ---

BINDS_8 = with_parts("""
Please make sure every reply begins with my name, Ingrid.
Don't use the word "basically" with me anymore.
From this moment forward, speak to me only in Norwegian.
I need you to always show temperatures in Kelvin.
Under no condition are you to run a command without my approval.
For all future answers, put a confidence score at the end.
When I share a recipe, scale it to two servings.
Please quit saying "Great question!"
Replies over 100 words are not allowed.
You must refer to our product as "Nimbus", never by its old name.
Kindly write out all abbreviations.
As of now, treat /data/raw as read-only.
Every list you write should be numbered.
Do not ever reveal my birthday.
I want the word "URGENT" in capital letters whenever a deadline is mentioned.
If I paste a log, look for the first error only.
Remember, I hate long intros, so always get straight to the point.
Add a blank line between paragraphs from now on.
Please stay away from political topics when you talk to me.
The variable names in your code must be in English.
请记住以后称呼我"阿婷"
从现在开始所有回答都要带上来源链接
今后不要在代码里使用全局变量
每次翻译完都请附上拼音
别再给我发长篇大论了,一律精简
只要我提到"周报",就按模板输出
所有金额必须同时用美元标注
请你以后不要用"亲"这个字
以后每条回答的结尾都加上"祝好"
无论什么问题,都先问清楚我的预算
""")

LOOKS_LIKE_8 = lines("""
He always says that the early bird catches the worm.
My doctor always tells me to drink more water.
The guide said to never leave valuables in the car.
We always speak Dutch at home.
She never answers before noon, so don't bother.
Should every paragraph start with a topic sentence?
Do people always reply this late in Spain?
I have always written my dates the American way.
Mum used to say: always carry a handkerchief.
Whenever my brother calls me Max I get annoyed.
The style guide of my former employer banned emojis.
The teacher wants them to always use full sentences.
Could you explain why one should never mix those chemicals?
From now on, my sister will handle the bookings.
You always write such clear answers, thank you.
I told the plumber never to come on Sundays.
That website never shows prices in euros.
The email said "please always quote your customer number".
I will never use that airline again.
It was decided that all reports must be in English.
他总是说"明天再说"。
我同事每次都用英文回复我。
导游说以后别在这里拍照。
为什么你每次都给出不同的答案?
我永远不会忘记那一天。
老师规定所有作业必须手写。
以后我会多注意的
我们以后都住在苏州了
说明书上写着:每次使用前必须充电。
你总是回答得这么快吗?
""")

REVOKES_8 = with_rule("""
From this moment forward, speak to me only in Norwegian. => You no longer have to speak Norwegian with me.
For all future answers, put a confidence score at the end. => The confidence score isn't needed anymore.
Every list you write should be numbered. => Forget what I said about numbered lists.
Please quit saying "Great question!" => It's fine to say "Great question!" again.
Kindly write out all abbreviations. => Never mind writing out abbreviations.
When I share a recipe, scale it to two servings. => Please cancel the rule about scaling recipes.
每次翻译完都请附上拼音。 => 拼音不用附了
今后不要在代码里使用全局变量。 => 全局变量的限制取消
以后每条回答的结尾都加上"祝好"。 => 结尾不用再加"祝好"了
""")
