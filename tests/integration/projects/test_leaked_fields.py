"""What a project said by mistake, and says no more."""

from __future__ import annotations

from pathlib import Path

from tests.integration.hooks.hooked import hooked

LEAKED = "hunterzwei"


def _holding(home: Path) -> list[str]:
    return [file.name for file in home.rglob("*") if file.is_file() and LEAKED.encode() in file.read_bytes()]


async def test_a_field_that_is_unset_leaves_the_disk(tmp_path: Path) -> None:
    """The file, its log, its free pages and the search index, before it is answered; the other fields stay."""
    async with hooked(tmp_path) as at:
        said = {
            "slug": "shop",
            "summary": f"We keep {LEAKED} here.",
            "stack": f"uv {LEAKED}",
            "repo": "acme/shop",
        }
        assert (await at.http.post("/v1/projects", json=said)).status_code == 201
        assert _holding(at.home.path)
        for unset in ({"summary": None}, {"stack": ""}):
            changed = await at.http.patch("/v1/projects/shop", json=unset)
            assert changed.status_code == 200
        assert changed.json()["repo"] == "acme/shop"
        assert _holding(at.home.path) == []
