r"""What credentials of known makers look like.

Patterns use ASCII look-arounds and spelled-out classes, never `\b` or `\w`: those count CJK letters as parts of a
word, so that a token right behind one would stay hidden.
"""

import re
from typing import Final, NamedTuple

from relayd.text.late import Late

__all__ = ("PEM", "TOKENS", "URL_PASSWORD", "Shape", "alone", "possible")

_KEY_LABEL = "[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?"

_HEX = "[0-9A-Fa-f]"
_ESCAPES: Final = (
    "\\\\[abefnrtv0]",
    f"\\\\x{_HEX}{{2}}",
    f"\\\\u{_HEX}{{4}}",
    f"%{_HEX}{{2}}",
    "[0-9\\[][mK]",
)
"""What ends in a letter or a digit and yet begins a new word: escapes of JSON and of others, of URLs, and of colours."""


class Shape(NamedTuple):
    """How the credentials of one kind look.

    Args:
        kind: What people call it.
        hint: What must be in a text for the pattern to match: most texts hold none of it, and `in` is quick.
        pattern: Text, and a dot in it is any character: most are never needed, and compiling all takes milliseconds.
        loose: Words with dashes between them match too, so that whoever refuses texts must look closer.
    """

    kind: str
    hint: str
    pattern: str
    loose: bool = False


def alone(start: str = "") -> str:
    """Make an expression that stands behind a pattern's first letters: nothing of the same word may come before them.

    Args:
        start: Those letters, as an expression of fixed length.
    """
    escaped = "".join(f"|(?<={escape}{start})" for escape in _ESCAPES)
    return f"(?:(?<![A-Za-z0-9]{start}){escaped})"


_MIXED = "[A-Za-z0-9]{20,}"
_DASHED = "[A-Za-z0-9_-]{20,}"
_NO_MORE = "(?![A-Za-z0-9])"

_STARTS: Final = (
    ("GitHub token", "gh", f"[a-z]_{_MIXED}"),
    ("GitHub token", "github_pat_", "[A-Za-z0-9_]{20,}"),
    ("GitLab token", "gl", "(?:pat|dt|rt|ptt|cbt|ft|imt|agent|soat|ffct|oas)-[A-Za-z0-9_.-]{20,}"),
    ("GitLab token", "GR1348941", _DASHED),
    ("Anthropic key", "sk-ant-", "[A-Za-z0-9_-]{16,}"),
    ("OpenAI key", "sk-", "(?:proj|svcacct|admin)-[A-Za-z0-9_-]{16,}"),
    ("OpenRouter key", "sk-or-", "[A-Za-z0-9_-]{16,}"),
    ("API key", "sk-", "[A-Za-z0-9_-]{16,}"),
    ("Stripe key", "sk_", "(?:live|test|prod)_[A-Za-z0-9]{10,}"),
    ("Stripe key", "rk_", "(?:live|test|prod)_[A-Za-z0-9]{10,}"),
    ("API key", "sk_", "[A-Za-z0-9_-]{16,}"),
    ("webhook secret", "whsec_", "[A-Za-z0-9+/=]{16,}"),
    ("Google API key", "AIza", "[A-Za-z0-9_-]{30,}"),
    ("Google access token", "ya29.", _DASHED),
    ("Google client secret", "GOCSPX-", _DASHED),
    ("Google refresh token", "1//0", _DASHED),
    ("Slack token", "xox", "[a-z]-[A-Za-z0-9-]{10,}"),
    ("Slack token", "xapp-", "[A-Za-z0-9-]{20,}"),
    ("Hugging Face token", "hf_", _MIXED),
    ("Hugging Face token", "api_org_", _MIXED),
    ("npm token", "npm_", _MIXED),
    ("PyPI token", "pypi-", "[A-Za-z0-9_-]{50,}"),
    ("RubyGems key", "rubygems_", "[0-9a-f]{32,}"),
    ("Docker token", "dckr_", "[a-z]{3}_[A-Za-z0-9_-]{20,}"),
    ("Figma token", "figd_", _DASHED),
    ("Linear token", "lin_", f"(?:api|oauth)_{_MIXED}"),
    ("Notion token", "ntn_", _MIXED),
    ("Notion token", "secret_", f"[A-Za-z0-9]{{43}}{_NO_MORE}"),
    ("Supabase token", "sbp_", "[0-9a-f]{32,}"),
    ("Supabase key", "sb_secret_", _DASHED),
    ("Groq key", "gsk_", _MIXED),
    ("xAI key", "xai-", _MIXED),
    ("Perplexity key", "pplx-", _MIXED),
    ("Tavily key", "tvly-", "[A-Za-z0-9_-]{16,}"),
    ("NVIDIA key", "nvapi-", _DASHED),
    ("Replicate token", "r8_", _MIXED),
    ("LangSmith key", "lsv2_", "(?:pt|sk)_[A-Za-z0-9_]{20,}"),
    ("Mem0 key", "m0-", _MIXED),
    ("Hindsight key", "hsk-", "[A-Za-z0-9_-]{16,}"),
    ("ByteRover key", "brv_", "[A-Za-z0-9_-]{16,}"),
    ("Vault token", "hv", "[sbr]\\.[A-Za-z0-9_-]{20,}"),
    ("DigitalOcean token", "dop_v1_", "[0-9a-f]{32,}"),
    ("DigitalOcean token", "doo_v1_", "[0-9a-f]{32,}"),
    ("DigitalOcean token", "dor_v1_", "[0-9a-f]{32,}"),
    ("Heroku key", "HRKU-", _DASHED),
    ("Netlify token", "nfp_", _MIXED),
    ("Fly.io token", "fo1_", _DASHED),
    ("Fly.io token", "fm", "(?:1a|1r|2)_[A-Za-z0-9+/]{60,}"),
    ("PlanetScale credential", "pscale_", "(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{20,}"),
    ("Pulumi token", "pul-", "[0-9a-f]{32,}"),
    ("Postman key", "PMAK-", "[0-9a-f]{24}-[0-9a-f]{20,}"),
    ("Grafana token", "glsa_", _DASHED),
    ("Grafana token", "glc_", "[A-Za-z0-9+/]{32,}"),
    ("New Relic key", "NR", "(?:AK|II|AL|RA|BR)[A-Z]{0,2}-[A-Za-z0-9-]{20,}"),
    ("Doppler token", "dp.", f"[a-z]{{2,4}}\\.{_MIXED}"),
    ("Sentry token", "sntry", "[a-z]_[A-Za-z0-9_=+/-]{20,}"),
    ("Square token", "sq0", "[a-z]{3}-[A-Za-z0-9_-]{20,}"),
    ("Shippo token", "shippo_", "(?:live|test)_[0-9a-fA-F]{32,}"),
    ("EasyPost key", "EZ", "[AT]K[A-Za-z0-9]{50,}"),
    ("Atlassian token", "ATATT3", "[A-Za-z0-9_=-]{20,}"),
    ("Sendinblue key", "xkeysib-", "[0-9a-f]{32,}"),
    ("Prefect key", "pnu_", _MIXED),
    ("Sourcegraph token", "sgp_", "[A-Za-z0-9_]{32,}"),
    ("Contentful token", "CFPAT-", _DASHED),
    ("OpenShift token", "sha256~", "[A-Za-z0-9_-]{40,}"),
)
"""Kind, beginning and what follows, where words with dashes between them can look the same."""

