import { ENTRY_SALT_BOUND, LIMITS } from '@parley/protocol';

import { viewAgents } from '../agents/view.ts';
import { hubCaller } from '../hub-caller.ts';
import { HUB_TOPIC } from '../log.ts';
import type { Deps } from '../operation.ts';
import { CHANNELS_TOPIC, type KeptChannel, type Notice } from './notice.ts';
import { type Occasion, occasionOf, troubleOf } from './occasions.ts';
import { createOutbox, type OutboxSettings } from './outbox.ts';

/** Tells people what concerns them, once, also across a restart. */
export interface Notifier {
  start(): Promise<void>;
  close(): Promise<void>;
}

export interface NotifySettings extends OutboxSettings {
  /** How long one who is called upon has to see it before a notification goes out. */
  graceMs: number;
  /** How often the agents are looked at: some get into trouble by mere silence, and no entry tells of that. */
  lookMs: number;
  /** How long an agent must be stuck before people are told. */
  troubleAfterMs: number;
  /** How long nothing more is told of the trouble of one agent. */
  repeatMs: number;
}

export interface NotifierDeps extends Deps {
  settings: NotifySettings;
  onFault: (error: unknown) => void;
}

const NAME = 'notify';
/** Its place stands beside the log under the hub's own name, which no workspace may bear. */
const PLACE = '(hub)';
const SAVE_MS = 2_000;
const RETRY_MS = 1_000;
/** What comes within that time is read at once. */
const REST_MS = 50;

/** Follows the log of the whole hub, looks at the agents now and then, and keeps what is due until it is sent. */
export function createNotifier(deps: NotifierDeps): Notifier {
  const { store, clock, chance, feed, settings } = deps;
  const closing = new AbortController();
  const outbox = createOutbox(deps, closing.signal);
  const isClosing = (): boolean => closing.signal.aborted;
  let position = 0;
  let saved = -1;
  let savedAt = 0;
  let following: Promise<void> = Promise.resolve();
  let looking: Promise<void> = Promise.resolve();
  let looker: NodeJS.Timeout | undefined;

  async function save(): Promise<void> {
    if (position === saved) return;
    const head = { caller: hubCaller(PLACE), now: clock.now(), salt: chance.below(ENTRY_SALT_BOUND) };
    await store.transact({ type: 'note_follower', ...head, input: { name: NAME, pos: position } });
    saved = position;
    savedAt = clock.monotonic();
  }

  const channelsOf = (workspace_id?: string): Promise<KeptChannel[]> =>
    store.records({ kind: 'channel', workspace_id, limit: LIMITS.records });

  async function follow(): Promise<void> {
    const bell = feed.subscribe(HUB_TOPIC);
    const added = feed.subscribe(CHANNELS_TOPIC);
    try {
      while (!closing.signal.aborted) {
        // As long as nobody wants to be told of anything, nothing is read, and no post pays for it.
        const channels = await channelsOf();
        if (channels.length === 0) {
          const asked = added.head;
          const head = await store.position();
          // One that came in between must not miss what followed it.
          if ((await channelsOf()).length > 0) continue;
          position = head;
          await added.next(asked, closing.signal);
          continue;
        }
        const query = { workspace_id: undefined, participant: undefined, after: position };
        const page = await store.workspace({
          ...query,
          limit: LIMITS.page_max,
          max_bytes: LIMITS.page_bytes,
        });
        for (const { entry, pos, workspace_id } of page.rows) {
          const own = channels.filter((one) => one.workspace_id === workspace_id);
          if (own.length > 0) await consider(entry, workspace_id, own);
          position = pos;
          if (isClosing()) return;
        }
        position = page.next;
        if (clock.monotonic() - savedAt >= SAVE_MS) await save();
        if (page.has_more) continue;
        await bell.next(position, closing.signal);
        await pause(REST_MS);
      }
    } finally {
      bell.close();
      added.close();
    }
  }

  async function consider(
    entry: Parameters<typeof occasionOf>[0],
    workspace_id: string,
    channels: readonly KeptChannel[],
  ): Promise<void> {
    const { type, thread_id } = entry;
    const needsThread = type === 'message' || type === 'task' || type === 'thread.status';
    if (!needsThread && !type.startsWith('ask.')) return;
    const query = { workspace_id, thread_id, after: 0, limit: 0, max_bytes: 0 };
    const thread = needsThread ? (await store.page(query)).located.thread : undefined;
    const occasion = occasionOf(entry, thread);
    if (occasion === undefined) return;
    await tell(
      occasion,
      channels.filter(({ created_at }) => created_at <= entry.created_at),
    );
  }

  /** Puts an occasion into the outbox of everybody who wants to know of it. */
  async function tell(occasion: Occasion, channels: readonly KeptChannel[]): Promise<void> {
    const { people, ...words } = occasion;
    const now = clock.now();
    const grace = occasion.kind === 'mention' ? settings.graceMs : 0;
    const notices = channels
      .filter(({ wants, paused }) => wants.includes(occasion.kind) && !paused)
      .filter(({ agent_id }) => people === undefined || people.includes(agent_id))
      .map(({ channel_id, workspace_id }): Notice => ({
        ...words,
        notice_id: `ntc_${Buffer.from(chance.bytes(12)).toString('hex')}`,
        channel_id,
        workspace_id,
        created_at: new Date(now).toISOString(),
        due_at: new Date(now + grace).toISOString(),
        tries: 0,
        state: 'due',
      }));
    await outbox.add(notices);
  }

  /** Tells of agents that fail, or have been stuck for a while. */
  async function look(): Promise<void> {
    const channels = await channelsOf();
    for (const workspace_id of new Set(channels.map((one) => one.workspace_id))) {
      const own = channels.filter((one) => one.workspace_id === workspace_id);
      for (const agent of await viewAgents(deps, workspace_id)) {
        if (agent.state !== 'stuck' && agent.state !== 'error') continue;
        const since = Date.parse(agent.since);
        const wait = agent.state === 'stuck' ? settings.troubleAfterMs : 0;
        if (clock.now() - since < wait) continue;
        const told = own.filter(({ created_at }) => Date.parse(created_at) <= since + wait);
        const fresh = await Promise.all(
          told.map(async (one) => ((await toldLately(one, agent.agent_id)) ? [] : [one])),
        );
        await tell(troubleOf(agent), fresh.flat());
      }
    }
  }

  async function toldLately({ workspace_id, channel_id }: KeptChannel, agentId: string): Promise<boolean> {
    const prefix = `${channel_id} trouble:${agentId}:`;
    const query = { kind: 'notice', workspace_id, prefix, descending: true, limit: 1 } as const;
    const [last] = await store.records(query);
    return last !== undefined && clock.now() - Date.parse(last.created_at) < settings.repeatMs;
  }

  /** Waits for a time, or for the end. */
  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        closing.signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      closing.signal.addEventListener('abort', done);
    });
  }

  async function followForever(): Promise<void> {
    while (!closing.signal.aborted) {
      await follow().catch(deps.onFault);
      if (!isClosing()) await pause(RETRY_MS);
    }
  }

  return {
    async start() {
      const [place] = await store.records({ kind: 'follower', workspace_id: PLACE, prefix: NAME, limit: 1 });
      position = place?.pos ?? (await store.position());
      await save();
      await outbox.start();
      following = followForever();
      looker = setInterval(() => {
        looking = looking.then(look).catch(deps.onFault);
      }, settings.lookMs).unref();
    },
    async close() {
      clearInterval(looker);
      closing.abort();
      await following;
      await looking;
      await outbox.close();
      await save().catch(deps.onFault);
    },
  };
}
