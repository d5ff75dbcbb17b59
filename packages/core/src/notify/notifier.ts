import { everyAgent } from '../agents/view.ts';
import { hubCaller } from '../hub-caller.ts';
import { createLogFollower, eachEntry } from '../log-follower.ts';
import { createLogPositions } from '../log-positions.ts';
import { WORKSPACES } from '../log.ts';
import { everyRecord } from '../record-pages.ts';
import { CHANNELS_TOPIC, type ChannelRecord, type Notice } from './notice.ts';
import { type Occasion, occasionOf, troubleOf } from './occasions.ts';
import { createOutbox, type OutboxPorts, type OutboxSettings } from './outbox.ts';

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

export interface NotifierDeps extends OutboxPorts {
  settings: NotifySettings;
  onFault: (error: unknown) => void;
}

/** Tells people what concerns them. */
export interface Notifier {
  start(): Promise<void>;
  close(): Promise<void>;
}

/** What comes within that time is read at once. */
const REST_MS = 50;

/** Tells people what concerns them, once, also across a restart: follows the log, looks at the agents now and then. */
export function createNotifier(deps: NotifierDeps): Notifier {
  const { store, clock, chance, feed, settings } = deps;
  const closing = new AbortController();
  const outbox = createOutbox(deps, closing.signal);
  const added = feed.listen(CHANNELS_TOPIC);
  let channels: readonly ChannelRecord[] = [];
  let looking: Promise<void> = Promise.resolve();
  let looker: NodeJS.Timeout | undefined;

  async function allChannels(): Promise<ChannelRecord[]> {
    const found: ChannelRecord[] = [];
    for await (const one of everyRecord(store, 'channel', undefined, ({ channel_id }) => channel_id))
      found.push(one);
    return found;
  }

  async function consider(
    entry: Parameters<typeof occasionOf>[0],
    workspace_id: string,
    own: readonly ChannelRecord[],
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
      own.filter(({ created_at }) => created_at <= entry.created_at),
    );
  }

  /** Puts an occasion into the outbox of everybody who wants to know of it. */
  async function tell(occasion: Occasion, to: readonly ChannelRecord[]): Promise<void> {
    const { people, ...words } = occasion;
    const now = clock.now();
    const grace = occasion.kind === 'mention' ? settings.graceMs : 0;
    const notices = to
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
  async function lookAtAgents(): Promise<void> {
    const all = await allChannels();
    // A first channel may have come whose ring was lost.
    if (channels.length === 0 && all.length > 0) feed.ring(CHANNELS_TOPIC);
    for (const workspace_id of new Set(all.map((one) => one.workspace_id))) {
      const own = all.filter((one) => one.workspace_id === workspace_id);
      for await (const agent of everyAgent(deps, hubCaller(workspace_id))) {
        if (agent.state !== 'stuck' && agent.state !== 'error') continue;
        const since = Date.parse(agent.since);
        const wait = agent.state === 'stuck' ? settings.troubleAfterMs : 0;
        if (clock.now() - since < wait) continue;
        const reported = own.filter(({ created_at }) => Date.parse(created_at) <= since + wait);
        const fresh = await Promise.all(
          reported.map(async (one) => ((await notifiedLately(one, agent.agent_id)) ? [] : [one])),
        );
        await tell(troubleOf(agent), fresh.flat());
      }
    }
  }

  async function notifiedLately(
    { workspace_id, channel_id }: ChannelRecord,
    agentId: string,
  ): Promise<boolean> {
    const prefix = `${channel_id} trouble:${agentId}:`;
    const query = { kind: 'notice', workspace_id, prefix, descending: true, limit: 1 } as const;
    const [last] = await store.records(query);
    return last !== undefined && clock.now() - Date.parse(last.created_at) < settings.repeatMs;
  }

  const look = eachEntry(async (entry, workspace_id, signal) => {
    const own = channels.filter((one) => one.workspace_id === workspace_id);
    if (own.length > 0) await consider(entry, workspace_id, own);
    return !signal.aborted;
  });
  const follower = createLogFollower(deps, {
    topics: WORKSPACES,
    positions: createLogPositions(deps, 'notify'),
    restMs: REST_MS,
    /** As long as nobody wants to be told of anything, nothing is read, and no post pays for it. */
    async passedBy(_watch, signal) {
      if (channels.length === 0) channels = await allChannels();
      if (channels.length > 0) return false;
      await added.next(signal);
      return true;
    },
    async take(...page) {
      // Read after the page: whoever had a channel before something happened is told of it.
      channels = await allChannels();
      return look(...page);
    },
  });

  return {
    async start() {
      await outbox.start();
      await follower.start();
      looker = setInterval(() => {
        looking = looking.then(lookAtAgents).catch(deps.onFault);
      }, settings.lookMs).unref();
    },
    async close() {
      clearInterval(looker);
      closing.abort();
      await follower.close();
      added.close();
      await looking;
      await outbox.close();
    },
  };
}
