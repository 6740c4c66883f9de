"""What a queue may be bound to: the rules of `init`, and the one spelling of a server URL."""

import pytest

from relay_queue.binding import LOCAL, Binding, bind, normalise_url
from relay_queue.errors import BindingRefused

GOOD = {
    "server_url": "http://127.0.0.1:49374",
    "producer": "my-orchestrator",
    "actor": "developer",
    "workspace": "work",
    "project": "example",
}


def bound(**changes: str) -> Binding:
    return bind(**{**GOOD, **changes})


def refused(**changes: str) -> BindingRefused:
    with pytest.raises(BindingRefused) as caught:
        bound(**changes)
    assert caught.value.field == next(iter(changes))
    return caught.value


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("HTTP://Example.COM", "http://example.com"),
        ("http://h:80/", "http://h"),
        ("https://h:443", "https://h"),
        ("https://h:80", "https://h:80"),
        ("http://h:00080", "http://h"),
        ("http://h:", "http://h"),
        ("http://h:0", "http://h:0"),
        ("http://h:65535", "http://h:65535"),
        ("http://bücher.example", "http://xn--bcher-kva.example"),
        ("http://BÜCHER.example", "http://xn--bcher-kva.example"),
        ("http://faß.de", "http://xn--fa-hia.de"),
        ("http://ex%41mple.com", "http://example.com"),
        ("http://h.1_0", "http://h.1_0"),
        ("http://my_host.lan", "http://my_host.lan"),
        ("http://127.1", "http://127.0.0.1"),
        ("http://127.0.0.1.", "http://127.0.0.1"),
        ("http://2130706433", "http://127.0.0.1"),
        ("http://0x7f.0.0.1", "http://127.0.0.1"),
        ("http://0177.0.0.1", "http://127.0.0.1"),
        ("http://0x", "http://0.0.0.0"),
        ("http://1.2.772", "http://1.2.3.4"),
        ("http://\uff11\uff12\uff17.\uff11", "http://127.0.0.1"),
        ("http://[::1]:8080", "http://[::1]:8080"),
        ("http://[2001:DB8:0:0:1:0:0:1]", "http://[2001:db8::1:0:0:1]"),
        ("http://[1:0:2:0:3:0:4:0]", "http://[1:0:2:0:3:0:4:0]"),
        ("http://[0:0:0:0:0:0:0:0]", "http://[::]"),
        ("http://[::ffff:1.2.3.4]", "http://[::ffff:102:304]"),
        ("http://h/base", "http://h/base"),
        ("http://h/base///", "http://h/base"),
        ("http://h/a//b/", "http://h/a//b"),
        ("http://h/a/./b/../c", "http://h/a/c"),
        ("http://h/a/%2E/b/%2e%2E/.%2e/c", "http://h/c"),
        ("http://h/../..", "http://h"),
        (r"http:\\h\a\b", "http://h/a/b"),
        ("  http://h  ", "http://h"),
        ("http:h", "http://h"),
        ("http:///h", "http://h"),
        ("http://@h/", "http://h"),
        ("http://h/é x", "http://h/%C3%A9%20x"),
        ('http://h/"<>^`{}', "http://h/%22%3C%3E%5E%60%7B%7D"),
        ("http://h/~a%zz!$&'()*+,;=:@[]|", "http://h/~a%zz!$&'()*+,;=:@[]|"),
    ],
)
def test_a_server_url_is_kept_in_its_normal_spelling(url: str, normal: str):
    """Each accepted spelling becomes the normal one, and the normal one stays as it is."""
    assert normalise_url(url) == normal
    assert normalise_url(normal) == normal


@pytest.mark.parametrize(
    ("url", "rule"),
    [
        ("", "http://"),
        ("localhost:49374", "http://"),
        ("ftp://h", "http://"),
        ("//h", "http://"),
        (" local", "http://"),
        ("LOCAL", "http://"),
        ("http://", "host"),
        ("http:///", "host"),
        ("http://:80", "host"),
        ("http://user@h", "user information"),
        ("http://user:pass@h", "user information"),
        ("http://:@h", "user information"),
        ("http://a@b@h", "user information"),
        ("http://h?", "query"),
        ("http://h/?a=b", "query"),
        ("http://h?#", "query"),
        ("http://h#", "fragment"),
        ("http://h/#top", "fragment"),
        ("http://h:65536", "port"),
        ("http://h:99999999999999999999", "port"),
        ("http://h:8o", "port"),
        ("http://h:1:2", "port"),
        ("http://[::1]x", "port"),
        ("http://a b", "characters"),
        ("http://a%2Fb", "characters"),
        ("http://a%00b", "characters"),
        ("http://a%ffb", "UTF-8"),
        ("http://a<b", "characters"),
        ("http://xn--ü.example", "international name"),
        ("http://1.2.3.4.5", "IPv4"),
        ("http://256.1.1.1", "IPv4"),
        ("http://1.2.3.08", "IPv4"),
        ("http://1..2", "IPv4"),
        ("http://4294967296", "IPv4"),
        ("http://[::g]", "IPv6"),
        ("http://[1.2.3.4]", "IPv6"),
        ("http://[fe80::1%eth0]", "IPv6"),
        ("http://[::1", "port"),
        ("http://h/a\tb", "control characters"),
        ("http://h\n", "control characters"),
        ("http://h/\udc80", "control characters"),
        ("http://h/" + "a" * 2048, "2048"),
    ],
)
def test_what_is_no_base_url_is_refused(url: str, rule: str):
    """A URL with anything a base URL must not have is refused, naming the rule."""
    assert rule in refused(server_url=url).rule


def test_local_is_taken_literally():
    """The word that means the daemon's own receiver is no URL and stays as it is."""
    assert bound(server_url=LOCAL).server_url == "local"


@pytest.mark.parametrize("field", ["producer", "actor"])
@pytest.mark.parametrize("value", ["a", "A-z_0.9:x", "x" * 64])
def test_a_token_may_have_64_bytes_of_its_alphabet(field: str, value: str):
    """Producer and actor take ASCII letters, digits, dot, underscore, hyphen and colon."""
    assert getattr(bound(**{field: value}), field) == value


@pytest.mark.parametrize("field", ["producer", "actor"])
@pytest.mark.parametrize(
    "value", ["", " ", "a b", "a/b", "é", "x" * 65, "a\n", "\uff41", "a~", "a+", "\u0661", "a\x00"]
)
def test_a_token_takes_nothing_else(field: str, value: str):
    """Producer and actor refuse all other characters, no characters, and more than 64."""
    refused(**{field: value})


@pytest.mark.parametrize("field", ["workspace", "project"])
@pytest.mark.parametrize(
    "value", ["x", "  spaces kept  ", "界" * 128, "a\u2028b", "\u200b", "a\u00a0b", "😀" * 128]
)
def test_a_scope_is_kept_as_given(field: str, value: str):
    """Workspace and project take up to 128 characters of any script, outer spaces and all."""
    assert getattr(bound(**{field: value}), field) == value


@pytest.mark.parametrize("field", ["workspace", "project"])
@pytest.mark.parametrize(
    "value",
    ["", " ", "\u3000\u00a0", "x" * 129, "a\nb", "a\tb", "\x00", "a\x7f", "a\x85b", "a\x9fb", "\ud800"],
)
def test_a_scope_takes_no_blank_and_no_control_character(field: str, value: str):
    """Workspace and project refuse blank, overlong and unprintable texts."""
    refused(**{field: value})
