from tests.instruction_phrases import with_parts, lines, with_rule
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
REPLACES_4=KEEPS_BOTH_4=[]
