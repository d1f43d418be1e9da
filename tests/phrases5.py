from tests.instruction_phrases import with_parts, lines, with_rule
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
REPLACES_5=KEEPS_BOTH_5=[]
