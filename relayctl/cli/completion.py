"""`relayctl completion`: the script that makes a shell complete relayctl's words."""

from __future__ import annotations

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

from relayctl.cli.app import COMPLETION_VARIABLE

__all__ = ("completion",)

_SHELLS: dict[str, type[ShellComplete]] = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}


@click.command(
    epilog="""\b
To have it in every new shell:
  bash  echo 'eval "$(relayctl completion bash)"' >> ~/.bashrc
  zsh   echo 'eval "$(relayctl completion zsh)"' >> ~/.zshrc
        (behind compinit)
  fish  relayctl completion fish > ~/.config/fish/completions/relayctl.fish

\b
Example, for this shell only:
  eval "$(relayctl completion bash)"
"""
)
@click.argument("shell", type=click.Choice(list(_SHELLS)))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that completes commands, options and file names in a shell; bash needs 4.4."""
    program = context.find_root().command
    script = _SHELLS[shell](program, {}, "relayctl", COMPLETION_VARIABLE)
    # not the class's own source(), which starts a bash to ask for its version
    click.echo(ShellComplete.source(script))
