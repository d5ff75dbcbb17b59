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
import { type ChannelRecord, type Notice, noticeKey } from './notice.ts';

/** How many channels one person may have. */
const MAX_CHANNELS = 50;

const ownChannels = (owner: string) => ({ kind: 'channel', owner, limit: MAX_CHANNELS }) as const;

const addChannel: Rule<AddChannel> = {
  needs: ({ caller }) => ({ records: true, lists: [ownChannels(caller.agent_id)] }),
  decide({ records }, { caller, channel }) {
    const own = records?.list(ownChannels(caller.agent_id)) ?? [];
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
    const channel: ChannelRecord = {
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
  needs: ({ notices }) => ({
    records: true,
    gets: notices.map(({ channel_id, key }) => ({ kind: 'notice', key: noticeKey(channel_id, key) })),
  }),
  decide({ records }, { notices }) {
    /** Made before, perhaps by a writer who was told of an error, and still to be sent. */
    const standing: Notice[] = [];
    const made = notices.flatMap((notice) => {
      const known = records?.get('notice', noticeKey(notice.channel_id, notice.key));
      if (known === undefined) return [notice];
      const isNewer = (notice.subject.seq ?? 0) > (known.subject.seq ?? 0);
      // What was sent stands for its time; what was not, since its message was read, must not hide the next.
      if (!isNewer || (known.state !== 'due' && known.state !== 'dropped')) {
        if (known.state === 'due') standing.push(known);
        return [];
      }
      return [known.state === 'due' ? { ...notice, due_at: known.due_at } : notice];
    });
    return { changes: [], records: made.map(putNotice), result: { notices: [...made, ...standing] } };
  },
};

/**
 * How a notice stands after a try, and what its channel shows of that. A newer one may have taken its place meanwhile:
 * what was sent stands for that as well, what came to nothing leaves it to its own try.
 */
const markNotice: Rule<MarkNotice> = {
  needs: ({ input }) => ({
    record: { kind: 'channel', key: input.channel_id },
    records: true,
    gets: [{ kind: 'notice', key: noticeKey(input.channel_id, input.key) }],
  }),
  decide({ record, records }, { input, now }) {
    const { channel_id, key, gone, notice_id, ...outcome } = input;
    const channel = record?.channel;
    const shown =
      channel === undefined || gone || outcome.state === 'dropped'
        ? []
        : [putChannel(afterwards(channel, outcome, new Date(now).toISOString()))];
    const drops =
      channel !== undefined && gone
        ? [{ kind: 'channel' as const, workspace_id: channel.workspace_id, key: channel_id }]
        : [];
    const known = records?.get('notice', noticeKey(channel_id, key));
    const isMeant = known?.notice_id === notice_id || outcome.state === 'sent';
    if (known?.state !== 'due' || !isMeant)
      return { changes: [], records: shown, drops, result: { notice: known ?? null } };
    const notice = { ...known, ...outcome };
    return { changes: [], records: [putNotice(notice), ...shown], drops, result: { notice } };
  },
};

function afterwards(
  channel: ChannelRecord,
  { state, why }: Pick<Notice, 'state' | 'why'>,
  at: string,
): ChannelRecord {
  if (state !== 'sent') return why === undefined ? channel : { ...channel, last_failure: { at, why } };
  const { last_failure: _over, ...rest } = channel;
  return { ...rest, last_sent_at: at };
}

/** One of the same key may have been made meanwhile: that stays. */
const forgetNotices: Rule<ForgetNotices> = {
  needs: ({ input }) => ({ records: true, gets: input.keys.map((key) => ({ kind: 'notice', key })) }),
  decide({ records }, { caller: { workspace_id }, input: { keys, created_by } }) {
    const old = keys.filter((key) => {
      const known = records?.get('notice', key);
      return known !== undefined && known.state !== 'due' && known.created_at <= created_by;
    });
    return {
      changes: [],
      drops: old.map((key) => ({ kind: 'notice', workspace_id, key })),
      result: {},
    };
  },
};

export const notifyRules = {
  add_channel: addChannel,
  update_channel: updateChannel,
  remove_channel: removeChannel,
  make_notices: makeNotices,
  mark_notice: markNotice,
  forget_notices: forgetNotices,
};

function requireChannel({ record }: Loaded, { caller }: UpdateChannel | RemoveChannel): ChannelRecord {
  const channel = record?.channel;
  if (channel?.agent_id !== caller.agent_id) throw new ParleyError('NOT_FOUND', 'no such channel of yours');
  return channel;
}

function putChannel(value: ChannelRecord): PutRecord {
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
