"""Names nobody chose with an export in mind: letters of every kind, and pieces of the syntax of every target."""

from __future__ import annotations

import unicodedata

from hypothesis import strategies as st

#: What begins, ends, quotes, comments, links or computes in one target or another.
_WORDS = r"""
    %% %%{ }%% %%{init:{}}%% end -->|x| #quot; #35; #9829; fa:fa-car `**b**` $$\sqrt{x}$$ :::cls & ~~~ \N \G \l \\ " \" &quot;
    &#34; &lt;b&gt; <b> <<b>x</b>> ]; {a|b} -> ' '' -- /* */ ; $1 ? :a [x] ` E'\x27' U&'\0027' $$ ''' \ \u0027 \x27 {0} %s
    f'{x}' # <!-- --> ]]> <![CDATA[ </title> </style> </svg> </metadata> </script javascript:f() http://evil.example/
    url(http://evil.example) expression(1) @import <?xml?> &x; &#x3c; =1+1 +1 -1 @SUM(1) ＝1 |
"""
_SPACED = ["---\ntitle: x\n---", "click n0 call f()", "style n0 fill:red", "subgraph a", "@{shape: docs}", "; SELECT 1", '"""']
_MARKS = [
    "<img src=x onerror=f()>",
    "=cmd|' /C calc'!A0",
    "\t=1",
    " =1",
    *"\n\r\t\x0b\x0c\x1c\x85\u2028\u202e\u2066\u200b\ufeff\u0301",
]
SYNTAX = (*_WORDS.split(), *_SPACED, *_MARKS)
#: Letters of every category but halves of pairs, which are in no UTF-8 file.
LETTERS = st.sampled_from(sorted({unicodedata.category(chr(code)) for code in range(0x30000)} - {"Cs", "Cn", "Co"})).flatmap(
    lambda category: st.characters(categories=[category])
)
NAMES = st.lists(st.one_of(st.sampled_from(SYNTAX), LETTERS), min_size=1, max_size=6).map("".join)
