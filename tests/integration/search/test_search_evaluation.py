import pytest

from tests.bench import evaluation_set
from tests.integration.search.memory import SHOP

FLOORS = {"hit_1": 0.96, "hit_5": 0.985, "mrr": 0.975}
GROUP_FLOOR = 0.9
PLAIN_FLOOR = 0.91


@pytest.fixture
async def ranks(memory):
    return await judged(memory)


async def judged(memory):
    await memory.keep(*evaluation_set.entries(SHOP))

    async def find(text):
        return evaluation_set.keys(hit.id for hit in await memory.search.find(text, project_id=SHOP))

    return await evaluation_set.judge(evaluation_set.questions(), find)


def test_the_set_is_whole():
    """Enough items and questions, and every expected item is there."""
    questions = evaluation_set.questions()
    assert len(evaluation_set.items()) >= 150
    assert len(questions) >= 60
    assert {key for one in questions for key in one.expected} <= set(evaluation_set.items())
    assert len({one.text for one in questions}) == len(questions)


async def test_quality_does_not_fall(ranks):
    """Of all questions, and of none of their groups."""
    scores = evaluation_set.by_group(ranks)
    everything = scores.pop("all")._asdict()
    assert {name for name, floor in FLOORS.items() if everything[name] < floor} == set()
    assert {group: score.mrr for group, score in scores.items() if score.mrr < GROUP_FLOOR} == {}


async def test_quality_without_an_index_is_still_fair(plain):
    """Typing errors and parts of words are what it costs."""
    assert evaluation_set.by_group(await judged(plain))["all"].mrr >= PLAIN_FLOOR