_FIXED: Final = (
    ("AWS access key", "AKIA", f"[A-Z0-9]{{16}}{_NO_MORE}"),
    ("AWS access key", "ASIA", f"[A-Z0-9]{{16}}{_NO_MORE}"),
    ("AWS access key", "ABIA", f"[A-Z0-9]{{16}}{_NO_MORE}"),
    ("AWS access key", "ACCA", f"[A-Z0-9]{{16}}{_NO_MORE}"),
    ("AWS Bedrock key", "ABSK", "[A-Za-z0-9+/]{60,}"),
    ("SendGrid key", "SG.", "[A-Za-z0-9_-]{16,}\\.[A-Za-z0-9_-]{16,}"),
    ("Twilio key", "SK", f"[0-9a-f]{{32}}{_NO_MORE}"),
    ("Mailgun key", "key-", f"[0-9a-f]{{32}}{_NO_MORE}"),
    ("Shopify token", "shp", "(?:at|ca|pa|ss|tka)_[0-9a-fA-F]{32}"),
    ("Databricks token", "dapi", f"[0-9a-f]{{32}}{_NO_MORE}"),
    ("Dynatrace token", "dt0", "[a-z][0-9]{2}\\.[A-Z0-9]{24}\\.[A-Z0-9]{32,}"),
    ("Facebook token", "EAA", "[A-Za-z0-9]{60,}"),
    ("Square token", "EAAA", f"[A-Za-z0-9_-]{{60}}{_NO_MORE}"),
    ("Artifactory key", "AKCp", "[A-Za-z0-9]{60,}"),
    ("Alibaba access key", "LTAI", f"[A-Za-z0-9]{{20}}{_NO_MORE}"),
    ("Tencent secret id", "AKID", f"[A-Za-z0-9]{{32}}{_NO_MORE}"),
    ("Yandex key", "AQVN", "[A-Za-z0-9_-]{35,}"),
    ("NuGet key", "oy2", f"[a-z0-9]{{43}}{_NO_MORE}"),
    ("Airtable token", "pat", f"[A-Za-z0-9]{{14}}\\.[0-9a-f]{{64}}{_NO_MORE}"),
    ("Octopus Deploy key", "API-", f"[A-Z0-9]{{26,}}{_NO_MORE}"),
    ("age secret key", "AGE-SECRET-KEY-", "[0-9A-Z]{40,}"),
    (
        "1Password secret key",
        "A3-",
        "[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}",
    ),
    ("JSON web token", "eyJ", "[A-Za-z0-9_-]{16,}(?:\\.[A-Za-z0-9_-]*){0,4}"),
    ("Slack webhook", "hooks.slack.com/", "(?:services|workflows|triggers)/[A-Za-z0-9+/_-]{20,}"),
    (
        "Teams webhook",
        "webhook.office.com/",
        "webhookb2/[A-Za-z0-9@-]{36,}/IncomingWebhook/[A-Za-z0-9/-]{32,}",
    ),
    ("Azure storage key", "AccountKey=", "[A-Za-z0-9+/]{60,}={0,2}"),
    ("Azure shared access key", "SharedAccessKey=", "[A-Za-z0-9+/]{40,}={0,2}"),
    ("Azure shared access signature", "sig=", "(?:[A-Za-z0-9+/]|%2[BbFf]){43,}(?:%3[Dd]){0,2}"),
)
"""The same, of which nothing else is likely to be."""

