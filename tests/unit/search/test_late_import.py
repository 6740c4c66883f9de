import subprocess
import sys

LATE = "import sys, relayd.daemon; print(*(name for name in sys.modules if 'snowball' in name or name == 'relayd.search.stems'))"


def test_a_daemon_starts_without_the_stemmers():
    """They take a while and some memory, and must not come from another version: they wait for the first item."""
    done = subprocess.run([sys.executable, "-c", LATE], capture_output=True, check=True, timeout=60)
    assert done.stdout.split() == []
