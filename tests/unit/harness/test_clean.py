"""From a meaning to an event that may be stored."""

import json
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relay_queue.envelope import FORBIDDEN_BODY_KEYS, parse
from relay_queue.errors import InputRefused
from relay_queue.limits import LIMITS
from relayd.errors import ConfigRefused, HookRefused
from relayd.harness.adapters import read
from relayd.harness.call import HookCall
from relayd.harness.clean import CUT, MAX_MEMBERS, MAX_TEXT_BYTES, Cleaner
from relayd.harness.fitting import REST
from relayd.harness.ignored import IGNORED
from relayd.harness.marked_parts import MEMORY, PRIVATE
from relayd.harness.payload import LEFT_OUT
from relayd.text.scrub import MARK

SESSION = "5e551011-0000-4000-8000-00000000abcd"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0"
CALL_ID = "0123456789abcdef" * 2


def call(told, **fields):
    raw = told if isinstance(told, bytes) else json.dumps(told).encode()
    words = {"cli": "claude", "event": "user-prompt-submit", "call_id": CALL_ID, "at_ms": 1_764_456_000_123}
    return HookCall(**words | fields, payload=raw)


def event(told, *ignored, **fields):
    one = call(told, **fields)
    meaning = read(one)
    assert meaning is not None
    return Cleaner(ignored).event(one, meaning)


def body(told, *ignored, **fields):
    """The body that is stored for such members of an input."""
    whole = {"session_id": SESSION, "cwd": "/w"} | told if isinstance(told, dict) else told
    made = event(whole, *ignored, **fields)
    assert made is not None
    return json.loads(made.body)


def kept(value, *ignored):
    return body({"x": value}, *ignored)["x"]


def test_an_event_is_whole():
    """Identity, time and the members of the input are there."""
    made = event(
        {"session_id": SESSION, "cwd": "/w", "prompt": "hello", "prompt_id": "p-1", "new": [1.50, {}]}
    )
    assert made is not None
    assert (made.event_id, made.agent, made.event) == ("p-1", "claude-code", "user-prompt-submit")
    assert (made.session_id, made.cwd) == (SESSION, "/w")
    assert json.loads(made.body) == {
        "session_id": SESSION,
        "cwd": "/w",
        "occurred_at": "2025-11-29T22:40:00.123Z",
        "prompt": "hello",
        "prompt_id": "p-1",
        "new": [1.5, {}],
    }


def test_numbers_are_stored_as_spelled():
    """Neither a digit nor a point changes on the way."""
    made = event(b'{"session_id":"s","cwd":"/w","n":[1,1.0,1.50,-0,18446744073709551617,1e-7]}')
    assert made is not None
    assert '"n":[1,1.0,1.50,-0,18446744073709551617,1e-7]' in made.body


def test_without_an_id_of_the_cli_the_call_gives_one():
    """It is unique, so that two stops of one turn are two events."""
    made = event({"session_id": SESSION, "cwd": "/w", "prompt_id": "p", "hook_event_name": "Stop"})
    assert made is not None
    assert made.event_id == CALL_ID


def test_an_unusable_id_of_a_call_is_an_error_of_its_own():
    """The outbox's rules hold for whoever makes the call."""
    with pytest.raises(InputRefused):
        event({"session_id": SESSION, "cwd": "/w"}, call_id="")


@pytest.mark.parametrize(
    ("at_ms", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (-5, "1970-01-01T00:00:00.000Z"),
        (999, "1970-01-01T00:00:00.999Z"),
        (10**30, "9999-12-31T23:59:59.999Z"),
    ],
)
def test_any_time_can_be_written(at_ms, text):
    """A clock that is far off gives the nearest time that there is, never the one that an input claims."""
    assert body({"occurred_at": "2001-01-01T00:00:00Z"}, at_ms=at_ms)["occurred_at"] == text


@pytest.mark.parametrize("key", FORBIDDEN_BODY_KEYS)
def test_what_would_forge_the_scope_is_removed(key):
    """At the top; below it such a member is one like others."""
    stored = body({key: "x", "deep": {key: "x"}})
    assert key not in stored
    assert stored["deep"] == {key: "x"}


