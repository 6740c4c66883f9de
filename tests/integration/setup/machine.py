"""A user's machine with agent CLIs on it: their settings, and setup run on them without a daemon."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from relayctl.setup.agent import Agent, agents
from relayctl.setup.carry_out import carry_out
from relayctl.setup.plan import Plan, plan_install, plan_remove

__all__ = ("Machine", "machine")


class Machine(NamedTuple):
    """One user."""

    user: Path
    home: Path

    @property
    def environ(self) -> dict[str, str]:
        """What commands see."""
        return {"RELAY_USER_HOME": str(self.user), "PATH": ""}

    def put(self, name: str, content: bytes) -> Path:
        """Write a file of the user's."""
        path = self.user / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def agents(self, *clis: str) -> list[Agent]:
        """Give those that are named, found or not."""
        return [agent for cli, agent in agents(self.environ).items() if cli in clis]

    def install(self, *clis: str) -> Plan:
        """Set them up; gives what was written."""
        chosen = self.agents(*clis)

        def plan() -> Plan:
            return plan_install(str(self.home), chosen)

        return carry_out(str(self.home), plan(), plan, clis, forget=False)

    def remove(self, *clis: str) -> Plan:
        """Take relay out of them; gives what was written."""
        chosen = self.agents(*clis)

        def plan() -> Plan:
            return plan_remove(str(self.home), chosen)

        return carry_out(str(self.home), plan(), plan, clis, forget=True)

    def files(self) -> dict[str, bytes]:
        """Give all files of the user's, by their names."""
        return {
            str(path.relative_to(self.user)): path.read_bytes()
            for path in sorted(self.user.rglob("*"))
            if path.is_file()
        }

    def directories(self) -> set[str]:
        """Name all directories of the user's."""
        return {str(path.relative_to(self.user)) for path in self.user.rglob("*") if path.is_dir()}


def machine(tmp_path: Path) -> Machine:
    """Make a machine whose user has a blank and letters of other alphabets in their name."""
    user, home = tmp_path / "Ana María 日本", tmp_path / "state of Ana's"
    user.mkdir()
    home.mkdir(mode=0o700)
    return Machine(user, home)
