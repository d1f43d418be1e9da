"""The English words by which an order to the assistant is told from other talk. Data for `english`.

An order that only says "always" or "never" is also what proverbs and advice to mankind look like
("Never look back", "Always wear a helmet"): it counts when it speaks of what an assistant does
(`DEEDS`), of what an answer is made of (`MATTERS`), or of the person ("ask me first").
"""

from __future__ import annotations

from memagent.context.directives.sentences import words_of

LANGUAGE = (
    r"(?:english|french|german|spanish|italian|portuguese|dutch|swedish|norwegian|danish|finnish|polish|czech|slovak|"
    r"hungarian|romanian|bulgarian|greek|turkish|russian|ukrainian|arabic|hebrew|persian|farsi|hindi|"
    r"urdu|bengali|tamil|"
    r"thai|vietnamese|indonesian|malay|tagalog|chinese|mandarin|cantonese|japanese|korean|latin|esperanto|catalan|"
    r"basque|welsh|irish|swahili|afrikaans|serbian|croatian|slovene|slovenian|icelandic|estonian|latvian|lithuanian)"
)

# What an answer, or the work on it, is made of: singular stems, a plural ending is allowed.
REPLY_PARTS = (
    r"(?:repl(?:y|ies)|answers?|responses?|messages?|outputs?|turns?|explanations?|summar(?:y|ies)|"
    r"sentences?|paragraphs?|"
    r"headings?|titles?|code(?: blocks?| samples?)?|snippets?|examples?|dates?|timestamps?|durations?|"
    r"percentages?|times?|numbers?|figures?|prices?|amounts?|"
    r"costs?|sums?|quantit(?:y|ies)|units?|measurements?|temperatures?|distances?|weights?|currenc(?:y|"
    r"ies)|claims?|facts?|"
    r"statements?|sources?|citations?|references?|links?|urls?|quotes?|calculations?|recommendations?|suggestions?|"
    r"tips?|estimates?|definitions?|translations?|commit messages?|docstrings?|functions?|variables?|drafts?|emails?)"
)
MATTERS = (
    r"(?:emojis?|emoticons?|smile(?:y|ys|ies)|markdown|html|latex|json|yaml|bullets?|bullet[- ]points?|"
    r"lists?|tables?|columns?|"
    r"headers?|comments?|type hints?|annotations?|tests?|spellings?|grammar|punctuation|(?:exclamation|"
    r"question|quotation) "
    r"(?:marks?|points?)|commas?|(?:em[- ]?)?dash(?:es)?|semicolons?|abbreviations?|acronyms?|"
    r"contractions?|jargon|slang|"
    r"swear(?:ing| words?)|profanity|buzzwords?|jokes?|puns?|humou?r|irony|sarcasm|small talk|chit-?chat|"
    r"pleasantr(?:y|ies)|greetings?|"
    r"salutations?|apolog(?:y|ies)|disclaimers?|caveats?|fillers?|fluff|flatter(?:y|ing)|compliments?|"
    r"praise|preambles?|intros?|"
    r"introductions?|recaps?|tone|styles?|formats?|formatting|tags?|prefix(?:es)?|suffix(?:es)?|signatures?|labels?|"
    r"nicknames?|names?|files?|folders?|director(?:y|ies)|branch(?:es)?|commits?|repos?|repositor(?:y|"
    r"ies)|databases?|"
    r"passwords?|secrets?|credentials?|api keys?|tokens?|address(?:es)?|phone numbers?|advice|alternatives?|options?|"
    r"follow-?ups?|questions?|results?|steps?|reasoning|maths?|formulas?|equations?|images?|pictures?|"
    r"diagrams?|charts?|"
    r"idioms?|metaphors?|analog(?:y|ies)|hashtags?|capitals?|caps|lower ?case|upper ?case|bold|italics?|"
    r"tabs?|indents?|indentation|"
    r"footnotes?|librar(?:y|ies)|dependenc(?:y|ies)|imports?|scripts?|commands?|shell|tools?|web search(?:es)?|"
    r"words?|letters?|characters?|lines?|pronouns?|clich[eé]s?|spoilers?|verdicts?|opinions?|recipes?|dishes|meals?|"
    r"brands?|products?|restaurants?|hotels?|flights?|meetings?|appointments?|production|prod|master|"
    r"main|config(?:uration)?s?|"
    rf"topics?|subjects?|celsius|fahrenheit|metric|imperial|{LANGUAGE})"
)

