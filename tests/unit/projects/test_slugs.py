"""The names of projects."""

from __future__ import annotations

import pytest

from relayd.projects.slug import is_slug, slug_from


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("shop", "shop"),
        ("My Shop", "my-shop"),
        ("shop_2.git", "shop-2-git"),
        ("--shop--", "shop"),
        ("Ünïcode café", "n-code-caf"),
        ("магазин", None),
        ("...", None),
        ("", None),
        ("x" * 100, "x" * 64),
        ("x" * 63 + "--y", "x" * 63),
    ],
)
def test_a_slug_of_a_directory(name: str, slug: str | None) -> None:
    """Lower case; whatever else there is becomes one `-`, and none at the ends."""
    assert slug_from(name) == slug
    assert slug is None or is_slug(slug)


@pytest.mark.parametrize("text", ["", "-a", "A", "a_b", "a b", "a\n", "é", "a" * 65, "a.b", "../a", 5, None])
def test_what_is_no_slug(text: object) -> None:
    """The rule is matched to the end and takes ASCII only."""
    assert not is_slug(text)