VENDORS = [
    TOKEN,
    "github_pat_" + "11ABCDEFG0" * 3,
    "glpat-" + "x1Y2z3-_" * 3,
    "sk-ant-api03-" + "Ab1_" * 8,
    "sk_test_" + "4eC39HqLyjWD" * 2,
    "rk_live_" + "4eC39HqLyjWD" * 2,
    "whsec_" + "MfKQ9r8GKYqrTwj+" * 2,
    "AKIAIOSFODNN7EXAMPLE",
    "ASIAIOSFODNN7EXAMPLE",
    "AIza" + "SyA-1234567_abcdefghijklmnopqrstuvw",
    "ya29." + "a0AfH6SMBx-y_z" * 3,
    "xoxb-" + "123456789012-abcdefABCDEF",
    "xapp-" + "1-A0123456789-abcdef012345",
    "hf_" + "AbCdEfGhIj" * 3,
    "npm_" + "a1B2c3D4e5F6" * 3,
    "pypi-" + "AgEIcHlwaS5vcmc" * 5,
    "dckr_pat_" + "a1B2c3D4e5F6" * 2,
    "SG." + "a1B2c3D4e5F6g7H8" + "." + "a1B2c3D4e5F6g7H8_-",
    "SK" + "0123456789abcdef" * 2,
    "shpat_" + "0123456789abcdef" * 2,
    "dop_v1_" + "0123456789abcdef" * 4,
    "hvs." + "CAESIJ1-2_3abcdefghij",
    "dapi" + "0123456789abcdef" * 2,
    "figd_" + "a1B2c3D4e5-F6_g7H8i9",
    "lin_api_" + "a1B2c3D4e5" * 4,
    "ntn_" + "123456789012a1B2c3D4",
    "sbp_" + "0123456789abcdef" * 2,
    "gsk_" + "a1B2c3D4e5" * 4,
    "xai-" + "a1B2c3D4e5" * 4,
    "pplx-" + "a1B2c3D4e5" * 4,
    "tvly-" + "dev-a1B2c3D4e5F6g7",
    "nvapi-" + "a1B2c3D4e5-F6_g7H8i9",
    "r8_" + "a1B2c3D4e5" * 3,
    "m0-" + "a1B2c3D4e5" * 3,
    "hsk-" + "a1B2c3D4e5F6g7H8",
    "brv_" + "a1B2c3D4e5F6g7H8",
    "AGE-SECRET-KEY-" + "1QYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGP",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
    "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIB\n-----END EC PRIVATE KEY-----",
]


@pytest.mark.parametrize("secret", VENDORS, ids=lambda secret: secret[:8])
@pytest.mark.parametrize(
    ("before", "after"), [("", ""), ("凭证为", "。谢谢"), ("キー「", "」"), ("see (", ")"), ("é", "é")]
)
def test_secrets_of_every_maker_go(secret, before, after):
    """Alone, in a sentence, and between letters of scripts without spaces; as text, in a list and as a name."""
    text = before + secret + after
    alone, named = kept([text, {text: None}])
    assert alone == before + MARK + after
    assert list(named) == [before + MARK + after]


def test_values_under_names_of_secrets_go():
    """Whatever they are; counts of tokens stay, however they are spelled."""
    told = b'{"session_id":"s","cwd":"/w","env":{"apiKey":{"a":1},"PASSWORD":7,"max_tokens":5,"output_tokens":1.50}}'
    assert body(told)["env"] == {"apiKey": MARK, "PASSWORD": MARK, "max_tokens": 5, "output_tokens": 1.5}


def test_credentials_in_urls_and_after_their_names_go():
    """What introduces them stays."""
    assert (
        kept("postgres://me:pa55@db/x and passphrase: opensesame1")
        == f"postgres://{MARK}@db/x and passphrase: {MARK}"
    )


def test_what_hides_or_reorders_text_becomes_visible():
    """Control and bidirectional characters, but not line ends."""
    assert kept("a\x00\u202eb\r\n\tc") == "a\ufffd\ufffdb\r\n\tc"


def test_private_parts_go_within_each_string():
    """A part that is not closed ends with its string."""
    stored = kept(["a <private>x", "b</private> c", {"<PRIVATE>k</PRIVATE>": "<private>v</private>"}])
    assert stored == [f"a {PRIVATE}", "b</private> c", {PRIVATE: PRIVATE}]