# What only an assistant is asked to do time and again.
DEEDS = words_of(
    """
    answer reply respond address apologise apologize summarise summarize recap conclude prefix suffix append prepend
    tag label mark annotate format capitalise capitalize italicise italicize bold underline highlight cite quote
    source reference link footnote translate convert transliterate spell abbreviate round explain clarify elaborate
    justify define illustrate describe outline rephrase paraphrase recommend suggest propose list enumerate number
    sort compare estimate calculate compute verify validate double-check doublecheck cross-check proofread confirm
    ask remind warn notify flag mention include exclude omit skip avoid use prefer assume guess invent fabricate
    hallucinate speculate pretend act roleplay role-play sign greet thank praise flatter compliment lecture moralise
    moralize patronise swear curse joke commit push merge deploy run execute install edit modify overwrite delete
    rename log document comment refactor lint test import search browse google schedule book order sugarcoat
    sugar-coat ramble waffle gush nag preach hedge second-guess baby nitpick babble digress embellish exaggerate
    overexplain over-explain schedule correct rhyme email share reveal disclose leak expose repeat restate paste
    attach preface open close end finish start begin limit restrict stick write speak talk phrase word refer
    generate output print render display return phone contact
    """
)
# Deeds of everybody: they count together with a matter or with "me".
COMMON = words_of(
    """
    say tell give show check put make keep let take get read go try be have do look see think know remember forget
    add touch change move remove save store send set call treat consider help leave bring drop cut lose ditch spare
    consult wait stop pause proceed continue point correct fix work handle follow respect adopt switch turn break
    pick choose offer provide supply review name close discuss bother interrupt criticise criticize teach quiz
    challenge focus split group separate wrap encode ignore disregard replace insert trim count measure
    """
)
IMPERATIVES = DEEDS | COMMON

# Words that open a clause without being a verb, so that the clause is no bare order.
NOT_VERBS = words_of(
    """
    whenever once unless however therefore moreover besides instead together like i you he she it we they this that
    these those there here the a an my your his her its our their some any every each all both no none one two three
    who whom whose which what when where why how if whether as at by for from in into of on onto to with without
    about after before during since until because although though while is are was were am been being did does had
    has would could should might may must can will shall not very too quite rather so such more most much many few
    less least same other another nothing something anything everything nobody somebody anybody everybody maybe
    perhaps today tomorrow yesterday tonight again ever only also even still yet already sometimes usually often
    well good great nice bad happy sad sorry sure true false new old big small right wrong yes ok okay thanks loved
    liked got went came saw said told took made knew thought felt left kept found met ran fell sat stood spoke wrote
    ate drank grew lost won heard meant paid sold sent slept understood seen gone done given taken known eaten
    written fun
    """
)

ONE_OFF = (
    r"\b(?:yet|right now|for now|at the moment|today|tonight|tomorrow|this (?!chat|conversation|session|"
    r"thread|discussion|point|moment|way|rule|in mind|project|is\b|kind|sort|style|format|message on|"
    r"on\b|and\b|or\b)\w+|"
    r"that (?:one|text|paragraph|list)|these|those|the (?:first|second|third|fourth|last|next|following|"
    r"above|below|attached|"
    r"previous|other|rest)|(?:above|below)(?! (?:\d+|a hundred|hundred|one|two|three|four|five|six|seven|"
    r"eight|nine|ten|\w+teen|\w+ty|each|every|all|any|it)\b)|until (?:i (?!say|tell|ask)|you|we|the|it|"
    r"he|she|they|then|tomorrow|monday|friday)|by (?:monday|tuesday|wednesday|thursday|friday|noon|"
    r"tomorrow|tonight)|once more|one more time|just this)\b"
)

