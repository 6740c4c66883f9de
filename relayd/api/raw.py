"""An answer as bytes, where no application gives it."""

from http import HTTPStatus

from relay_queue.errors import OutboxError
from relayd.api.problem import problem
from relayd.errors import RelaydError

__all__ = ("raw_problem",)


def raw_problem(error: OutboxError | RelaydError) -> bytes:
    """Give the whole response that tells of an error and ends the connection."""
    answer = problem(error)
    lines = [b"%s: %s" % header for header in answer.raw_headers]
    status = f"HTTP/1.1 {answer.status_code} {HTTPStatus(answer.status_code).phrase}".encode()
    return b"\r\n".join([status, *lines, b"connection: close", b"", bytes(answer.body)])
