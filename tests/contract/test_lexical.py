"""The contract of LexicalIndex."""

from __future__ import annotations

import pytest

from stores.records import Scope
from stores.sql import SqlStores, lexical
from stores.sql.lexical import choose_terms
from tests.contract.samples import U1, U2, forgotten, memory


async def keep(stores: SqlStores, *texts: str, scope: Scope = U1) -> None:
    await stores.memories.put(scope, [memory(text, text, number) for number, text in enumerate(texts)])


async def found(stores: SqlStores, query: str, *, limit: int = 10, scope: Scope = U1) -> list[str]:
    hits = await stores.lexical.search(scope, query, limit=limit)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    return [hit.memory_id for hit in hits]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("My sister Maya lives in Lisbon", "Where does my sister live?"),
        ("我妹妹住在里斯本", "我妹妹住在哪里"),
        ("我妹妹 Maya 住在 Lisbon", "妹妹住在哪个城市?"),
        ("我有一只猫，很可爱", "猫"),
        ("猫", "猫"),
        ("東京に住んでいます", "どこに住んで"),
        ("서울에 살고 있어요", "서울에"),
        ("ฉันอาศัยอยู่ในกรุงเทพ", "กรุงเทพ"),
        ("मैं दिल्ली में रहता हूँ", "दिल्ली"),
        ("Я живу в Москве", "МОСКВЕ"),
        ("the running shoes", "run"),
        ("Ｆｕｌｌｗｉｄｔｈ ｌｅｔｔｅｒｓ", "fullwidth"),
        ("cafe\u0301 au lait", "CAFÉ"),
        ("l'amour de ma vie", "amour"),
        ("my sister's house", "sister"),
        ("order 4711-B arrived", "4711"),
        ("party 🎉 tonight", "🎉 tonight"),
        ("lonely", "lonely"),
        ("STRASSE", "straße"),
    ],
)
async def test_text_is_found(stores: SqlStores, text: str, query: str) -> None:
    await keep(stores, "something else entirely", text, "又一句无关的话")
    assert await found(stores, query) == [text]


@pytest.mark.parametrize(
    "query",
    [
        "a OR b", "NOT tea", "NEAR(tea, 2)", '"tea', '"tea"', "tea*", "terms:tea", "tea AND", "(tea", "-tea", "^tea",
        "tea' OR 1=1 --", "tea:*", "tea & !", "tea | x", "<-> tea", "{tea}", "tea\\", "a\0tea", "tea \ud800",
        ":tea", "%s tea",
    ],
)  # fmt: skip
async def test_a_query_is_words_not_syntax(stores: SqlStores, query: str) -> None:
    await keep(stores, "tea", "b or near", "milk")
    hits = await found(stores, query)
    assert "milk" not in hits
    assert ("tea" in hits) == ("tea" in query)


@pytest.mark.parametrize("query", ["", "   ", "?!…", "🎉", "\0", "' \" ( ) *"])
async def test_a_query_without_terms_finds_nothing(stores: SqlStores, query: str) -> None:
    await keep(stores, "tea 🎉")
    assert await found(stores, query) == []


async def test_limits(stores: SqlStores) -> None:
    assert await found(stores, "tea") == []
    await keep(stores, *(f"tea number {number}" for number in range(5)))
    assert await found(stores, "tea", limit=0) == []
    assert len(await found(stores, "tea", limit=2)) == 2
    assert len(await found(stores, "tea", limit=1000)) == 5


async def test_better_matches_come_first(stores: SqlStores) -> None:
    await keep(
        stores, "green tea", "green cars", "green tea from Japan and green hills", "red wine", "blue sky", "old ship"
    )
    assert (await found(stores, "green tea"))[0] == "green tea"
    assert (await found(stores, "tea in Japan"))[0] == "green tea from Japan and green hills"


async def test_a_changed_text_is_found_by_its_new_words_only(stores: SqlStores) -> None:
    await stores.memories.put(U1, [memory("a", "lives in Lisbon"), memory("b", "unrelated")])
    await stores.memories.put(U1, [memory("a", "lives in Porto", version=2)])
    assert await found(stores, "Lisbon") == []
    assert await found(stores, "Porto") == ["a"]
    await stores.memories.put(U1, [memory("a", "lives in Porto", version=3)])
    assert await found(stores, "Porto") == ["a"]


