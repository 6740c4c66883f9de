"""Projects over HTTP."""

from __future__ import annotations

from pathlib import Path

from tests.integration.hooks.hooked import hooked
from tests.unit.projects.layouts import repository


async def test_a_project_is_made_shown_changed_and_listed(tmp_path: Path) -> None:
    """Everything that is said of it comes back; null and empty texts unset."""
    async with hooked(tmp_path) as at:
        root = str(repository(at.root.resolve() / "shop"))
        order = {"slug": "shop", "repo": "acme/shop", "priority": 2, "summary": "Sells tea.", "roots": [root]}
        made = await at.http.post("/v1/projects", json=order)
        assert made.status_code == 201
        shown = made.json()
        assert {**shown, "created_at": "", "changed_at": "", "links": []} == {
            "slug": "shop",
            "priority": 2,
            "repo": "acme/shop",
            "stack": None,
            "check_command": None,
            "summary": "Sells tea.",
            "aliases": [],
            "links": [],
            "decisions": 0,
            "history": 0,
            "preferences": 0,
            "queue": None,
            "created_at": "",
            "changed_at": "",
        }
        assert shown["links"][0]["root"] == root
        assert (await at.http.get("/v1/projects/shop")).json() == shown
        patch = {"repo": None, "summary": "", "stack": "Python", "author": "ana"}
        changed = (await at.http.patch("/v1/projects/shop", json=patch)).json()
        assert (changed["repo"], changed["summary"], changed["stack"]) == (None, None, "Python")
        listed = (await at.http.get("/v1/projects", params={"directory": root})).json()
        assert listed == {
            "project": "shop",
            "projects": [
                {
                    "slug": "shop",
                    "priority": 2,
                    "repo": None,
                    "roots": [root],
                    "aliases": [],
                    "decisions": 0,
                    "preferences": 0,
                }
            ],
        }
        assert (await at.http.get("/v1/projects", params={"directory": "/"})).json()["project"] is None
        actors = await at.services.store.access.ask(
            "SELECT actor FROM event WHERE kind = 'project.changed'", tuple[str], {}
        )
        assert actors == [("ana",)]


async def test_names_are_given_and_taken(tmp_path: Path) -> None:
    """Aliases, renames, and refusals that say which project it is about."""
    async with hooked(tmp_path) as at:
        for slug in ("shop", "till"):
            assert (await at.http.post("/v1/projects", json={"slug": slug})).status_code == 201
        assert (await at.http.put("/v1/projects/shop/aliases/webshop")).status_code == 201
        again = await at.http.put("/v1/projects/webshop/aliases/webshop")
        assert (again.status_code, again.json()["aliases"]) == (200, ["webshop"])
        taken = await at.http.put("/v1/projects/till/aliases/webshop")
        assert (taken.status_code, taken.json()["code"], taken.json()["project"]) == (
            409,
            "project_taken",
            "shop",
        )
        dropped = await at.http.delete("/v1/projects/shop/aliases/webshop")
        assert (dropped.json()["removed"], dropped.json()["aliases"]) == (True, [])
        renamed = await at.http.post("/v1/projects/shop/rename", json={"slug": "store"})
        assert (renamed.json()["slug"], renamed.json()["aliases"]) == ("store", ["shop"])
        unknown = await at.http.get("/v1/projects/Store")
        assert (unknown.status_code, unknown.json()["code"], unknown.json()["did_you_mean"]) == (
            404,
            "unknown_project",
            ["store"],
        )


async def test_a_refusal_repeats_nothing(tmp_path: Path) -> None:
    """Neither a value nor a member that the client made up."""
    async with hooked(tmp_path) as at:
        await at.http.post("/v1/projects", json={"slug": "shop"})
        for method, path, body in (
            ("POST", "/v1/projects", {"slug": "Xq7"}),
            ("POST", "/v1/projects", {"slug": "till", "priority": "Xq7"}),
            ("POST", "/v1/projects", {"slug": "till", "Xq7": 1}),
            ("POST", "/v1/projects", {"slug": "till", "roots": ["Xq7"]}),
            ("PATCH", "/v1/projects/shop", {"stack": "Xq7\n."}),
            ("PATCH", "/v1/projects/shop", {"author": "Xq7\u0007."}),
            ("POST", "/v1/projects/shop/rename", {"slug": "Xq7"}),
            ("PUT", "/v1/projects/shop/aliases/Xq7", None),
            ("GET", "/v1/projects?directory=Xq7", None),
        ):
            answer = await at.http.request(method, path, json=body)
            assert answer.status_code == 400, (path, answer.text)
            assert "Xq7" not in answer.text
        gone = await at.http.get("/v1/projects/Xq7")
        assert (gone.status_code, "Xq7" in gone.text) == (404, False)
        assert [one["slug"] for one in (await at.http.get("/v1/projects")).json()["projects"]] == ["shop"]


