"""What the docs list is what there is: routes, codes, settings, happenings, commands, dependencies."""

import importlib
import json
import pkgutil
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec
import pytest
from starlette.routing import Route

import relayd
import relayd.daemon  # with everything that publishes a happening
from relay_queue.envelope import parse
from relay_queue.status import Status
from relayctl.cli.section import SECTIONS
from relayctl.setup.entries import EVENTS, handler
from relayd.api.app import all_routes
from relayd.api.problem import STATUS
from relayd.config import Config
from relayd.events import Happening

ROOT = Path(__file__).resolve().parents[3]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def anchors(path: Path) -> set[str]:
    """The anchors that a forge makes of the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return set(map(anchor, headings))


def anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def commands(group: click.Group, path: str) -> Iterator[tuple[str, click.Command]]:
    for name, command in group.commands.items():
        yield f"{path} {name}", command


def all_commands() -> Iterator[tuple[str, click.Command]]:
    for _, rows in SECTIONS:
        for name, row in rows.items():
            command = getattr(importlib.import_module(row.module), row.attribute)
            yield from commands(command, name) if isinstance(command, click.Group) else [(name, command)]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_within_the_docs_leads_to_a_page_and_a_heading(path: Path):
    """A relative link names a file that is there, and its fragment a heading of that file."""
    for target in re.findall(r"\]\(([^)]+)\)", path.read_text(encoding="utf-8")):
        if target.startswith("http"):
            continue
        name, _, fragment = target.partition("#")
        linked = (path.parent / name).resolve() if name else path
        assert linked.exists(), target
        assert not fragment or fragment in anchors(linked), target


def test_every_source_of_a_rule_is_there():
    """A page that a docstring gives as the source of a rule is in this project, and has the heading it names."""
    for path in sorted(
        path for room in ("queue", "relayd", "relayctl", "tests") for path in ROOT.glob(f"{room}/**/*.py")
    ):
        for source in re.findall(r"\bSource: (.+)", path.read_text(encoding="utf-8")):
            for name, named in re.findall(r"([\w./-]+\.md)((?:(?:,| and) \"[^\"]+\")*)", source):
                assert (ROOT / name).exists(), (path, name)
                for heading in re.findall(r"\"([^\"]+)\"", named):
                    assert re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") in anchors(
                        ROOT / name
                    ), (path, heading)


def test_every_route_has_its_place_in_the_api_page():
    """Each path and method of the application is named in docs/http-api.md."""
    text = page("docs/http-api.md")
    for route in all_routes():
        assert isinstance(route, Route)
        for method in (route.methods or set()) - {"HEAD"}:
            assert re.search(rf"`[^`]*{method}[^|]*{re.escape(route.path)}`", text), (method, route.path)


def test_every_code_is_listed_under_its_status():
    """Each problem code is in the table of docs/http-api.md, in the rows of its own status."""
    listed: dict[str, int] = {}
    status = 0
    for row in re.findall(
        r"^\| *(\d{3})? *\| (`[a-z_`, ]+`) \|", page("docs/http-api.md"), flags=re.MULTILINE
    ):
        status = int(row[0] or status)
        listed |= dict.fromkeys(re.findall(r"`([a-z_]+)`", row[1]), status)
    assert listed == dict(STATUS)


def test_the_status_example_has_the_fields_of_a_status():
    """The answer shown for GET /v1/status has every field, in order, and the daemon's own."""
    (example,) = re.findall(
        r"```json\n(\{\n  \"ack_means\".*?)\n```", page("docs/http-api.md"), flags=re.DOTALL
    )
    assert list(json.loads(example)) == sorted([*Status.__struct_fields__, "daemon"])


def test_every_setting_is_listed():
    """Each key of config.toml is in docs/configuration.md, with its variable, and no other is."""
    keys = {
        f"{table.name}.{key.name}"
        for table in msgspec.structs.fields(Config)
        for key in msgspec.structs.fields(table.type)
    }
    rows = dict(
        re.findall(
            r"^\| `([a-z_]+\.[a-z_]+)` \| `(RELAY_\w+)` \|", page("docs/configuration.md"), re.MULTILINE
        )
    )
    assert rows == {key: f"RELAY_{key.replace('.', '_').upper()}" for key in keys}


def test_every_happening_is_listed_with_its_level():
    """The table in docs/architecture.md is what relayd can publish, and all of that is in relayd/events.py."""
    for module in pkgutil.walk_packages(relayd.__path__, "relayd."):
        importlib.import_module(module.name)  # so that a happening elsewhere is found
    assert {happening.__module__ for happening in Happening.__subclasses__()} == {"relayd.events"}
    rows = dict(re.findall(r"^\| `(\w+)` \| .* \| (\w+) \|$", page("docs/architecture.md"), re.MULTILINE))
    assert rows == {happening.__name__: happening.level for happening in Happening.__subclasses__()}


def test_every_command_and_option_is_listed():
    """docs/cli.md names each command of relayctl and each option that is not common to all."""
    text = page("docs/cli.md")
    for path, command in all_commands():
        group, _, verb = path.partition(" ")
        (row,) = re.findall(rf"^\| `{group}\b[^`]*\b{verb}\b[^`]*` \| .*$", text, re.MULTILINE)
        own = [option for option in command.params if isinstance(option, click.Option)]
        for option in own:
            if not {"--json", "--queue", "--queue-dir"}.intersection(option.opts):
                assert any(f"{name}" in row for name in option.opts), (path, option.opts)


def test_the_settings_for_an_agent_cli_are_those_that_link_prints():
    """The JSON in docs/hooks.md has the events, commands and times of `relayctl setup`."""
    (shown,) = re.findall(r"^   ```json\n(.+?)^   ```", page("docs/hooks.md"), flags=re.MULTILINE | re.DOTALL)
    written = shown.replace(
        r"\"$HOME/.local/state/relayd/bin/relay-hook\"", "/home/ana/.relay/bin/relay-hook"
    )
    entered = {event: [{"hooks": [handler("claude", "/home/ana/.relay", event)]}] for event in EVENTS}
    assert json.loads(written)["hooks"] == entered


def test_every_direct_dependency_has_a_reason():
    """docs/dependencies.md has one row for each requirement of pyproject.toml, and no other."""
    project = tomllib.loads(page("pyproject.toml"))
    wanted = project["project"]["dependencies"], project["dependency-groups"]["dev"]
    names = [sorted(re.split(r"[^a-z-]", requirement)[0] for requirement in group) for group in wanted]
    tables = page("docs/dependencies.md").split("## For development")
    assert [re.findall(r"^\| ([a-z-]+)(?: \(.*\))? \|", table, re.MULTILINE)[1:] for table in tables] == names


def test_the_example_events_are_accepted():
    """What `make run` enqueues passes every rule."""
    assert len(parse((ROOT / "docs/examples/events.json").read_bytes())) == 8
