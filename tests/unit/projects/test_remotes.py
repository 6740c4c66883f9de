"""One spelling for every way to a repository."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relayd.projects.remote import normal_remote

_SHOP = "github.com/acme/Shop"


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/acme/Shop",
        "https://github.com/acme/Shop.git",
        "https://github.com/acme/Shop/",
        "https://github.com/acme/Shop.git/",
        "https://GitHub.COM/acme/Shop.git",
        "https://github.com./acme/Shop.git",
        "https://github.com:443/acme/Shop.git",
        "https://ana@github.com/acme/Shop.git",
        "https://ana:t0ken@github.com/acme/Shop.git",
        "https://x@y:t0ken@github.com/acme/Shop.git",
        "https://github.com/acme/Shop.git?access_token=t0ken",
        "https://github.com/acme/Shop.git#t0ken",
        "http://github.com/acme/Shop",
        "http://github.com:80/acme/Shop",
        "HTTPS://github.com/acme/Shop",
        "git://github.com/acme/Shop.git",
        "git://github.com:9418/acme/Shop.git",
        "ssh://git@github.com/acme/Shop.git",
        "ssh://git@github.com:22/acme/Shop.git",
        "ssh://git@github.com:/acme/Shop.git",
        "git+ssh://git@github.com/acme/Shop.git",
        "ssh://github.com//acme//Shop.git",
        "git@github.com:acme/Shop.git",
        "git@github.com:/acme/Shop.git",
        "git@github.com:acme/Shop",
        "github.com:acme/Shop.git/",
        "git@GITHUB.com:acme/Shop.git",
        "https://github.com/%61cme/Shop",
    ],
)
def test_every_way_leads_to_one_name(url: str) -> None:
    """Scheme, user, default port, case of the host, `.git` and slashes do not count."""
    assert normal_remote(url) == _SHOP


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("ssh://git@example.org:2222/acme/shop.git", "example.org:2222/acme/shop"),
        ("https://example.org:8443/acme/shop", "example.org:8443/acme/shop"),
        ("http://localhost:3000/acme/shop.git", "localhost:3000/acme/shop"),
        ("git@example.org:group/sub/shop.git", "example.org/group/sub/shop"),
        ("https://example.org/shop", "example.org/shop"),
        ("ssh://git@[2001:DB8::1]:22/acme/shop", "[2001:db8::1]/acme/shop"),
        ("git@[::1]:acme/shop.git", "[::1]/acme/shop"),
        ("https://example.org/~ana/shop", "example.org/~ana/shop"),
        ("https://dev.example/My%20Team/_git/shop", "dev.example/My Team/_git/shop"),
        ("git@example.org:магазин.git", "example.org/магазин"),
        ("git@example.org:a.git/b.git", "example.org/a.git/b"),
    ],
)
def test_what_tells_repositories_apart_stays(url: str, name: str) -> None:
    """Another port, a longer path and the case of the path count."""
    assert normal_remote(url) == name


@pytest.mark.parametrize(
    "url",
    [
        "",
        "/srv/git/shop.git",
        "../shop",
        "./a:b/shop",
        "shop",
        "~/shop",
        "file:///srv/git/shop.git",
        "FILE:///srv/git/shop.git",
        "https://",
        "https://github.com",
        "https://github.com/",
        "https://github.com/.git",
        "https:///acme/shop",
        "https://github.com:port/acme/shop",
        "https://ana:pa/ss@github.com/acme/shop",
        "https://ana:12/34@github.com/acme/shop",
        "ana:t0ken@github.com:acme/shop",
        "git@github.com:",
        "git@github.com:/",
        "ext::sh -c x",
        "codecommit::eu-west-1://shop",
        "hg::https://example.org/shop",
        "https://github.com/acme/../other/shop",
        "https://github.com/acme/%2e%2e/shop",
        "https://github.com/acme/shop\n",
        "https://github.com/ac%00me/shop",
        "git@github.com:acme\\shop",
        "git@github.com:\udcff/shop",
        "https://github.com/acme/%ff",
        "https://github.com/" + "x" * 3000,
    ],
)
def test_what_names_no_server_is_no_identity(url: str) -> None:
    """Local paths, other transports, and what might hide a credential are none."""
    assert normal_remote(url) is None


@given(st.text(max_size=80))
def test_a_name_is_its_own_name(url: str) -> None:
    """Any text is either none, or gives a name that gives itself again and holds no user."""
    name = normal_remote(url)
    if name is not None:
        assert "@" not in name
        assert normal_remote(f"ssh://{name.replace('%', '%25').replace('?', '%3F').replace('#', '%23')}") in (
            name,
            name.removesuffix(".git"),
        )
