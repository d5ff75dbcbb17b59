import { LIMITS } from '@parley/protocol';

import { commandHead } from '../command-head.ts';
import { hoursUntil } from '../daily-hours.ts';
import { whySignedOut, whyTakenBack, withElders } from '../devices/authority.ts';
import { viewAgents, type ViewPorts } from '../agents/view.ts';
import { hubCaller } from '../hub-caller.ts';
import type { DevicePorts, NotifyPorts } from '../ports.ts';
import { everyRecord, takeDue } from '../record-pages.ts';
import { type ChannelRecord, type Notice, noticeKey, type NoticeOutcome } from './notice.ts';

/** What is due and not yet sent: on disk, so that a restart loses nothing. */
export interface Outbox {
  start(): Promise<void>;
  /** Keeps notices, those alone that are new, and sends them when their time has come. */
  add(notices: readonly Notice[]): Promise<void>;
  /** Ends when nothing is under way any more. */
  close(): Promise<void>;
}

export interface OutboxSettings {
  /** How long to wait after a first failure; twice as long after each further one. */
  retryMs: number;
  /** How long what could not be sent is tried again. */
  giveUpMs: number;
}

/** What is told depends on how agents are, and on whether the one who is told still has the right. */
export interface OutboxPorts extends ViewPorts, NotifyPorts, Pick<DevicePorts, 'authority'> {}

type OutboxDeps = OutboxPorts & { settings: OutboxSettings; onFault: (error: unknown) => void };

const LONGEST_WAIT_MS = 3_600_000;
/** How long what was sent is remembered, so that nobody is told again. */
const KEPT_MS = 7 * 86_400_000;
const SWEEP_MS = 3_600_000;
const MOST_TIMER_MS = 2_147_000_000;

