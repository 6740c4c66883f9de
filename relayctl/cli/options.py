"""Options that several commands share."""

import click

__all__ = ("json_option", "limit_option", "queue_dir_option")

queue_dir_option = click.option(
    "--queue-dir",
    metavar="DIR",
    type=click.Path(file_okay=False),
    help="Directory of the queue.  [default: queue/default in the home]",
)
json_option = click.option("--json", "as_json", is_flag=True, help="JSON also on a terminal.")
limit_option = click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(1, 1000),
    default=100,
    show_default=True,
    help="At most N events.",
)
