"""Every command line that the docs show could be typed: its commands and its options are there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from relayctl.cli.app import relayctl

ROOT = Path(__file__).resolve().parents[3]
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]
# A block between fences or set in, or a span, which may go on in the next line.
_CODE = re.compile(r"^ *```\w*\n(.*?)^ *```|^((?: {4}.*\n)+)|(?<!`)`([^`]+)`(?!`)", re.MULTILINE | re.DOTALL)
_CALL = re.compile(r"(?<![\w./-])relayctl((?: +(?:\\\||[^\s;&|#)(<>`'\"])+)+)")
_ANY = "COMMAND"
_STDIN = "-"
# Options in spans of their own that are not relayctl's.
_OF_OTHERS = {"--launchd"}


def code(text: str) -> Iterator[tuple[str, bool]]:
    """Give each piece of code of a page, and whether it is a span in a sentence."""
    for found in _CODE.finditer(text):
        block = found[1] or found[2]
        if block is None:
            yield " ".join(found[3].split()), True
        else:
            yield from ((line, False) for line in re.sub(r"\\\n\s*", " ", block).splitlines())


def calls(text: str) -> Iterator[list[str]]:
    """Give the words behind each `relayctl` of a page."""
    for piece, _ in code(text):
        for found in _CALL.finditer(piece):
            yield found[1].split()


def options_of(command: click.Command) -> set[str]:
    """Give the spellings of a command's options."""
    context = click.Context(command)
    return {name for option in command.get_params(context) for name in (*option.opts, *option.secondary_opts)}


def takes_value(command: click.Command, name: str) -> bool:
    """Tell whether an option of a command is followed by a value."""
    options = (one for one in command.params if isinstance(one, click.Option) and name in one.opts)
    return any(not option.is_flag and not option.count for option in options)


def all_options(command: click.Command) -> set[str]:
    """Give the spellings of the options of a command and of all below it."""
    found = options_of(command)
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            below = command.get_command(click.Context(command), name)
            assert below is not None
            found |= all_options(below)
    return found


def unknown(words: list[str]) -> str | None:
    """Give the first word of a command line that relayctl does not know; None if it knows all.

    A line may end before its command is whole, name any command as COMMAND, and several as `start|stop`.
    """
    commands: list[click.Command] = [relayctl]
    is_value = False
    for word in words:
        if is_value:
            is_value = False
        elif word.startswith("-") and word != _STDIN:
            name = word.partition("=")[0].rstrip(".,:")
            if not any(name in options_of(command) | {"-h", "--help"} for command in commands):
                return word
            is_value = "=" not in word and any(takes_value(command, name) for command in commands)
        elif isinstance(commands[0], click.Group):
            if word == _ANY:
                return None
            found = [
                commands[0].get_command(click.Context(commands[0]), name)
                for name in re.split(r"\\?\|", word.rstrip(".,:"))
            ]
            if None in found:
                return word
            commands = [command for command in found if command is not None]
    return None


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_command_line_in_the_docs_is_one(path: Path) -> None:
    """The commands are there, and each option is one of its command."""
    wrong = [(words, word) for words in calls(path.read_text(encoding="utf-8")) if (word := unknown(words))]
    assert wrong == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_option_in_a_sentence_is_one(path: Path) -> None:
    """An option that is named alone belongs to some command of relayctl, or is known to be of another program."""
    known = all_options(relayctl) | _OF_OTHERS
    spans = [span for span, in_sentence in code(path.read_text(encoding="utf-8")) if in_sentence]
    named = {found[0] for span in spans if (found := re.match(r"--[a-z][a-z-]*", span))}
    assert named <= known, named - known


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("say `relayctl sttaus`", "sttaus"),
        ("say `relayctl\nqueue hold --json`", "hold"),
        ("    $ relayctl enqueue --fiel events.json\n", "--fiel"),
        ("```console\nrelayctl init --queue-dir /q \\\n    --proj shop\n```\n", "--proj"),
        ("   ```sh\n   x | relayctl --no-demon status\n   ```\n", "--no-demon"),
        ("| `relayctl daemon start\\|stopp` |", "start\\|stopp"),
        ("say `relayctl queue held`, `relayctl --no-daemon COMMAND`, `relayctl doctor`; `relayctl` is", None),
        ("    relayctl feed --kind add ad\n", "ad"),
        ("    relayctl feed --limit 3 add note\n", None),
        ("    relayctl queue list      # for each: relayctl flush --all --queue-dir DIR\n", None),
    ],
)
def test_a_wrong_word_is_seen(text: str, wrong: str | None) -> None:
    """In spans, in blocks, over line ends, among alternatives; a guard that had gone blind would let them pass."""
    found = [word for words in calls(text) if (word := unknown(words))]
    assert found == ([] if wrong is None else [wrong])


def test_the_guard_reads_the_docs() -> None:
    """It finds about as many command lines as there are."""
    assert sum(1 for path in PAGES for _ in calls(path.read_text(encoding="utf-8"))) > 100