def test_what_relay_had_told_is_not_kept():
    """In values and names, at any depth; it would come back as news of its own."""
    told = "<relay-memory>Keep the outbox.</relay-memory>"
    quoted = json.dumps({"said": told.replace("<", "\u003c")})
    stored = kept([f"a {told} b", {told: [told]}, quoted, "&lt;relay-memory&gt;Keep the outbox."])
    assert stored[:2] == [f"a {MEMORY} b", {MEMORY: [MEMORY]}]
    assert stored[3] == MEMORY
    assert "outbox" not in json.dumps(stored)


@pytest.mark.parametrize("length", [524_280, 524_288, 600_000, 2_000_000])
def test_behind_a_private_part_that_is_too_long_nothing_is_kept(length):
    """A text is looked at up to half a million characters; where it ends within a private part, that is not closed."""
    assert kept("a <private>" + "x" * length + "</private> b") == f"a {PRIVATE}{CUT}"
    assert kept("a <relay-memory>" + "x" * length + "</relay-memory> b") == f"a {MEMORY}{CUT}"
    assert "y" not in kept("<private>x</private>" * 30_000 + "z" * length + "y" * 9)


def test_a_private_part_is_seen_in_whole():
    """Even one that closes far behind what is kept."""
    stored = kept("a <private>" + "x" * 500_000 + "</private> b")
    assert stored == f"a {PRIVATE} b"


def test_ignored_paths_go():
    """From text, from names, and from members that hold a path, with spaces or without a slash."""
    told = {
        "prompt": "read @~/x and .env!",
        "file_path": "/w/my secrets/x y",
        "paths": ["secrets", "/w/other"],
        "secrets": {"/w/.env": "secrets"},
    }
    stored = body(told, ".env", "my secrets", "secrets")
    assert stored["prompt"] == f"read @~/x and {IGNORED}!"
    assert stored["file_path"] == IGNORED
    assert stored["paths"] == [IGNORED, "/w/other"]
    assert stored["secrets"] == MARK


def test_relative_paths_start_at_the_working_directory():
    """As the agent means them."""
    assert kept("see keys/a and other/a", "/w/keys") == f"see {IGNORED} and other/a"


@pytest.mark.parametrize("fields", [{"directory": "/a/secret"}, {"root": "/a/secret/b"}, {}])
def test_nothing_is_captured_where_the_agent_works_on_ignored_paths(fields):
    """Neither if the call nor if the input says so."""
    cwd = "/w" if fields else "/a/secret"
    assert event({"session_id": SESSION, "cwd": cwd}, "secret", **fields) is None
    assert event({"session_id": SESSION, "cwd": "/w"}, "secret", directory="/w", root="/") is not None


def test_patterns_are_checked_when_a_cleaner_is_made():
    """Not at the first hook."""
    with pytest.raises(ConfigRefused):
        Cleaner(["!x"])


