"""What an edit of another program's settings can fail with; the tree is drawn in `relayctl/errors.py`."""

from __future__ import annotations

from relayctl.errors import BadInput

__all__ = ("EditRefused", "FileChanged", "FileRefused", "Missing", "Unsafe", "WrongType")


class EditRefused(BadInput):
    """A text cannot be read or edited as asked.

    Args:
        rule: What is wrong; it names places by the names that the caller asked for, and never holds a value.
        file: The text's path; empty if whoever edits does not know it.
        line: Where it is wrong, from 1; None if that is nowhere in particular.
        column: The same within the line, in characters.
    """

    def __init__(
        self, rule: str, *, file: str = "", line: int | None = None, column: int | None = None
    ) -> None:
        where = f"line {line}, column {column}: " if line is not None else ""
        super().__init__(
            f"{file}{': ' if file else ''}{where}{rule}", hint="correct it by hand, and repeat the command"
        )
        self.rule = rule
        self.file = file
        self.line = line
        self.column = column

    def of(self, file: str) -> EditRefused:
        """Say the same of a file."""
        return EditRefused(self.rule, file=file, line=self.line, column=self.column)


class Missing(EditRefused):
    """Nothing is at the place that was to be changed."""

    def __init__(self, place: str) -> None:
        super().__init__(f"{place} is not there")


class WrongType(EditRefused):
    """Something on the way to a place is not what can hold it.

    Args:
        place: Where.
        wanted: What it should be.
        line: See the base.
        column: See the base.
    """

    def __init__(
        self, place: str, wanted: str, *, line: int | None = None, column: int | None = None
    ) -> None:
        super().__init__(f"{place} is no {wanted}", line=line, column=column)


class Unsafe(EditRefused):
    """A place is written in a way that the edit would have changed more than it means."""

    def __init__(self, place: str) -> None:
        super().__init__(
            f"{place} is written in a way that cannot be changed safely; as a [table] of its own it can"
        )


class FileRefused(EditRefused):
    """A settings file cannot be read, replaced or removed; it is as it was."""

    def __init__(self, file: str, rule: str) -> None:
        super().__init__(rule, file=file)


class FileChanged(FileRefused):
    """Somebody changed a settings file after it was read; their version stays."""

    def __init__(self, file: str) -> None:
        super().__init__(file, "it was changed meanwhile; nothing was written")
