import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relayd.text.scrub import MARK, is_secret_key, scrub_text

LONG = "a1B2c3D4e5F6g7H8i9J0k1L2"
PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{LONG}\n-----END RSA PRIVATE KEY-----"

SECRETS = [
    f"ghp_{LONG}",
    f"ghs_{LONG}",
    f"github_pat_{LONG}",
    f"sk-{LONG}",
    f"sk-ant-api03-{LONG}",
    f"sk_test_{LONG}",
    "AKIAIOSFODNN7EXAMPLE",
    PEM,
    PEM.replace("RSA ", "").replace("KEY", "KEY BLOCK"),
    f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{LONG}",
]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize(
    ("before", "after"), [("", ""), ("see ", " there"), ("凭证为", "。"), ("(", ")"), ("é", "é")]
)
def test_tokens_go_wherever_they_stand(secret, before, after):
    """A token is found by itself, in a sentence, in brackets, and right behind a letter of any other script."""
    assert scrub_text(before + secret + after) == before + MARK + after


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize(
    "before",
    [
        "\\n",
        "\\t",
        '{\\"x\\":\\"\\\\n',
        "\\u000a",
        "\\x0a",
        "\\0",
        "%0A",
        "%3D",
        "\\u001b[31m",
        "\\033[01;31m\\033[K",
        "[m",
    ],
)
def test_an_escape_hides_no_token(secret, before):
    """JSON in a string, a URL, a line of a shell, coloured output: the escape's last letter is none of the token's word."""
    assert scrub_text(f"{before}{secret}\\n") == f"{before}{MARK}\\n"
    assert scrub_text(f"{before}Bearer {LONG}") == f"{before}Bearer {MARK}"


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        (f"Authorization: Bearer {LONG}", f"Authorization: Bearer {MARK}"),
        (f"令牌BEARER\t{LONG}", f"令牌BEARER\t{MARK}"),
        ("password=hunter22", f"password={MARK}"),
        ('{"password": "hunter22"}', f'{{"password": "{MARK}"}}'),
        ("密码password\uff1ahunter22", f"密码password\uff1a{MARK}"),
        ("api key = abcdef1", f"api key = {MARK}"),
        ("API_KEY:abcdef1;x", f"API_KEY:{MARK};x"),
        ("access-token=abcdef1&y=2", f"access-token={MARK}&y=2"),
        ("auth token : 'abcdef1'", f"auth token : '{MARK}'"),
        ('{"args": "{\\"password\\": \\"hunter22\\"}"}', f'{{"args": "{{\\"password\\": \\"{MARK}\\"}}"}}'),
        ('password: "correct horse battery", x', f'password: "{MARK}", x'),
        ("client_secret=abcdef1", f"client_secret={MARK}"),
        ("https://user:pa55@host/x", f"https://{MARK}@host/x"),
        ("x\n-----BEGIN OPENSSH PRIVATE KEY-----\nnever ended", f"x\n{MARK}"),
    ],
)
def test_named_values_lose_only_the_value(text, scrubbed):
    """What introduces a secret stays, so that a reader sees what was there."""
    assert scrub_text(text) == scrubbed


@pytest.mark.parametrize(
    "text",
    [
        "the token bucket: refills every second",
        "risk-assessment-of-everything",
        "xAKIAIOSFODNN7EXAMPLE",
        "ghp_short",
        "sk-short",
        "password: abc",
        "a line\nand\tanother\r\n",
        "see http://localhost:8080/x for more",
        f"token: {MARK}",
        "token: [REDACTED:github-token]",
        "Bearer [REDACTED] and more",
        "[REDACTED by the producer]",
        "日本語のテキスト",
        "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----",
    ],
)
def test_other_text_stays(text):
    """Words that sound like secrets, certificates, ports and earlier marks are left alone."""
    assert scrub_text(text) == text


def test_unseen_characters_become_visible():
    """Control and bidi characters are replaced; newline, return and tab are not."""
    assert scrub_text("a\x00\x1b\x7f\x85\u202e\u2066b\n\r\t") == "a" + "\ufffd" * 6 + "b\n\r\t"


PIECES = st.sampled_from(
    [*SECRETS, "password=", "Bearer ", "token: ", MARK, "\n", "://", "@", ":", "密", "x", " ", '"']
)


@given(st.lists(PIECES | st.text(alphabet=string.printable, max_size=5), max_size=8).map("".join))
def test_scrubbing_twice_changes_nothing(text):
    """The result of a scrub holds nothing that a second one would replace."""
    once = scrub_text(text)
    assert scrub_text(once) == once


@given(st.text(max_size=20), st.sampled_from(SECRETS), st.text(alphabet=" \n,;。、", min_size=1, max_size=5))
def test_no_token_survives(before, secret, after):
    """Whatever stands before a token, unless it is a letter or digit of the same word, it goes."""
    kept = scrub_text(before + after + secret + after)
    assert LONG not in kept
    assert "AKIAIOSFODNN7EXAMPLE" not in kept


@pytest.mark.parametrize(
    "key",
    [
        "authorization", "Auth", "jwt", "pwd", "bearer", "password", "db_passwd", "clientSecret", "secrets", "cookie",
        "set-cookie", "credentials", "apikey", "apiKey", "API-KEY", "api_keys", "privateKey", "private_key", "accessKeys",
        "session_key", "X-Api-Key", "signature", "HTTPAuth", "refreshToken", "tokens", "jwtToken", "APIKey",
    ],
)  # fmt: skip
def test_names_of_secrets(key):
    """Every spelling of a secret's name counts, whatever the value is."""
    assert is_secret_key(key, "x")
    assert is_secret_key(key, {"deep": 1})
    assert is_secret_key(key, True)


@pytest.mark.parametrize(
    "key", ["author", "authority", "monkey", "keyboard", "tokenizer", "key", "public_key", "session_id", ""]
)
def test_names_of_other_things(key):
    """A name that only contains such a word as part of another is none."""
    assert not is_secret_key(key, "x")


@pytest.mark.parametrize(
    "key", ["max_tokens", "input_tokens", "outputTokens", "cache_read_input_tokens", "token_count", "tokens"]
)
def test_numbers_under_usage_metrics_stay(key):
    """A count of tokens is no token, but a text under that name may be one."""
    assert not is_secret_key(key, 512)
    assert not is_secret_key(key, 0.5)
    assert is_secret_key(key, "512")


@pytest.mark.parametrize("key", ["access_tokens", "api_tokens", "secret", "password"])
def test_numbers_under_other_secrets_go(key):
    """A number may be a secret where the name says so."""
    assert is_secret_key(key, 512)


def test_long_names_are_read_too():
    """A name too long to be remembered is read all the same."""
    assert is_secret_key("x_" * 200 + "password", 1)
