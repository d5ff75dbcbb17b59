"""The client of a Parley hub: calls that are repeated until they are answered, and an agent's loop. Standard library only."""

import http.client
import json
import random
import socket
import threading
import time
import urllib.parse
import uuid
from typing import Any, Callable, Dict, Iterator, Optional, Set, Union

from .operations import Operations

Token = Union[str, Callable[[], str]]


class ParleyError(Exception):
    """What the hub refused, by code, or that it gave no answer: then status is None and the outcome unknown."""

    def __init__(self, code: str, message: str, status: Optional[int] = None, details: Optional[dict] = None,
                 request_id: Optional[str] = None):
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = status
        self.details = details or {}
        self.request_id = request_id

    @property
    def transient(self) -> bool:
        """The same call may well succeed a little later."""
        return self.status is None or self.code in ("RATE_LIMITED", "UNAVAILABLE")


class Cancelled(Exception):
    """The client was closed while the call was under way; a write may have happened."""


class Client(Operations):
    """One identity at one hub; every operation is a method with the fields of its input as keywords."""

    def __init__(self, url: str, token: Token, timeout: float = 30.0, patience: float = 60.0):
        self._url = urllib.parse.urlsplit(url.rstrip("/"))
        self._token = token
        self._timeout = timeout
        self._patience = patience
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._open: Set[http.client.HTTPConnection] = set()

    def close(self) -> None:
        """Cancels whatever is under way, from any thread: calls raise Cancelled at once, loops over messages end."""
        self._closed.set()
        with self._lock:
            for connection in self._open:
                if connection.sock is not None:
                    try:
                        connection.sock.shutdown(socket.SHUT_RDWR)
                    except OSError:
                        pass  # it has ended by itself

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def call(self, name: str, fields: Dict[str, Any], keyed: bool = False, waits: bool = False) -> Dict[str, Any]:
        """Calls an operation; without an answer it is repeated under the same key until patience ends."""
        body = {field: value for field, value in fields.items() if value is not None}
        if keyed:
            body.setdefault("idempotency_key", f"auto_{uuid.uuid4().hex}")
        wait = body.get("timeout_ms", 30_000) / 1000 if waits else 0
        started = time.monotonic()
        tries = 0
        while True:
            try:
                return self._send("POST", f"/v1/{name}", json.dumps(body).encode(), self._timeout + wait)
            except ParleyError as error:
                pause = min(5.0, 0.1 * 2**tries) * random.uniform(0.5, 1.0)
                pause = max(pause, error.details.get("retry_after_ms", 0) / 1000)
                if not error.transient or time.monotonic() - started + pause > self._patience:
                    raise
                tries += 1
                if self._closed.wait(pause):
                    raise Cancelled() from error

    def messages(self, timeout_ms: int = 30_000) -> Iterator[Dict[str, Any]]:
        """What others say in all your threads, for ever: first what you have not acknowledged, then each as it comes.
        What the loop has done with a message is acknowledged when it asks for the next; a restart begins there."""
        since = 0
        while True:
            try:
                page = self._patiently(lambda: self.wait_for_messages(since_seq=since, timeout_ms=timeout_ms))
                for message in page["messages"]:
                    yield message
                    seen = {"thread_id": message["thread_id"], "last_read_seq": message["seq"]}
                    self._patiently(lambda: self.ack_read(**seen))
            except Cancelled:
                return
            since = page["next_seq"]

    def _patiently(self, run: Callable[[], Dict[str, Any]]) -> Dict[str, Any]:
        """However long the hub is away."""
        while True:
            try:
                return run()
            except ParleyError as error:
                if not error.transient:
                    raise

    def _send(self, method: str, path: str, body: bytes, timeout: float) -> Dict[str, Any]:
        token = self._token() if callable(self._token) else self._token
        kind = http.client.HTTPSConnection if self._url.scheme == "https" else http.client.HTTPConnection
        connection = kind(self._url.netloc, timeout=timeout)
        with self._lock:
            self._open.add(connection)
        try:
            connection.connect()
            if self._closed.is_set():
                raise Cancelled()
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            connection.request(method, self._url.path + path, body, headers)
            response = connection.getresponse()
            status, text = response.status, response.read()
        except (OSError, http.client.HTTPException) as error:
            if self._closed.is_set():
                raise Cancelled() from error
            raise ParleyError("UNAVAILABLE", f"no answer: {error!r}", details={"outcome": "unknown"}) from error
        finally:
            with self._lock:
                self._open.discard(connection)
            connection.close()
        try:
            answer = json.loads(text)
        except ValueError as error:
            raise ParleyError("UNAVAILABLE", f"the answer {status} is no JSON", None) from error
        if status == 200:
            return answer
        told = answer.get("error", {})
        raise ParleyError(told.get("code", "INTERNAL"), told.get("message", str(status)), status,
                          told.get("details"), told.get("request_id"))
