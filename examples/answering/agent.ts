/** Answers each message once, whatever happens to the hub or to this program. Needs PARLEY_URL and PARLEY_TOKEN. */
import { createClient } from '@parley/client';

const { PARLEY_URL: url = '', PARLEY_TOKEN: token = '' } = process.env;
// However long the hub is away, or wants us to wait.
const client = createClient({ url, token, patienceMs: Infinity });
for (let since_seq = 0; ;) {
  const { messages, next_seq } = await client.wait_for_messages({ since_seq });
  for (const { thread_id, message_id, seq } of messages) {
    await client.post_message({
      thread_id,
      schema_version: 1,
      body: `seen #${seq}`,
      in_reply_to: message_id,
      idempotency_key: `re ${message_id}`,
    });
    await client.ack_read({ thread_id, last_read_seq: seq });
  }
  since_seq = next_seq;
}
