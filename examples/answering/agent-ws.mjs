/** Answers each message once, over a WebSocket. Needs PARLEY_URL, PARLEY_TOKEN and the name PARLEY_AGENT. */
import { randomUUID } from 'node:crypto';
import { WebSocket } from 'ws';

const { PARLEY_URL: url = '', PARLEY_TOKEN: token = '', PARLEY_AGENT: source = '' } = process.env;
const connect = () => {
  const ws = new WebSocket(`${url.replace('http', 'ws')}/ws`, ['parley.v1', `bearer.${token}`]);
  const say = (command, parameters) => {
    const head = { id: randomUUID(), timestamp: new Date().toISOString(), source, target: 'parley' };
    ws.send(JSON.stringify({ ...head, type: 'command', payload: { command, parameters } }));
  };
  let open; // the message that is being answered: one at a time, what is not acknowledged comes again
  const step = () => {
    if (open === undefined) return say('wait_for_messages', { limit: 1 });
    const { thread_id, message_id, seq } = open;
    const answer = { body: `seen #${seq}`, in_reply_to: message_id, idempotency_key: `re ${message_id}` };
    say('post_message', { thread_id, schema_version: 1, ...answer });
  };
  ws.on('open', () => say('register_agent', { name: source }));
  ws.on('error', () => {}).on('close', () => setTimeout(connect, 500));
  ws.addEventListener('message', ({ data }) => {
    const { type, payload } = JSON.parse(data);
    if (type === 'error') setTimeout(step, payload.details?.retry_after_ms ?? 1_000);
    if (payload.result?.thread_status !== undefined)
      return say('ack_read', { thread_id: open.thread_id, last_read_seq: open.seq });
    if (type === 'command_response') step((open = payload.result.messages?.[0]));
  });
};
connect();
