from tests.instruction_phrases import with_parts, lines, with_rule
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
REPLACES_3=KEEPS_BOTH_3=[]
