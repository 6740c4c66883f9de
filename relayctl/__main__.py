"""The entry of `relayctl`: hot verbs are told apart by argv, before anything else is imported.

There is none yet; whatever comes here must stay within built-in modules (tests/unit/client guards it).
"""

import sys

__all__ = ("main",)


def main() -> int:
    """Run one command line and return its exit code: 0 done, 2 failed, 3 events still pending."""
    from relayctl.cli.app import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
