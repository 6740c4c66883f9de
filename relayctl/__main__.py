"""The entry of `relayctl`: hot verbs are told apart by argv, before anything else is imported.

What they import must stay within built-in modules (tests/unit/client guards it).
"""

import os
import sys

__all__ = ("main",)


def main() -> None:
    """Run one command line and end the process: 0 done, 2 failed, 3 events still pending."""
    if sys.argv[1:2] == ["mcp"]:
        from relayctl import mcp_stdio

        if mcp_stdio.is_plain(sys.argv[2:]):
            mcp_stdio.serve(mcp_stdio.lane_of(sys.argv[2:]))
    from relayctl.cli.app import run

    code = run(sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue  # whoever read it is gone; `run` has made that its exit code where it matters
    # Nothing is left to clean up, and taking the interpreter down would cost an eighth of a short command.
    os._exit(code)


if __name__ == "__main__":
    main()
