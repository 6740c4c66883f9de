"""Where files lie that come with a package.

`importlib.resources` finds them in archives too, of which we are none: it loads `zipfile` for that, half a MiB to keep.
"""

from importlib.util import find_spec
from pathlib import Path

__all__ = ("package_directory",)


def package_directory(package: str) -> Path:
    """Find the directory of a package, which is not imported for that; of its parents only.

    Raises:
        ModuleNotFoundError: There is none.
    """
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(package)
    return Path(spec.submodule_search_locations[0])
