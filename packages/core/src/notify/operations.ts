import { ParleyError } from '@parley/protocol';

import { requirePerson } from '../devices/operations.ts';
import { operation, stamp } from '../operation.ts';
import type { DevicePorts, NotifyPorts, RecordPorts } from '../ports.ts';
import { readPage } from '../record-pages.ts';
import { CHANNELS_TOPIC, type ChannelRecord, type Notice, toChannel } from './notice.ts';

const listChannels = operation('list_channels', {
  authority: 'look',
  async run(deps: RecordPorts & NotifyPorts, caller, page) {
    requirePerson(caller);
    const { workspace_id, agent_id: owner } = caller;
    const query = { kind: 'channel', workspace_id, owner } as const;
    const { values, next_after } = await readPage(deps.store, query, page, ({ channel_id }) => channel_id);
    return { channels: values.map(toChannel), next_after, push_key: deps.messenger.pushKey };
  },
});

const addChannel = operation('add_channel', {
  authority: 'act',
  async run(
    deps: RecordPorts & DevicePorts & NotifyPorts,
    caller,
    { idempotency_key, kind, target, name, wants, quiet },
  ) {
    requirePerson(caller);
    checkTarget(kind, target);
    const why = await deps.messenger.refusal(target);
    if (why !== undefined) throw refuse('target.url', why);
    const head = stamp(deps, caller, 'add_channel', idempotency_key);
    const random = (bytes: number): string => Buffer.from(deps.chance.bytes(bytes)).toString('hex');
    const grant = deps.authority.of(caller);
    const channel: ChannelRecord = {
      channel_id: `${kind}-${random(6)}`,
      workspace_id: caller.workspace_id,
      agent_id: caller.agent_id,
      kind,
      name,
      target,
      wants,
      paused: false,
      created_at: new Date(head.now).toISOString(),
      ...(quiet === undefined ? {} : { quiet }),
      ...(kind === 'push' ? { device_id: caller.session_id } : {}),
      ...(kind === 'webhook' ? { secret: random(32) } : {}),
      ...(grant === undefined ? {} : { grant }),
    };
    const input = { kind, target, name, wants, ...(quiet === undefined ? {} : { quiet }) };
    const { result } = await deps.log.append({ type: 'add_channel', ...head, channel, input });
    deps.feed.ring(CHANNELS_TOPIC);
    const added = result.channel;
    return { channel: toChannel(added), ...(added.secret === undefined ? {} : { secret: added.secret }) };
  },
});

const updateChannel = operation('update_channel', {
  authority: 'act',
  async run(deps: RecordPorts, caller, { idempotency_key, channel_id, ...input }) {
    requirePerson(caller);
    const head = stamp(deps, caller, `update_channel:${channel_id}`, idempotency_key);
    const { result } = await deps.log.append({
      type: 'update_channel',
      ...head,
      channel_id,
      input: Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)),
    });
    return { channel: toChannel(result.channel) };
  },
});

const removeChannel = operation('remove_channel', {
  authority: 'act',
  async run(deps: RecordPorts, caller, { idempotency_key, channel_id }) {
    requirePerson(caller);
    const head = stamp(deps, caller, `remove_channel:${channel_id}`, idempotency_key);
    const { result } = await deps.log.append({ type: 'remove_channel', ...head, channel_id, input: {} });
    return { channel: toChannel(result.channel) };
  },
});

const testChannel = operation('test_channel', {
  authority: 'act',
  async run(deps: RecordPorts & NotifyPorts, caller, { channel_id }) {
    requirePerson(caller);
    const { workspace_id, agent_id: owner } = caller;
    const query = { kind: 'channel', workspace_id, owner, keys: [channel_id], limit: 1 } as const;
    const [channel] = await deps.store.records(query);
    if (channel === undefined) throw new ParleyError('NOT_FOUND', 'no such channel of yours');
    const now = new Date(deps.clock.now()).toISOString();
    const test: Notice = {
      notice_id: `test-${Buffer.from(deps.chance.bytes(8)).toString('hex')}`,
      workspace_id: caller.workspace_id,
      channel_id,
      key: 'test',
      kind: 'mention',
      title: 'Parley',
      body: 'This is how it looks when an agent needs you.',
      path: '/now',
      tag: 'test',
      urgency: 'normal',
      subject: {},
      created_at: now,
      due_at: now,
      tries: 0,
      state: 'due',
    };
    const { sent, why } = await deps.messenger.send(channel, test, 0);
    return { sent, ...(why === undefined ? {} : { why }) };
  },
});

function checkTarget(kind: ChannelRecord['kind'], { p256dh, auth, url }: ChannelRecord['target']): void {
  if (kind === 'push' && (p256dh === undefined || auth === undefined))
    throw refuse('target', 'a push needs p256dh and auth, as the browser gives them');
  if (kind === 'ntfy' && !/^\/[-\w]{1,64}$/.test(new URL(url).pathname))
    throw refuse('target.url', 'must be a topic of an ntfy server, such as https://ntfy.sh/my-topic');
}

function refuse(field: string, message: string): ParleyError {
  return new ParleyError('VALIDATION_ERROR', `${field}: ${message}`, { field });
}

/** By name: the table of operations takes them from here. */
export const channelOperations = {
  list_channels: listChannels,
  add_channel: addChannel,
  update_channel: updateChannel,
  remove_channel: removeChannel,
  test_channel: testChannel,
};