export function createOutbox(deps: OutboxDeps, closing: AbortSignal): Outbox {
  const { store, clock, settings } = deps;
  const due = new Map<string, Notice>();
  /** One after the other to each channel, so that what replaces something comes after it. */
  const busy = new Map<string, Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  let sweeper: NodeJS.Timeout | undefined;

  const head = (workspace_id: string) => commandHead(deps, hubCaller(workspace_id));

  function hold(notice: Notice): void {
    due.set(noticeKey(notice.channel_id, notice.key), notice);
  }

  function plan(): void {
    clearTimeout(timer);
    if (closing.aborted || due.size === 0) return;
    let next = Infinity;
    for (const { channel_id, due_at } of due.values())
      if (!busy.has(channel_id)) next = Math.min(next, Date.parse(due_at));
    if (!Number.isFinite(next)) return;
    timer = setTimeout(sendDue, Math.max(0, Math.min(MOST_TIMER_MS, next - clock.now())));
  }

  function sendDue(): void {
    const now = clock.now();
    const ready = [...due.values()].filter((one) => Date.parse(one.due_at) <= now);
    for (const notice of ready) {
      const { channel_id } = notice;
      if (busy.has(channel_id) || closing.aborted) continue;
      const work = handle(notice)
        .catch((error: unknown) => {
          // What the disk did not take is tried again later, with the same name.
          const newest = due.get(noticeKey(channel_id, notice.key)) ?? notice;
          hold({ ...newest, due_at: new Date(clock.now() + settings.retryMs).toISOString() });
          deps.onFault(error);
        })
        .finally(() => {
          busy.delete(channel_id);
          plan();
        });
      busy.set(channel_id, work);
    }
    plan();
  }

  async function handle(notice: Notice): Promise<void> {
    const { workspace_id, channel_id } = notice;
    const query = { kind: 'channel', workspace_id, keys: [channel_id], limit: 1 } as const;
    const [channel] = await store.records(query);
    if (channel === undefined) return mark({ ...notice, state: 'dropped', why: 'the channel was removed' });
    if (channel.paused) return mark({ ...notice, state: 'dropped', why: 'the channel is paused' });
    if (await isSignedOut(channel))
      return mark({ ...notice, state: 'dropped', why: 'the device was signed out' }, true);
    for (const granted of await withElders(deps, [channel])) {
      const why = whyTakenBack(granted, deps.authority);
      if (why !== undefined) return mark({ ...notice, state: 'failed', why });
    }
    const stale = await staleness(notice, channel);
    if (stale !== undefined) return mark({ ...notice, state: 'dropped', why: stale });
    const until = channel.quiet === undefined ? undefined : hoursUntil(channel.quiet, clock.now());
    if (until !== undefined && !(channel.quiet?.urgent === true && notice.urgency === 'high'))
      return mark({ ...notice, due_at: new Date(until).toISOString() });
    const asks = await store.records({ kind: 'ask', workspace_id, marks: ['open'], limit: LIMITS.page_max });
    const outcome = await deps.messenger.send(channel, notice, asks.length);
    await mark(after(notice, outcome), outcome.gone);
  }

  /** True for the channel of a browser whose device was let in and is so no more. */
  async function isSignedOut({ workspace_id, device_id }: ChannelRecord): Promise<boolean> {
    if (device_id === undefined) return false;
    const query = { kind: 'device', workspace_id, keys: [device_id], limit: 1 } as const;
    const [granted] = await withElders(deps, await store.records(query));
    return granted !== undefined && whySignedOut(granted, deps.authority, clock) !== undefined;
  }

  /** Why a notice need not be sent any more. */
  async function staleness({ kind, subject, workspace_id }: Notice, channel: ChannelRecord) {
    const { ask_id, thread_id, seq, agent_id } = subject;
    if (kind === 'ask' && ask_id !== undefined) {
      const query = { kind: 'ask', workspace_id, keys: [ask_id], limit: 1 } as const;
      const [ask] = await store.records(query);
      return ask?.status === 'open' && Date.parse(ask.expires_at) > clock.now()
        ? undefined
        : 'settled meanwhile';
    }
    if (kind === 'mention' && thread_id !== undefined && seq !== undefined) {
      const { last_read_seq } = await store.reading(thread_id, channel.agent_id, workspace_id);
      return last_read_seq >= seq ? 'read meanwhile' : undefined;
    }
    if (kind !== 'trouble' || agent_id === undefined) return undefined;
    const [agent] = await viewAgents(deps, hubCaller(workspace_id), [agent_id]);
    return agent?.state === 'stuck' || agent?.state === 'error' ? undefined : 'over meanwhile';
  }

  function after(notice: Notice, { sent, why, final, gone, retry_after_ms = 0 }: NoticeOutcome): Notice {
    const tries = notice.tries + 1;
    if (sent) return { ...notice, tries, state: 'sent' };
    const wait = Math.max(retry_after_ms, Math.min(LONGEST_WAIT_MS, settings.retryMs * 2 ** (tries - 1)));
    const failed = { ...notice, tries, ...(why === undefined ? {} : { why }) };
    const over = clock.now() + wait - Date.parse(notice.created_at) > settings.giveUpMs;
    return final === true || gone === true || over
      ? { ...failed, state: 'failed' }
      : { ...failed, due_at: new Date(clock.now() + wait).toISOString() };
  }

  /** Puts on record what became of one; goes on with whatever stands there then. */
  async function mark(notice: Notice, gone = false): Promise<void> {
    const { channel_id, key, notice_id, tries, state, due_at, why } = notice;
    const outcome = {
      channel_id,
      key,
      notice_id,
      tries,
      state,
      due_at,
      ...(why === undefined ? {} : { why }),
    };
    const start = head(notice.workspace_id);
    const { result } = await store.transact({ type: 'mark_notice', ...start, input: { ...outcome, gone } });
    if (result.notice?.state === 'due') hold(result.notice);
    else due.delete(noticeKey(channel_id, key));
  }

  /** Forgets what was told long ago. */
  async function sweep(): Promise<void> {
    const due_by = new Date(clock.trusted() - KEPT_MS).toISOString();
    for (const ended of ['sent', 'dropped', 'failed'])
      await takeDue(store, { kind: 'notice', mark: ended, due_by }, async (workspace_id, over) => {
        const keys = over.map(({ channel_id, key }) => noticeKey(channel_id, key));
        const input = { keys, created_by: due_by };
        await store.transact({ type: 'forget_notices', ...head(workspace_id), input });
      });
  }

  return {
    async start() {
      const waiting = everyRecord(store, 'notice', 'due', (one) => noticeKey(one.channel_id, one.key));
      for await (const notice of waiting) hold(notice);
      await sweep().catch(deps.onFault);
      sweeper = setInterval(() => void sweep().catch(deps.onFault), SWEEP_MS).unref();
      plan();
    },
    async add(notices) {
      for (const workspace_id of new Set(notices.map((one) => one.workspace_id))) {
        const own = notices.filter((one) => one.workspace_id === workspace_id);
        const command = { type: 'make_notices', ...head(workspace_id), notices: own, input: {} } as const;
        const { result } = await store.transact(command);
        for (const notice of result.notices) hold(notice);
      }
      plan();
    },
    async close() {
      clearTimeout(timer);
      clearInterval(sweeper);
      await Promise.all(busy.values());
    },
  };
}