@pytest.mark.parametrize("letter", ["x", "é", "密", "🦊"])
def test_a_long_text_is_cut_with_a_mark(letter):
    """At the limit, counted in bytes; one that just fits is not."""
    fits = letter * (MAX_TEXT_BYTES // len(letter.encode()))
    assert kept(fits) == fits
    for longer in (fits + letter, fits * 9):
        text = kept(longer)
        assert text.endswith(CUT)
        assert MAX_TEXT_BYTES - 6 <= len(text.encode()) <= MAX_TEXT_BYTES
        assert set(text.removesuffix(CUT)) == {letter}


def test_a_cut_falls_between_visible_characters():
    """A family stays together or goes."""
    family = "\U0001f469\u200d\U0001f469\u200d\U0001f467"
    text = kept("x" * (MAX_TEXT_BYTES - 20) + family * 3)
    assert text.removesuffix(CUT).rstrip("x") in ("", family)


@pytest.mark.parametrize("start", range(MAX_TEXT_BYTES - 30, MAX_TEXT_BYTES + 5, 3))
def test_a_secret_across_the_cut_leaves_nothing(start):
    """Scrubbing comes before cutting."""
    assert "ghp_" not in kept("." * start + TOKEN + "." * 100)


@pytest.mark.parametrize("end", range(4 * MAX_TEXT_BYTES - 30, 4 * MAX_TEXT_BYTES + 5, 3))
def test_a_secret_or_a_path_across_the_window_leaves_nothing(end):
    """Nor does what is cut where reading stops, however much shorter the rest became."""
    filler = "ghp_" + "b" * (end - 5)
    assert "a1B2" not in kept(f"{filler} {TOKEN} and more " + "x" * 100)
    assert "/w/k" not in kept(f"{filler} /w/keys/one and more " + "x" * 100, "/w/keys")


def test_what_does_not_fit_is_left_out_and_marked():
    """Large members that tell little go before the prompt, and the event is never refused."""
    stored = body(
        {"tool_response": ["y" * 10_000] * 30, "prompt": "p" * 9_000, "small": 1, "rows": [[0] * 500] * 20}
    )
    assert stored["tool_response"] == LEFT_OUT
    assert stored["prompt"] == "p" * 9_000
    assert stored["small"] == 1
    many = body({f"m{n}": "z" * 16_000 for n in range(100)} | {"prompt": "p" * 16_000})
    assert many["prompt"] == "p" * 16_000
    assert 10 < list(many.values()).count("z" * 16_000) < 16
    assert many["m99" if "m99" in many else REST] == LEFT_OUT


def test_the_number_of_members_is_bounded():
    """All levels together; a mark stands where copying stopped, and what tells the most comes first."""
    rows = kept(list(range(MAX_MEMBERS * 3)))
    assert rows[-1] == LEFT_OUT
    assert len(rows) < MAX_MEMBERS + 1
    stored = body({str(n): n for n in range(MAX_MEMBERS * 3)} | {"prompt": "p"})
    assert stored["prompt"] == "p"
    assert stored[REST] == LEFT_OUT


def test_depth_is_bounded():
    """The deepest containers become marks, exactly where the outbox would refuse them."""
    deep = "end"
    for _ in range(300):
        deep = [deep]
    value, levels = kept(deep), 1
    while isinstance(value, list):
        (value,) = value
        levels += 1
    assert (value, levels) == (LEFT_OUT, LIMITS.body_levels)


ODD_TEXT = st.text(max_size=20) | st.sampled_from(
    [
        "<private>",
        "<relay-memory>",
        "\x00",
        "\ud800",
        "/w/.env",
        TOKEN,
        "password=hunter22",
        "x" * 20_000,
        "密" * 9_000,
        *FORBIDDEN_BODY_KEYS,
    ]
)
ODD_KEY = ODD_TEXT | st.sampled_from(
    ["session_id", "cwd", "occurred_at", "sessionId", "apiKey", "…", "path", "prompt"]
)
ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from([10**400, 2**70]) | ODD_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ODD_KEY, inner, max_size=4),
    max_leaves=25,
)


@given(
    st.dictionaries(ODD_KEY, ODD, max_size=8),
    st.text(string.ascii_letters, min_size=1, max_size=9),
    st.booleans(),
)
@settings(deadline=None)
def test_every_object_with_a_session_is_an_event(told, session, ascii_only):
    """Whatever else an input holds, the outbox takes what becomes of it, and nothing of it may be a secret."""
    whole = told | {"session_id": session, "cwd": "/w", "hook_event_name": "Stop"}
    raw = json.dumps(whole, ensure_ascii=ascii_only).encode(errors="surrogatepass")
    made = event(raw, ".env")
    assert made is not None
    assert made.body_bytes <= LIMITS.body_bytes
    envelope = f'[{{"event_id":"e","agent":"claude-code","event":"stop","body":{made.body}}}]'
    (again,) = parse(envelope.encode())
    assert (again.session_id, again.cwd, again.body) == (session, "/w", made.body)
    assert "ghp_" not in made.body
    assert "hunter22" not in made.body
    assert "/w/.env" not in made.body


@given(st.binary(max_size=80))
def test_any_input_is_an_event_or_nothing_or_refused(raw):
    """Nothing else is ever raised."""
    for text in (raw, b'{"session_id":"s","x":"%b"}' % raw, b'{"session_id":%b}' % raw):
        try:
            meaning = read(call(text, directory="/w"))
        except HookRefused:
            continue
        if meaning is not None:
            assert Cleaner(()).event(call(text), meaning) is not None