async def test_forgotten_memories_are_not_found(stores: SqlStores) -> None:
    [old] = [memory("a", "lives in Lisbon")]
    await stores.memories.put(U1, [old])
    await stores.memories.put(U1, [forgotten(old)])
    assert await found(stores, "Lisbon") == []
    changed = forgotten(old).model_copy(update={"text": "lives in Porto", "version": 3})
    await stores.memories.put(U1, [changed])
    assert await found(stores, "Porto") == []
    await stores.memories.put(U1, [memory("a", "lives in Porto", version=4)])
    assert await found(stores, "Porto") == ["a"]
    await stores.memories.put(U1, [forgotten(memory("never active", "lives in Rome"))])
    assert await found(stores, "Rome") == []


async def test_common_terms_are_dropped_while_rarer_ones_remain(stores: SqlStores) -> None:
    await stores.memories.put(U1, [memory(f"c{number}", f"the day {number}") for number in range(200)])
    await stores.memories.put(U1, [memory("rare", "the zebra")])
    assert await found(stores, "the zebra", limit=500) == ["rare"]
    assert len(await found(stores, "the day", limit=500)) == 201
    assert await found(stores, "the unheardof", limit=3) != []


def test_common_terms_are_left_out_of_a_search_that_would_take_long() -> None:
    counts = {"boat": 20_000, "heron": 12, "river": 14_000, "tern": 300}
    assert choose_terms(counts, common=1e6) == ["heron", "tern", "river"]
    assert choose_terms({"boat": 30_000, "river": 28_000, "sea": 40_000}, common=1e6) == ["river", "boat"]


async def test_a_word_that_is_too_common_does_not_count_as_rare(
    stores: SqlStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lexical, "POSTINGS", 3)
    await stores.memories.put(U1, [memory(f"c{number}", f"the day {number}") for number in range(200)])
    await stores.memories.put(U1, [memory("rare", "the zebra")])
    assert await found(stores, "the zebra", limit=500) == ["rare"]


async def test_shares_are_of_the_scope_itself(stores: SqlStores) -> None:
    await stores.memories.put(U2, [memory(f"c{number}", f"zebra {number}") for number in range(300)])
    await stores.memories.put(U1, [memory(f"c{number}", f"horse {number}") for number in range(150)])
    await stores.memories.put(U1, [memory("a", "zebra and horse")])
    assert await found(stores, "zebra horse", limit=500) == ["a"]


async def test_small_scopes_keep_all_terms(stores: SqlStores) -> None:
    await stores.memories.put(U1, [memory(f"c{number}", f"the day {number}") for number in range(50)])
    await stores.memories.put(U1, [memory("rare", "the zebra")])
    assert len(await found(stores, "the zebra", limit=500)) == 51


async def test_forgetting_lowers_the_number_of_memories(stores: SqlStores) -> None:
    old = [memory(f"c{number}", f"the day {number}") for number in range(120)]
    await stores.memories.put(U1, old)
    await stores.memories.put(U1, [memory("rare", "the zebra")])
    assert len(await found(stores, "the zebra", limit=500)) == 1
    await stores.memories.put(U1, [forgotten(one) for one in old[:60]])
    assert len(await found(stores, "the zebra", limit=500)) == 61


async def test_five_megabytes(stores: SqlStores) -> None:
    text = "opening words " + " ".join(f"w{number % 50_000} 词语" for number in range(400_000))
    await stores.memories.put(U1, [memory("long", text), memory("short", "w77")])
    assert await found(stores, "opening") == ["long"]
    assert set(await found(stores, "w77")) == {"long", "short"}
    assert "long" in await found(stores, text, limit=3)


async def test_a_word_longer_than_any_page(stores: SqlStores) -> None:
    text = "A" * 1_000_000
    await stores.memories.put(U1, [memory("long", text)])
    assert await found(stores, text) == ["long"]


async def test_telling_terms_are_those_that_few_memories_have(stores: SqlStores) -> None:
    assert await stores.lexical.telling(U1, "boat") == frozenset()
    await keep(stores, *(f"the boat number {number}" for number in range(110)), "the heron, 苍鹭")
    await keep(stores, "the otter", scope=U2)
    assert await stores.lexical.telling(U1, "The boat and the herons near the otter; 苍鹭") == {"heron", "苍鹭"}
    assert await stores.lexical.telling(U2, "the heron and the otter") == {"the", "otter"}
    assert await stores.lexical.telling(U1, " ?! ") == frozenset()
