import pytest

from relayd.home import Home
from relayd.search.index import SearchIndex
from tests.integration.search.memory import opened


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


@pytest.fixture
async def memory(home):
    """A memory with an index."""
    async with opened(home) as made:
        yield made


@pytest.fixture
async def plain(home):
    """A memory whose SQLite cannot index."""
    async with opened(home, SearchIndex(able=lambda: False)) as made:
        yield made


@pytest.fixture(params=["index", "texts"])
async def either(request, home):
    """A memory with an index, then one without."""
    index = SearchIndex() if request.param == "index" else SearchIndex(able=lambda: False)
    async with opened(home, index) as made:
        yield made
