#!/bin/sh
# Answers each message once, whatever happens to the hub or to this program. Needs PARLEY_URL and PARLEY_TOKEN.
call() { # the token goes by a file of its own, for everybody may read the arguments of a program
  printf 'header = "Authorization: Bearer %s"\n' "$PARLEY_TOKEN" |
    curl -sS --fail-with-body --max-time 60 -K - -H 'Content-Type: application/json' "$PARLEY_URL/v1/$1" -d "$2"
}
field() { printf '%s' "$page" | sed -n "s/.*\"$1\":\"\{0,1\}\([^\",}]*\).*/\1/p"; }

while :; do
  # One at a time: what is not acknowledged comes again.
  page=$(call wait_for_messages '{"limit":1,"timeout_ms":20000}') || { sleep 1; continue; }
  thread=$(field thread_id) message=$(field message_id) seq=$(field seq)
  [ -n "$message" ] || continue
  until call post_message "{\"thread_id\":\"$thread\",\"schema_version\":1,\"body\":\"seen #$seq\",
    \"in_reply_to\":\"$message\",\"idempotency_key\":\"re $message\"}" >/dev/null; do sleep 1; done
  until call ack_read "{\"thread_id\":\"$thread\",\"last_read_seq\":$seq}" >/dev/null; do sleep 1; done
done
