import { randomUUID } from 'node:crypto';

import { type Entry, toMessage } from '@parley/core';
import { HUB_NAME, AGENT_EVENTS, type LiveMessage } from '@parley/protocol';

const FIN_TEXT = 0x81;

/** Each message becomes bytes once, however many get it. */
const framesByMessage = new WeakMap<LiveMessage, Buffer>();
const messagesByEntry = new WeakMap<Entry, LiveMessage<'event'>>();

const eventTypes: ReadonlySet<unknown> = new Set(AGENT_EVENTS);

/** A whole unmasked text frame, as a server sends it. */
export function frameOf(message: LiveMessage): Buffer {
  let frame = framesByMessage.get(message);
  if (frame === undefined) framesByMessage.set(message, (frame = textFrame(JSON.stringify(message))));
  return frame;
}

/** An entry of a followed thread as an event. */
export function eventOf(entry: Entry): LiveMessage<'event'> {
  let message = messagesByEntry.get(entry);
  if (message === undefined) {
    const { thread_id, seq, sender_agent_id, created_at, metadata } = entry;
    const type = metadata?.['event_type'];
    message = {
      id: randomUUID(),
      type: 'event',
      timestamp: created_at,
      source: HUB_NAME,
      payload: {
        // The set is made of the types of events.
        eventType: eventTypes.has(type) ? (type as 'info') : 'info',
        agentId: sender_agent_id,
        data: { thread_id, seq, message: toMessage(entry) },
      },
    };
    messagesByEntry.set(entry, message);
  }
  return message;
}

function textFrame(text: string): Buffer {
  const size = Buffer.byteLength(text);
  const head = size < 126 ? 2 : size < 65_536 ? 4 : 10;
  const frame = Buffer.allocUnsafeSlow(head + size);
  frame[0] = FIN_TEXT;
  if (head === 2) frame[1] = size;
  else if (head === 4) {
    frame[1] = 126;
    frame.writeUInt16BE(size, 2);
  } else {
    frame[1] = 127;
    frame.writeBigUInt64BE(BigInt(size), 2);
  }
  frame.write(text, head);
  return frame;
}