# "from now on": such words alone make an order stand.
_YOU_DO = (
    r"you (?:write|say|send|draft|produce|give|make|suggest|recommend|mention|show|use|quote|cite|list|"
    r"create|generate|post|answer|tell|name|compute|do)"
)
SCOPE = (
    r"\b(?:(?:(?:at|to|in|on|near|after) the (?:very )?(?:end|start|beginning|top|bottom|head|foot|close|opening) of|"
    r"in|for|with|after|before|under|to|of|from) (?:all|every|each|any|your)(?: of)?(?: the| your|"
    r" my| our| single| future| new)*(?: \w+)? "
    rf"(?:{REPLY_PARTS}\b(?! (?:in|of|from|on) )|letters?|\w+ {_YOU_DO})|(?:everything|anything|"
    rf"whatever) (?:that )?{_YOU_DO}|(?!(?:do|did|does|can|could|will|would|should|if|when|what|how|that|"
    r"as|and|or|but|so|because|where|why|since|while|may|might|must|shall|whenever|before|once|first|"
    r"also)\b)\w+ (?:that )?you (?:write|send|draft|produce|give|make|suggest|recommend|create|generate|"
    r"post)(?: me)?|whatever i \w+|"
    r"(?:from|as of) (?:now|here|today|tomorrow|this (?:point|moment|message)|then)(?: on| onwards?|"
    r" forward| forth| out)*|starting (?:now|today|"
    r"immediately|from now)|(?:going|moving) forwards?|hence ?forth|in (?:the )?future|for the future|"
    r"in what follows|by default|as a (?:general )?rule|"
    r"as a matter of principle|at all times|every ?time|each time|any ?time|whenever|every single time|"
    r"no matter (?:what|how|which)[\w ]{0,20}|"
    r"under (?:no|all|any) (?:circumstances?|conditions?)|(?:on|by) (?:no|all) (?:account|means)|in (?:any|no|"
    r"every) (?:case|event)|at (?:no|any) (?:point|time|stage)|until (?:further notice|i (?:say|tell you|"
    r"ask you)(?: to)? (?:otherwise|stop|so|enough|when)|i say \w+)|"
    r"unless (?:i|you are) (?:explicitly |specifically )?(?:say|tell|told|ask|request|"
    r"instruct)\w*(?: you)?(?: otherwise| to)?|"
    r"(?:for|throughout|during|in) (?:the (?:rest|remainder) of )?(?:this|the|our|all our|these|"
    r"the whole|the entire) "
    r"(?:whole |entire )?(?:chat|chats|conversation|conversations|session|discussion|thread|dialogue|"
    r"talks?)|without exception|"
    r"for good|permanently|ever again|as long as we (?:talk|chat|work|speak)|in every case|in all cases)\b"
)

STYLE = (
    r"(?:short|shorter|brief|briefer|concise|terse|succinct|crisp|compact|simple|plain|clear|direct|"
    r"blunt|frank|honest|formal|informal|casual|"
    r"friendly|polite|professional|neutral|serious|playful|technical|non-technical|literal|precise|"
    r"specific|detailed|thorough|"
    r"lowercase|lower case|uppercase|british|american|metric|imperial|celsius|fahrenheit|kelvin|iso|"
    r"24-hour|24h|12-hour|24 hour|"
    r"si|us|uk|prose|full sentences|one sentence|haiku|rhymes?|bullet points?|plain text|markdown|json|"
    r"first person|third person|active voice|"
    r"present tense|past tense|he/him|she/her|they/them|singular they|layman\w*|beginner\w*|level|"
    r"everyday|tabs|spaces|"
    r"single quotes|double quotes|snake_case|camelcase|type hints|python|rust|typescript|java|kotlin|"
    r"golang|sql|bash|pandas|polars|"
    r"euros?|dollars?|pounds?|yen|francs?|kilomet(?:er|re)s?|kilos?|kilograms?|grams?|miles|lit(?:er|re)s?|"
    rf"max(?:imum)?|at most|under|below|within|less than|fewer than|no (?:more|longer) than|{LANGUAGE})"
)