async def test_links_join_and_make_projects(tmp_path: Path) -> None:
    """By the route that `link` uses, whatever name they are known by."""
    async with hooked(tmp_path) as at:
        await at.http.post("/v1/projects", json={"slug": "shop"})
        await at.http.put("/v1/projects/shop/aliases/webshop")
        root = at.root.resolve()
        one, two = repository(root / "one"), repository(root / "two")
        joined = await at.http.post("/v1/links", json={"directory": str(one), "project": "webshop"})
        assert (joined.status_code, joined.json()["project"]) == (201, "shop")
        assert (await at.http.post("/v1/links", json={"directory": str(two)})).json()["project"] == "two"
        listed = (await at.http.get("/v1/projects")).json()["projects"]
        assert {row["slug"]: row["roots"] for row in listed} == {"shop": [str(one)], "two": [str(two)]}


async def test_a_successor_of_a_removed_project_finds_nothing_of_it(tmp_path: Path) -> None:
    """Neither what was decided nor what was said of it, and the file holds no trace."""
    async with hooked(tmp_path) as at:
        order = {"slug": "shop", "summary": "Sells zebras by the dozen."}
        await at.http.post("/v1/projects", json=order)
        for text in ("Zebras are counted twice.", "Zebras sleep outside."):
            decided = await at.http.post("/v1/decisions", json={"project": "shop", "text": text})
            assert decided.status_code == 201, decided.text
        asked = {"project": "shop", "text": "zebras"}
        assert len((await at.http.post("/v1/recall", json=asked)).json()["items"]) == 3
        gone = (await at.http.delete("/v1/projects/shop")).json()
        assert (gone["removed"]["decisions"], gone["finished"]) == (2, True)
        await at.http.post("/v1/projects", json={"slug": "shop"})
        assert (await at.http.post("/v1/recall", json={**asked, "history": True})).json()["items"] == []
        listed = await at.http.get("/v1/decisions", params={"project": "shop"})
        assert listed.json()["decisions"] == []
        files = [path.read_bytes() for path in at.home.path.glob("relay.db*")]
        assert not [file for file in files if b"ebras" in file or b"dozen" in file]


async def test_projects_whose_names_begin_alike_are_kept_apart(tmp_path: Path) -> None:
    """The brief and the recall of each hold what is its own; one that is empty is told which may be meant."""
    async with hooked(tmp_path) as at:
        for slug in ("api", "api-gateway", "apis"):
            await at.http.post("/v1/projects", json={"slug": slug})
        for slug in ("api", "api-gateway"):
            order = {"project": slug, "text": f"Cached by the team of {slug} alone."}
            assert (await at.http.post("/v1/decisions", json=order)).status_code == 201
        for slug, other in (("api", "api-gateway"), ("api-gateway", "api")):
            brief = (await at.http.post("/v1/brief", json={"project": slug})).json()
            assert f"team of {slug} alone" in brief["text"]
            assert f"team of {other} alone" not in brief["text"]
            found = (await at.http.post("/v1/recall", json={"project": slug, "text": "cached"})).json()
            assert [item["text"] for item in found["items"]] == [f"Cached by the team of {slug} alone."]
        nothing = (await at.http.post("/v1/recall", json={"project": "apis", "text": "cached"})).json()
        assert (nothing["items"], nothing["did_you_mean"]) == ([], ["api"])
        refused = await at.http.post("/v1/recall", json={"project": "API", "text": "cached"})
        assert (refused.status_code, refused.json()["did_you_mean"][0]) == (404, "api")


async def test_a_slash_in_a_name_leads_to_no_other_route(tmp_path: Path) -> None:
    """`shop/aliases/till` is the name of nothing: its alias is neither shown nor taken away."""
    async with hooked(tmp_path) as at:
        assert (await at.http.post("/v1/projects", json={"slug": "shop"})).status_code == 201
        assert (await at.http.put("/v1/projects/shop/aliases/till")).status_code == 201
        for slash in ("%2F", "%2f"):
            target = f"/v1/projects/shop{slash}aliases{slash}till"
            for answer in (await at.http.delete(target), await at.http.get(target)):
                assert (answer.status_code, answer.json()["code"]) == (404, "unknown_project")
        assert (await at.http.get("/v1/projects/shop")).json()["aliases"] == ["till"]


async def test_a_project_with_nothing_of_its_own_says_which_may_be_meant(tmp_path: Path) -> None:
    """In its brief and its history, though what is for all projects shows there; not where only a directory is named."""
    async with hooked(tmp_path) as at:
        for slug in ("harbor", "harbour"):
            await at.http.post("/v1/projects", json={"slug": slug})
        for whose in ({"global": True}, {"project": "harbor"}):
            await at.http.post("/v1/decisions", json={"text": "Tides are posted.", **whose})

        async def told(slug: str) -> list[object]:
            brief = (await at.http.post("/v1/brief", json={"project": slug})).json()
            history = (await at.http.get("/v1/decisions", params={"project": slug})).json()
            assert "Tides" in brief["text"]
            assert history["decisions"]
            return [brief.get("did_you_mean"), history.get("did_you_mean")]

        assert await told("harbour") == [["harbor"], ["harbor"]]
        assert await told("harbor") == [None, None]
        everywhere = (await at.http.post("/v1/brief", json={"global": True})).json()
        assert "did_you_mean" not in everywhere
        wanted = {"key": "runner", "value": "uv", "project": "harbour"}
        assert (await at.http.put("/v1/preferences", json=wanted)).status_code == 201
        assert await told("harbour") == [None, None]
