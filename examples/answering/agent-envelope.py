"""Answers each document tagged `question` once, by a document under it. Needs PARLEY_URL, PARLEY_TOKEN, PARLEY_AGENT."""
import json
import os
import time
import urllib.error
import urllib.request
import uuid

def send(action, key, seq, **args):
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    head = dict(envelope_version="2.2", request_id=str(uuid.uuid4()), correlation_id=str(uuid.uuid4()), trace_id="",
                tenant_id=os.environ.get("PARLEY_WORKSPACE", "default"), timestamp=now, ttl_sec=300, seq=seq,
                principal={"sub": os.environ["PARLEY_AGENT"], "roles": ["editor"]}, idempotency_key=key, action=action,
                action_version="1.0.0", context_id=key, resource_links=[], payload={"schema_version": "1.0", "args": args})
    headers = {"Authorization": "Bearer " + os.environ["PARLEY_TOKEN"], "Content-Type": "application/json"}
    request = urllib.request.Request(os.environ["PARLEY_URL"] + "/v1/envelope", json.dumps(head).encode(), headers)
    return json.load(urllib.request.urlopen(request, timeout=30))["data"]

answered = set()
while True:
    try:
        found = send("knowledge.list_documents", str(uuid.uuid4()), 0)["documents"]
        for asked in {one["document_id"] for one in found if "question" in one["metadata"].get("tags", [])} - answered:
            # The id of the answer follows from that of the question: it is made once.
            send("knowledge.create_document", f"re {asked}", 1, document_id=str(uuid.uuid5(uuid.NAMESPACE_URL, asked)),
                 parent_id=asked, content={"mime_type": "text/markdown", "body": "seen"}, metadata={"title": "Answer"})
            answered.add(asked)
    except (OSError, ValueError, urllib.error.HTTPError):
        pass  # the hub is away, or wants us to wait
    time.sleep(1)
