"""What a request is refused with, in the words of HTTP and of gRPC. Source: OTLP specification, Failures and Throttling."""

from __future__ import annotations

from typing import Final, Self

from google.protobuf.duration_pb2 import Duration
from google.rpc.code_pb2 import (
    DEADLINE_EXCEEDED,
    FAILED_PRECONDITION,
    INTERNAL,
    INVALID_ARGUMENT,
    NOT_FOUND,
    RESOURCE_EXHAUSTED,
    UNAUTHENTICATED,
    UNAVAILABLE,
)
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status

RETRY_SECONDS: Final = 1

_REASONS: Final = {
    200: "taken",
    400: "malformed",
    401: "unauthenticated",
    408: "slow",
    413: "too_large",
    415: "unsupported",
    429: "full",
    500: "failed",
    503: "unavailable",
}


def reason_of(status: int) -> str:
    """Return an HTTP status of ours in one word, for metrics."""
    return _REASONS.get(status, str(status))


class Refused(Exception):  # noqa: N818 - it is an answer, no error of the program's
    """A request that was not taken.

    Attributes:
        http: status of the HTTP answer.
        code: number of the gRPC status.
        message: one line for whoever runs the sender.
        retry_seconds: after how long to send it again; None: it would be refused again.
    """

    def __init__(self, http: int, code: int, message: str, *, retry_seconds: int | None = None) -> None:
        super().__init__(message)
        self.http = http
        self.code = code
        self.message = message
        self.retry_seconds = retry_seconds

    @classmethod
    def malformed(cls, message: str) -> Self:
        """It cannot be read, and will not be next time."""
        return cls(400, INVALID_ARGUMENT, message)

    @classmethod
    def unauthenticated(cls) -> Self:
        """It brings no token, or a wrong one."""
        return cls(401, UNAUTHENTICATED, "a bearer token is needed: send the header `Authorization: Bearer TOKEN`")

    @classmethod
    def slow(cls, seconds: float) -> Self:
        """Its body did not come in time."""
        return cls(408, DEADLINE_EXCEEDED, f"the body did not come within {seconds:g} s")

    @classmethod
    def too_large(cls, message: str, remedy: str = "send smaller batches") -> Self:
        """It is larger than the service takes."""
        return cls(413, INVALID_ARGUMENT, f"{message}; {remedy}")

    @classmethod
    def not_known(cls, message: str) -> Self:
        """It asks about something that is not there."""
        return cls(404, NOT_FOUND, message)

    @classmethod
    def out_of_turn(cls, message: str) -> Self:
        """It does not fit what was said before."""
        return cls(409, FAILED_PRECONDITION, message)

    @classmethod
    def unsupported(cls, message: str) -> Self:
        """It is encoded or compressed in a way that the service does not know."""
        return cls(415, INVALID_ARGUMENT, message)

    @classmethod
    def full(cls) -> Self:
        """More waits already than the service keeps."""
        return cls(429, RESOURCE_EXHAUSTED, "too much waits to be stored; send it again later", retry_seconds=RETRY_SECONDS)

    @classmethod
    def unavailable(cls, message: str, *, retry_seconds: int = RETRY_SECONDS) -> Self:
        """It can be stored nowhere at the moment, or the service is ending."""
        return cls(503, UNAVAILABLE, message, retry_seconds=retry_seconds)

    @classmethod
    def failed(cls) -> Self:
        """A bug of ours."""
        return cls(500, INTERNAL, "the service failed on this request; its log says why")

    def let_go(self) -> None:
        """Forget where it was raised: what was decompressed and decoded there would live until the next look for garbage."""
        self.__traceback__ = self.__context__ = None

    def retry_info(self) -> RetryInfo | None:
        """The delay, for gRPC."""
        return None if self.retry_seconds is None else RetryInfo(retry_delay=Duration(seconds=self.retry_seconds))

    def status(self) -> Status:
        """The refusal as the message that both protocols carry."""
        status = Status(code=self.code, message=self.message)
        if (delay := self.retry_info()) is not None:
            status.details.add().Pack(delay)
        return status
