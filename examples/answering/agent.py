"""Answers each message once, whatever happens to the hub or to this program. Needs PARLEY_URL and PARLEY_TOKEN."""
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../clients/python"))
from parley import Client  # noqa: E402

# However long the hub is away, or wants us to wait.
client = Client(os.environ["PARLEY_URL"], os.environ["PARLEY_TOKEN"], patience=math.inf)
for message in client.messages():
    client.post_message(
        thread_id=message["thread_id"],
        schema_version=1,
        body=f"seen #{message['seq']}",
        in_reply_to=message["message_id"],
        idempotency_key=f"re {message['message_id']}",
    )