_AZURE = "[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}"
_DEVOPS = f"{alone()}[A-Za-z0-9]{{76}}AZDO[A-Za-z0-9]{{4}}"
_TERRAFORM = "[A-Za-z0-9]{14}\\.atlasv1\\.[A-Za-z0-9_=-]{60,}"
_MAILCHIMP = f"[0-9a-f]{{32}}-us[0-9]{{1,2}}{_NO_MORE}"
_TELEGRAM = "[0-9]{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])"
_DISCORD_HOOK = "discord(?:app)?\\.com/api/webhooks/[0-9]{5,20}/[A-Za-z0-9_-]{20,}"
_DISCORD = f"[MNO]{alone('[MNO]')}[A-Za-z0-9_-]{{23,27}}\\.[A-Za-z0-9_-]{{6}}\\.[A-Za-z0-9_-]{{27,40}}(?![A-Za-z0-9_-])"

_BEGIN: Final = "-----BEGIN "


def _after(kind: str, start: str, rest: str, *, loose: bool) -> Shape:
    return Shape(kind, start, f"{re.escape(start)}{alone(re.escape(start))}{rest}", loose)


PEM: Final = Shape("private key", _BEGIN, f"{_BEGIN}{_KEY_LABEL}-----(?:.*?-----END {_KEY_LABEL}-----|.*)")
"""With all that follows, if it has no end."""

URL_PASSWORD: Final = Shape(
    "password in a URL",
    "://",
    "(?<=://)[^/?#@: \\t\\r\\n\"']{0,256}:[^/?#@ \\t\\r\\n\"']{1,256}(?=@)",
)
"""The name and the password, without what is around them."""

TOKENS: Final = (
    PEM,
    *(_after(kind, start, rest, loose=True) for kind, start, rest in _STARTS),
    *(_after(kind, start, rest, loose=False) for kind, start, rest in _FIXED),
    Shape("Azure client secret", "Q~", _AZURE),
    Shape("Azure DevOps token", "AZDO", _DEVOPS),
    Shape("Terraform token", ".atlasv1.", _TERRAFORM),
    Shape("Mailchimp key", "-us", _MAILCHIMP),
    Shape("Telegram bot token", ":AA", _TELEGRAM),
    Shape("Discord webhook", "/api/webhooks/", _DISCORD_HOOK),
    Shape("Discord token", ".", _DISCORD),
    URL_PASSWORD,
)
"""Every shape, the more particular ones first."""

_MARKS: Final = "_-:~/=."

_WITHOUT: Final = {
    **dict.fromkeys(("gh", "fm", "sntry", "shp"), "_"),
    **dict.fromkeys(("gl", "xox", "NR", "sq0"), "-"),
    **dict.fromkeys(("hv", "dt0", "pat"), "."),
}
"""The sign that stands behind a hint which has none."""

_MORE: Final = {"_": Late("_[A-Za-z0-9_.+/=~-]{15}"), "-": Late("-[A-Za-z0-9_.+/=~-]{10}")}
"""What follows such a sign in any of its shapes: in most texts there are many of the sign, and none with so much behind it."""

_ALONE: Final = {PEM.hint: PEM.hint, "-us": "-us"}
"""Hints of which that is not so; each is looked for by itself."""


def _mark(shape: Shape) -> str:
    sign = _ALONE.get(shape.hint) or _WITHOUT.get(shape.hint)
    return sign or next((mark for mark in _MARKS if mark in shape.hint), "")


_BY_MARK: Final = tuple(
    (mark, _MORE.get(mark), tuple((shape.hint, shape) for shape in TOKENS if _mark(shape) == mark))
    for mark in (*_ALONE.values(), "", *_MARKS)
)
"""The shapes by a sign that is in all that they match, which one look for all of them rules out."""


def possible(text: str) -> list[Shape]:
    """Give the shapes that a text may hold, going by their hints; the more particular of those with one sign first."""
    found: list[Shape] = []
    for mark, more, shapes in _BY_MARK:
        if mark in text and (more is None or more.search(text)):
            for hint, shape in shapes:
                if hint in text:
                    found.append(shape)
    return found
