import * as z from 'zod';

import { Channel, ChannelChange, ChannelChoice, ChannelTarget } from './channels.ts';
import { contract, READS, WRITES } from './contract.ts';
import { After, Limit, NextAfter } from './pages.ts';
import { IdempotencyKey } from './entities.ts';
import { Name } from './text.ts';

const listChannels = contract({
  name: 'list_channels',
  version: '1.0.0',
  title: 'List notification channels',
  description: 'How you are told when an agent needs you; operators only.',
  input: z.object({ limit: Limit, after: After }),
  output: z.object({
    channels: z.array(Channel),
    next_after: NextAfter,
    push_key: z.string().describe('the public key that a browser subscribes with'),
  }),
  annotations: READS,
  http: { method: 'GET', path: '/v1/channels' },
  essential: false,
});

const addChannel = contract({
  name: 'add_channel',
  version: '1.0.0',
  title: 'Add a notification channel',
  description: 'Web push to this device, an ntfy topic, or a webhook; operators only.',
  input: ChannelChoice.extend({
    kind: Channel.shape.kind,
    target: ChannelTarget,
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: z.object({
    channel: Channel,
    secret: z.string().optional().describe('webhook: signs what is sent; shown this once'),
  }),
  annotations: { ...WRITES, openWorldHint: true },
  essential: false,
  strict: true,
});

const updateChannel = contract({
  name: 'update_channel',
  version: '1.0.0',
  title: 'Change a notification channel',
  description: 'What it tells of, its quiet hours, its name, or a pause.',
  input: ChannelChange.extend({ channel_id: Name, idempotency_key: IdempotencyKey.optional() }),
  output: z.object({ channel: Channel }),
  annotations: WRITES,
  essential: false,
  strict: true,
});

const removeChannel = contract({
  name: 'remove_channel',
  version: '1.0.0',
  title: 'Remove a notification channel',
  description: 'Nothing more is sent there, and its address and keys are forgotten.',
  input: z.object({ channel_id: Name, idempotency_key: IdempotencyKey.optional() }),
  output: z.object({ channel: Channel }),
  annotations: { ...WRITES, destructiveHint: true },
  essential: false,
  strict: true,
});

const testChannel = contract({
  name: 'test_channel',
  version: '1.0.0',
  title: 'Try a notification channel',
  description: 'Sends a test at once, whatever its hours, and says what came of it.',
  input: z.object({ channel_id: Name, idempotency_key: IdempotencyKey.optional() }),
  output: z.object({ sent: z.boolean(), why: z.string().optional().describe('what went wrong') }),
  annotations: { ...WRITES, openWorldHint: true },
  essential: false,
  cost: 'message',
});

/** By name: the table of contracts takes them from here. */
export const channelContracts = {
  list_channels: listChannels,
  add_channel: addChannel,
  update_channel: updateChannel,
  remove_channel: removeChannel,
  test_channel: testChannel,
};
