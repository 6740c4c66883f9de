"""Write `docs/openapi.json`."""

from __future__ import annotations

from pathlib import Path

from tests.contract.openapi.document import written

Path("docs/openapi.json").write_text(written(), encoding="utf-8")
