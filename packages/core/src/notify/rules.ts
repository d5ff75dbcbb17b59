import { ParleyError } from '@parley/protocol';

import type {
  AddChannel,
  ForgetNotices,
  Loaded,
  MakeNotices,
  MarkNotice,
  RemoveChannel,
  Rule,
  UpdateChannel,
} from '../commands.ts';
import type { PutRecord } from '../records.ts';
import { type KeptChannel, type Notice, noticeKey } from './notice.ts';

/** How many channels one person may have. */
const MAX_CHANNELS = 50;

const addChannel: Rule<AddChannel> = {
  needs: () => ({ records: true }),
  decide({ records }, { caller, channel }) {
    const known = records?.list({ kind: 'channel' }) ?? [];
    const own = known.filter(({ agent_id }) => agent_id === caller.agent_id);
    if (own.length >= MAX_CHANNELS)
      throw new ParleyError('CONFLICT', `you have ${MAX_CHANNELS} channels; remove some`);
    // A browser that subscribes again gives the same address: it is told once.
    const same = own.filter(({ target, kind }) => kind === 'push' && target.url === channel.target.url);
    return {
      changes: [],
      records: [putChannel(channel)],
      drops: same.map(({ channel_id: key, workspace_id }) => ({ kind: 'channel', workspace_id, key })),
      result: { channel },
    };
  },
};

const updateChannel: Rule<UpdateChannel> = {
  needs: ({ channel_id: key }) => ({ record: { kind: 'channel', key } }),
  decide(loaded, command) {
    const known = requireChannel(loaded, command);
    const { quiet, ...rest } = command.input;
    const { quiet: before, ...others } = known;
    const hours = quiet === undefined ? before : (quiet ?? undefined);
    const { name = known.name, wants = known.wants, paused = known.paused } = rest;
    const channel: KeptChannel = {
      ...others,
      name,
      wants,
      paused,
      ...(hours === undefined ? {} : { quiet: hours }),
    };
    return { changes: [], records: [putChannel(channel)], result: { channel } };
  },
};

const removeChannel: Rule<RemoveChannel> = {
  needs: ({ channel_id: key }) => ({ record: { kind: 'channel', key } }),
  decide(loaded, command) {
    const channel = requireChannel(loaded, command);
    const { workspace_id, channel_id: key } = channel;
    return { changes: [], drops: [{ kind: 'channel', workspace_id, key }], result: { channel } };
  },
};

/** Makes what is not made yet: who looks at the same entry twice tells of it once. */
const makeNotices: Rule<MakeNotices> = {
  needs: () => ({ records: true }),
  decide({ records }, { notices }) {
    const made = notices.filter(
      ({ channel_id, key }) => records?.get('notice', noticeKey(channel_id, key)) === undefined,
    );
    return { changes: [], records: made.map(putNotice), result: { notices: made } };
  },
};

/** How a notice stands after a try, and what its channel shows of that. */
const markNotice: Rule<MarkNotice> = {
  needs: ({ notice }) => ({ record: { kind: 'channel', key: notice.channel_id } }),
  decide({ record }, { notice, now, gone }) {
    const at = new Date(now).toISOString();
    const channel = record as KeptChannel | undefined;
    const drops =
      channel !== undefined && gone
        ? [{ kind: 'channel' as const, workspace_id: channel.workspace_id, key: channel.channel_id }]
        : [];
    const shown =
      channel === undefined || gone || notice.state === 'dropped'
        ? []
        : [putChannel(afterwards(channel, notice, at))];
    return { changes: [], records: [putNotice(notice), ...shown], drops, result: {} };
  },
};

function afterwards(channel: KeptChannel, { state, why }: Notice, at: string): KeptChannel {
  if (state !== 'sent') return why === undefined ? channel : { ...channel, last_failure: { at, why } };
  const { last_failure: _over, ...rest } = channel;
  return { ...rest, last_sent_at: at };
}

const forgetNotices: Rule<ForgetNotices> = {
  needs: () => ({}),
  decide: (_loaded, { caller: { workspace_id }, input: { keys } }) => ({
    changes: [],
    drops: keys.map((key) => ({ kind: 'notice', workspace_id, key })),
    result: {},
  }),
};

export const notifyRules = {
  add_channel: addChannel,
  update_channel: updateChannel,
  remove_channel: removeChannel,
  make_notices: makeNotices,
  mark_notice: markNotice,
  forget_notices: forgetNotices,
};

function requireChannel({ record }: Loaded, { caller }: UpdateChannel | RemoveChannel): KeptChannel {
  const channel = record as KeptChannel | undefined;
  if (channel?.agent_id !== caller.agent_id) throw new ParleyError('NOT_FOUND', 'no such channel of yours');
  return channel;
}

function putChannel(value: KeptChannel): PutRecord {
  const { workspace_id, channel_id: key, agent_id: owner, kind: mark } = value;
  return { kind: 'channel', workspace_id, key, mark, owner, value };
}

function putNotice(value: Notice): PutRecord {
  const { workspace_id, channel_id, key, state: mark } = value;
  return {
    kind: 'notice',
    workspace_id,
    key: noticeKey(channel_id, key),
    mark,
    owner: channel_id,
    value,
  };
}
