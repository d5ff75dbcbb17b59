import * as z from 'zod';

import { contract, READS, WRITES } from './contract.ts';
import { Device, DeviceName } from './devices.ts';
import { IdempotencyKey, Role, Seq, Timestamp } from './entities.ts';
import { LIMITS } from './limits.ts';
import { After, Limit, NextAfter } from './pages.ts';
import { Name } from './text.ts';

const whoami = contract({
  name: 'whoami',
  version: '1.0.0',
  title: 'Who am I?',
  description: 'Whom you speak as, and how much is unread.',
  input: z.object({}),
  output: z.object({
    agent_id: Name,
    workspace_id: Name,
    role: Role,
    session_id: Name,
    read_only: z.boolean().describe('may look and change nothing'),
    unread: z.number().int().describe('messages of others that you have not acknowledged'),
    hub: z.object({ version: z.string(), now: Timestamp }),
  }),
  annotations: READS,
  http: { method: 'GET', path: '/v1/me' },
  essential: true,
});

const listDevices = contract({
  name: 'list_devices',
  version: '1.0.0',
  title: 'List devices',
  description: 'The browsers and tablets that are signed in to this workspace; operators only.',
  input: z.object({
    revoked: z.boolean().default(false).describe('those that were revoked, too'),
    limit: Limit,
    after: After,
  }),
  output: z.object({ devices: z.array(Device), next_after: NextAfter }),
  annotations: READS,
  http: { method: 'GET', path: '/v1/devices' },
  essential: false,
});

const pairDevice = contract({
  name: 'pair_device',
  version: '1.0.0',
  title: 'Pair a device',
  description: 'A code and a link, each good once and for a short time, by which a device signs in as you.',
  input: z.object({
    name: DeviceName.optional().describe('what the device is to be called'),
    read_only: z.boolean().default(false).describe('it may look and change nothing'),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: z.object({
    code: z.string().describe('to be typed'),
    key: z.string().describe('behind # in the link'),
    address: z.string().describe('where other devices find the hub, as it is configured'),
    read_only: z.boolean(),
    expires_at: Timestamp,
  }),
  annotations: WRITES,
  essential: false,
  strict: true,
});

const revokeDevice = contract({
  name: 'revoke_device',
  version: '1.0.0',
  title: 'Revoke a device',
  description: 'Sign a device out at once and for good; operators only.',
  input: z.object({ device_id: Name, idempotency_key: IdempotencyKey.optional() }),
  output: z.object({ device: Device }),
  annotations: WRITES,
  essential: false,
  strict: true,
});

const readLog = contract({
  name: 'read_log',
  version: '1.0.0',
  title: 'Read the log backwards',
  description:
    'What happened last in all threads you may see, the newest first, in the words of the events face.',
  input: z.object({
    before: Seq.optional().describe('next_before of the page before this one'),
    limit: z.number().int().min(1).max(LIMITS.page_max).default(LIMITS.page_default),
  }),
  output: z.object({
    entries: z.array(
      z.object({
        pos: Seq.describe('its position in the log of the workspace'),
        event: z.record(z.string(), z.unknown()),
      }),
    ),
    next_before: Seq.nullable(),
  }),
  annotations: READS,
  http: { method: 'GET', path: '/v1/log' },
  essential: false,
});

const describeHub = contract({
  name: 'describe_hub',
  version: '1.0.0',
  title: 'How the hub is',
  description:
    'Version, since when it runs, whether it takes writes, how far the log of your workspace has come, its keys; operators only.',
  input: z.object({}),
  output: z.object({
    version: z.string(),
    started_at: Timestamp,
    writable: z.boolean(),
    trouble: z.string().optional().describe('why it takes no writes'),
    rebuilt: z
      .array(z.enum(['threads', 'records', 'index']))
      .describe('what was gone or damaged beside the log and was made anew from it since the start'),
    position: Seq.describe('entries in the log of your workspace'),
    search: z
      .object({ behind: z.number().int().describe('entries'), lag_ms: z.number().int() })
      .describe('how far the index of words is behind the log of your workspace'),
    clock: z
      .object({
        ahead_ms: z
          .number()
          .int()
          .describe('how far it is ahead of the time that has surely passed; 0 while it is trusted'),
        believed_at: Timestamp.optional().describe('when a clock that has jumped ahead is believed'),
        jumps: z.array(z.object({ from: Timestamp, to: Timestamp })).describe('its last jumps'),
      })
      .describe('nothing is forgotten on the word of a clock that has jumped ahead'),
    connections: z.number().int().describe('agents of the workspace that are connected'),
    nodes: z
      .object({
        by: z.enum(['nats', 'postgres']).describe('what carries words between them'),
        connected: z
          .boolean()
          .describe('false: this node hears the others by looking at the log, each second'),
        trouble: z.string().optional().describe('why it is not connected'),
        others: z.number().int().describe('nodes that this one hears'),
      })
      .optional()
      .describe('the other nodes of the hub; left out where the record is in a folder'),
    event_loop: z
      .object({ active_ms: z.number(), idle_ms: z.number() })
      .describe('since its start; what lies between two looks tells how busy it was'),
    keys: z.array(
      z.object({
        kid: z.string(),
        own: z.boolean().describe('the hub signs with it'),
        created_at: Timestamp,
        retired_at: Timestamp.optional(),
        workspace: z.string().optional(),
      }),
    ),
  }),
  annotations: READS,
  http: { method: 'GET', path: '/v1/hub' },
  essential: false,
});

/** By name: the table of contracts takes them from here. */
export const hubContracts = {
  whoami,
  describe_hub: describeHub,
};

/** The same of what is for the person in charge. */
export const deskContracts = {
  list_devices: listDevices,
  pair_device: pairDevice,
  revoke_device: revokeDevice,
  read_log: readLog,
};
