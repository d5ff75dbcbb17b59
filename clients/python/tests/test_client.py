"""The client against a running hub: PARLEY_URL, PARLEY_TOKEN (alice), PARLEY_OTHER (bob); standard library only."""

import os
import socket
import sys
import threading
import time
import unittest
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from parley import Cancelled, Client, ParleyError  # noqa: E402

URL = os.environ["PARLEY_URL"]
ALICE = os.environ["PARLEY_TOKEN"]
BOB = os.environ["PARLEY_OTHER"]


class Way:
    """A way to the hub that can be closed, and that can lose answers."""

    def __init__(self):
        self.lose_answers = 0
        self.is_open = True
        self.tried = 0
        self._pairs = []
        self._door = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._door.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def cut(self):
        """From now on nothing passes, and whatever was open ends."""
        self.is_open = False
        for pair in self._pairs:
            for end in pair:
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def _serve(self):
        hub = urllib.parse.urlsplit(URL)
        while True:
            near, _ = self._door.accept()
            self.tried += 1
            if not self.is_open:
                near.close()
                continue
            far = socket.create_connection((hub.hostname, hub.port))
            self._pairs.append((near, far))
            loses = self.lose_answers > 0
            self.lose_answers -= 1 if loses else 0
            threading.Thread(target=self._carry, args=(near, far, False), daemon=True).start()
            threading.Thread(target=self._carry, args=(far, near, loses), daemon=True).start()

    def _carry(self, source, target, loses):
        # The hub serves its own name alone.
        names = (self.url[7:].encode(), urllib.parse.urlsplit(URL).netloc.encode())
        try:
            while True:
                piece = source.recv(65536)
                if loses or not piece:
                    break
                target.sendall(piece.replace(*names))
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class ClientTest(unittest.TestCase):
    def setUp(self):
        self.alice = Client(URL, ALICE)
        self.bob = Client(URL, lambda: BOB)

    def thread(self, *others):
        return self.alice.create_thread(title="a thread", participants=list(others))["thread_id"]

    def post(self, client, thread_id, body, **more):
        return client.post_message(thread_id=thread_id, schema_version=1, body=body, **more)

    def bodies(self, thread_id):
        return [one["body"] for one in self.alice.read_messages(thread_id=thread_id)["messages"] if one["kind"] == "chat"]

    def test_errors_by_code(self):
        with self.assertRaises(ParleyError) as caught:
            self.alice.get_thread(thread_id="thr_none")
        error = caught.exception
        self.assertIn(error.code, ("NOT_FOUND", "OUT_OF_SCOPE_WORKSPACE"))
        self.assertIn(error.status, (403, 404))
        self.assertTrue(error.request_id.startswith("req_"))
        self.assertTrue(error.details["hint"])
        self.assertFalse(error.transient)
        with self.assertRaises(ParleyError) as caught:
            self.alice.create_thread(title=3)
        self.assertEqual((caught.exception.code, caught.exception.details["field"]), ("VALIDATION_ERROR", "title"))
        with self.assertRaises(ParleyError) as caught:
            Client(URL, "nonsense").whoami()
        self.assertEqual((caught.exception.code, caught.exception.status), ("UNAUTHORIZED", 401))

    def test_a_lost_answer_is_asked_for_again_and_nothing_is_written_twice(self):
        thread_id = self.thread()
        way = Way()
        way.lose_answers = 2
        posted = self.post(Client(way.url, ALICE), thread_id, "once")
        self.assertGreaterEqual(way.tried, 3)
        self.assertEqual(self.bodies(thread_id), ["once"])
        self.assertEqual(posted["seq"], 1)

    def test_patience_ends_and_the_outcome_is_unknown(self):
        way = Way()
        way.cut()
        started = time.monotonic()
        with self.assertRaises(ParleyError) as caught:
            Client(way.url, ALICE, patience=1.0).whoami()
        self.assertEqual((caught.exception.code, caught.exception.status), ("UNAVAILABLE", None))
        self.assertEqual(caught.exception.details["outcome"], "unknown")
        self.assertTrue(caught.exception.transient)
        self.assertGreater(way.tried, 1)
        self.assertLess(time.monotonic() - started, 20)

    def test_429_is_waited_for(self):
        thread_id = self.thread()
        for i in range(6):
            self.post(self.alice, thread_id, str(i))
        self.assertEqual(self.bodies(thread_id), [str(i) for i in range(6)])
        with self.assertRaises(ParleyError) as caught:
            hasty = Client(URL, ALICE, patience=0.0)
            for i in range(20):
                self.post(hasty, thread_id, "too fast")
        self.assertEqual((caught.exception.code, caught.exception.status), ("RATE_LIMITED", 429))
        self.assertGreater(caught.exception.details["retry_after_ms"], 0)

    def test_wait(self):
        thread_id = self.thread("bob")
        started = time.monotonic()
        page = self.bob.wait_for_messages(thread_id=thread_id, since_seq=0, timeout_ms=300)
        self.assertTrue(page["timed_out"])
        self.assertGreaterEqual(time.monotonic() - started, 0.25)
        threading.Timer(0.5, lambda: self.post(self.alice, thread_id, "there")).start()
        page = self.bob.wait_for_messages(thread_id=thread_id, since_seq=0, timeout_ms=20_000)
        self.assertEqual([one["body"] for one in page["messages"]], ["there"])

    def test_cancellation(self):
        with Client(URL, BOB) as client:
            thread_id = self.thread("bob")
            threading.Timer(0.5, client.close).start()
            started = time.monotonic()
            with self.assertRaises(Cancelled):
                client.wait_for_messages(thread_id=thread_id, since_seq=0, timeout_ms=60_000)
            self.assertLess(time.monotonic() - started, 20)
            with self.assertRaises(Cancelled):
                client.whoami()
        # Also one that waits for its next try, and a loop, which just ends.
        way = Way()
        way.cut()
        trying = Client(way.url, BOB)
        threading.Timer(0.5, trying.close).start()
        with self.assertRaises(Cancelled):
            trying.whoami()
        loop = Client(URL, BOB)
        threading.Timer(1.0, loop.close).start()
        for message in loop.messages():
            self.assertNotEqual(message["sender_agent_id"], "bob")

    def test_the_loop_goes_on_through_a_partition_without_loss_or_repeat(self):
        thread_id = self.thread("bob")
        way = Way()
        heard = []
        # Patience shorter than the partition: the loop has more of it than a call.
        client = Client(way.url, BOB, patience=0.5)

        def listen():
            for message in client.messages(timeout_ms=1_000):
                if message["thread_id"] == thread_id:
                    heard.append(message["body"])

        listener = threading.Thread(target=listen)
        listener.start()
        self.post(self.alice, thread_id, "before")
        self.until(lambda: heard == ["before"])
        way.cut()
        self.post(self.alice, thread_id, "during")
        time.sleep(2)
        self.assertEqual(heard, ["before"])
        way.is_open = True
        self.post(self.alice, thread_id, "after")
        self.until(lambda: len(heard) >= 3)
        time.sleep(0.5)
        client.close()
        listener.join(20)
        self.assertFalse(listener.is_alive())
        self.assertEqual(heard, ["before", "during", "after"])

    def until(self, holds):
        end = time.monotonic() + 40
        while not holds() and time.monotonic() < end:
            time.sleep(0.05)
        self.assertTrue(holds())


if __name__ == "__main__":
    unittest.main()
