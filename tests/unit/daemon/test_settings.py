"""Settings: defaults, file, environment, flags."""

import os

import msgspec
import pytest

from relayd.config import Config, load
from relayd.errors import ConfigRefused


def written(tmp_path, text):
    file = tmp_path / "config.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_defaults_without_a_file(tmp_path):
    """A home without config.toml runs on the defaults."""
    assert load(tmp_path / "config.toml", {}) == Config()


def test_later_sources_win(tmp_path):
    """The environment goes before the file, a flag before both."""
    file = written(tmp_path, "[log]\nmax_bytes = 100000\n[stop]\ngrace_s = 3\n[receiver]\nexcerpts = false\n")
    config = load(file, {"RELAY_STOP_GRACE_S": "1.5", "RELAY_LOG_FOREGROUND": "false"}, foreground=True)
    assert (config.log.max_bytes, config.stop.grace_s, config.receiver.excerpts) == (100000, 1.5, False)
    assert config.log.foreground


def test_every_setting_has_its_variable(tmp_path):
    """Each key of each table can be set as RELAY_SECTION_KEY."""
    given = {
        "RELAY_RECEIVER_EXCERPTS": "0",
        "RELAY_CAPTURE_IGNORE_PATHS": "*.pem, /srv/private",
        "RELAY_DELIVERY_PROXY": "http://proxy:3128",
        "RELAY_INJECT_SESSION_TOKENS": "0",
        "RELAY_INJECT_PROMPT_TOKENS": "0",
        "RELAY_DAEMON_IDLE_S": "60",
        "RELAY_DAEMON_PASS_ENV": "SSL_CERT_FILE, GIT_DIR",
        "RELAY_LOG_MAX_BYTES": "65536",
        "RELAY_LOG_DEBUG": "true",
        "RELAY_LOG_FOREGROUND": "1",
        "RELAY_STOP_GRACE_S": "0",
    }
    config = load(tmp_path / "config.toml", given)
    assert config.daemon.pass_env == ("SSL_CERT_FILE", "GIT_DIR")
    changed = msgspec.to_builtins(config)
    defaults = msgspec.to_builtins(Config())
    same = [
        f"{table}.{key}"
        for table in changed
        for key in changed[table]
        if changed[table][key] == defaults[table][key]
    ]
    assert same == []


def test_ignored_paths_are_checked_at_the_start(tmp_path):
    """A pattern that could never match does not wait for the first hook; the error names it by its number."""
    file = written(tmp_path, '[capture]\nignore_paths = ["*.pem", "!keep"]\n')
    with pytest.raises(ConfigRefused, match=r"^capture\.ignore_paths: pattern 2 must not begin with !"):
        load(file, {})


def test_blank_and_foreign_variables_are_ignored(tmp_path):
    """A blank variable is unset, and those of clients and hooks are not ours to judge."""
    given = {"RELAY_STOP_GRACE_S": " ", "RELAY_AUTOSTART": "0", "RELAY_NO_DAEMON": "1"}
    assert load(tmp_path / "config.toml", given) == Config()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[log]\nmax_byte = 1\n", "unknown field `max_byte`"),
        ("[logs]\n", "unknown field `logs`"),
        ("[log]\nmax_bytes = 'many'\n", "Expected `int`"),
        ("[log]\nmax_bytes = 1\n", ">= 65536"),
        ("[stop]\ngrace_s = -1\n", ">= 0"),
        ("[log\n", "line 1"),
        ("log = 1\n", "Expected `object`"),
    ],
)
def test_wrong_file_is_refused(tmp_path, text, said):
    """A mistyped key or a wrong value is an error that names the file and the key."""
    file = written(tmp_path, text)
    with pytest.raises(ConfigRefused, match=said) as caught:
        load(file, {})
    assert caught.value.source == str(file)


def test_file_that_is_no_text_is_refused(tmp_path):
    """Bytes that are not UTF-8, and a directory, are refused in one sentence."""
    file = tmp_path / "config.toml"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigRefused, match="UTF-8"):
        load(file, {})
    file.unlink()
    file.mkdir()
    with pytest.raises(ConfigRefused, match="directory"):
        load(file, {})


@pytest.mark.parametrize("proxy", ["http://proxy", "https://user:word@[::1]:3128/"])
def test_a_proxy_is_an_http_url(tmp_path, proxy):
    """A proxy is an http or https URL with a host; it may name a user."""
    assert load(tmp_path / "config.toml", {"RELAY_DELIVERY_PROXY": proxy}).delivery.proxy == proxy


@pytest.mark.parametrize(
    "proxy",
    [
        "x",
        "proxy:3128",
        "ftp://hunter2",
        "socks5://hunter2:1080",
        "http://",
        "http://hunter2:70000",
        "http://a b",
    ],
)
def test_what_is_no_proxy_is_refused(tmp_path, proxy):
    """What every delivery would fail of is refused at the start, by the file and by the variable, and not repeated."""
    file = written(tmp_path, f"[delivery]\nproxy = '{proxy}'\n")
    for given in ((file, {}), (tmp_path / "none.toml", {"RELAY_DELIVERY_PROXY": proxy})):
        with pytest.raises(ConfigRefused, match=r"delivery\.proxy: must be an http") as caught:
            load(*given)
        assert "hunter2" not in str(caught.value)


def test_a_pipe_in_place_of_the_file_is_refused(tmp_path):
    """What is no regular file is refused at once: nobody may ever write to it."""
    os.mkfifo(tmp_path / "config.toml")
    with pytest.raises(ConfigRefused, match="no regular file"):
        load(tmp_path / "config.toml", {})


def test_wrong_variable_is_named_without_its_value(tmp_path):
    """A wrong variable is named; what it holds is not repeated."""
    with pytest.raises(ConfigRefused) as caught:
        load(tmp_path / "config.toml", {"RELAY_LOG_MAX_BYTES": "hunter2"})
    assert "RELAY_LOG_MAX_BYTES" in str(caught.value)
    assert "hunter2" not in str(caught.value)
