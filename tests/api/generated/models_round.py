"""The same round through classes of quicktype, which check what they take and give; prints what it saw."""
import json
import os
import urllib.error
import urllib.request

import models as m

DOCUMENT = os.environ["PARLEY_DOCUMENT"]


def call(name, given, result):
    request = urllib.request.Request(
        f"{os.environ['PARLEY_URL']}/v1/{name}",
        json.dumps(given.to_dict()).encode(),
        {"Authorization": "Bearer " + os.environ["PARLEY_TOKEN"], "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return result.from_dict(json.load(answer))


def given(kind, **fields):
    return kind.from_dict(fields)


thread = call("create_thread", given(m.CreateThreadInput, title="made by quicktype"), m.CreateThreadResult)
posted = call("post_message", given(m.PostMessageInput, thread_id=thread.thread_id, schema_version=1, body="a zebra"),
              m.PostMessageResult)
read = call("read_messages", given(m.ReadMessagesInput, thread_id=thread.thread_id, limit=5), m.ReadMessagesResult)
acked = call("ack_read", given(m.ACKReadInput, thread_id=thread.thread_id, last_read_seq=posted.seq), m.ACKReadResult)
ask = call("raise_ask", given(m.RaiseAskInput, prompt="Which?", thread_id=thread.thread_id,
                              options=[{"id": "a", "label": "A"}]), m.RaiseAskResult).ask
call("create_document", given(m.CreateDocumentInput, document_id=DOCUMENT, parent_id="root",
                              content={"mime_type": "text/markdown", "body": "stripes"}, metadata={"title": "Zebra"}),
     m.CreateDocumentResult)
document = call("get_document", given(m.GetDocumentInput, document_id=DOCUMENT), m.GetDocumentResult)
found = call("search_messages", given(m.SearchMessagesInput, query="zebra", thread_id=thread.thread_id),
             m.SearchMessagesResult)
try:
    call("get_thread", given(m.GetThreadInput, thread_id="thr_none"), m.GetThreadResult)
    code = None
except urllib.error.HTTPError as error:
    code = m.NotFoundError.from_dict(json.load(error)).error.code.value
try:
    given(m.CreateThreadInput, title=3)
    wrong = "taken"
except AssertionError:
    wrong = "function"
print(json.dumps([wrong, read.messages[0].body, acked.ok, ask.options[0].id, document.document.content.body,
                  len(found.hits), code]))
