"""The example in docs/library.md runs as it stands."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


async def test_the_example_stores_delivers_and_empties_the_queue(tmp_path: Path):
    """Both events of a session go out one after the other, and nothing is left."""
    (code,) = re.findall(
        r"```python\n(.*?)```", (ROOT / "docs/library.md").read_text(encoding="utf-8"), re.DOTALL
    )
    names: dict[str, object] = {}
    exec(compile(code, "docs/library.md", "exec"), names)  # noqa: S102 -- our own page
    body = {"session_id": "s-1", "cwd": "/home/ana"}
    events = [{"event_id": f"e-{n}", "agent": "codex", "event": "stop", "body": body} for n in range(2)]
    sent: list[bytes] = []

    async def post(batch: bytes) -> tuple[int, bytes]:
        sent.append(batch)
        return 200, json.dumps({"accepted": len(json.loads(batch))}).encode()

    left = await names["store_and_deliver"](tmp_path / "outbox", json.dumps(events).encode(), post)
    assert left == 0
    assert [len(json.loads(batch)) for batch in sent] == [1, 1]
