import type { Entry } from '@parley/core';
import { type Ask, type Caller, type OutputOf, ParleyError } from '@parley/protocol';

import { createDocumentDoings } from './documents.ts';
import { type Hands, PASSING } from './hands.ts';
import { tokenOf } from './history.ts';
import { ACTORS, type Doing, type Step, WORKSPACES } from './script.ts';

/** Those who work with the hub. */
export interface Actors {
  act(step: Step & Doing): Promise<void>;
  beat(workspace: number, who: number): Promise<void>;
  /** Somebody was woken: it reads, and says so. */
  woken(workspace: string, agent: string, threadId: string): Promise<void>;
  watchChannels(): Promise<void>;
}

const MOST_FOLLOWERS = 8;

/** From how many participants on a thread is large, as it stands on the disk. */
type SizeOf = (workspace: string, threadId: string) => Promise<{ threshold: number; participants: number }>;

/** Makes the actors. */
export function createActors(hands: Hands, sizeOf: SizeOf): Actors {
  const { time, way, history, callerOf, knownIn, some, wait, attempt, insist, write } = hands;
  const documents = createDocumentDoings(hands);
  let reads = 0;

  async function read(who: Caller, thread_id: string): Promise<number> {
    const acknowledged = Math.max(
      0,
      ...[...history.requests.values()].map((one) => (one.thread_id === thread_id ? (one.seq ?? 0) : 0)),
    );
    const messages: OutputOf<'read_messages'>['messages'] = [];
    for (let since_seq = 0; ;) {
      const found = await insist(() => attempt(who, 'read_messages', { thread_id, since_seq, limit: 200 }));
      if ('refusal' in found) return 0;
      messages.push(...found.answer.messages);
      since_seq = found.answer.next_seq;
      if (!found.answer.has_more) break;
    }
    const name = `${thread_id} ${who.agent_id}`;
    const last = messages.at(-1)?.seq ?? 0;
    history.fetched.set(name, Math.max(last, history.fetched.get(name) ?? 0));
    if (messages.some(({ seq }, i) => seq !== i + 1))
      history.isBroken('seq is 1…n', `${name} read ${messages.map(({ seq }) => seq).join(' ')}`);
    if (last < acknowledged)
      history.isBroken('what is acknowledged is read', `${name} read up to ${last}, not to ${acknowledged}`);
    const foreign = WORKSPACES.find(
      (one) => one !== who.workspace_id && JSON.stringify(messages).includes(`tok-${one}-`),
    );
    if (foreign !== undefined) history.isBroken('no workspace sees another', `${name} read of ${foreign}`);
    return last;
  }

  async function ack(who: Caller, thread_id: string, last_read_seq: number, key: string): Promise<void> {
    const input = { thread_id, last_read_seq, idempotency_key: key };
    const found = await insist(() => attempt(who, 'ack_read', input));
    if ('refusal' in found) return;
    const name = `${thread_id} ${who.agent_id}`;
    history.acknowledgedReading.set(
      name,
      Math.max(last_read_seq, history.acknowledgedReading.get(name) ?? 0),
    );
  }

  async function settle(step: Step & (Doing & { kind: 'answer' | 'withdraw' })): Promise<void> {
    const ask = knownIn(step.workspace).asks.at(-1 - step.ask);
    if (ask !== undefined) await settleOne(step, ask);
  }

  async function settleOne(step: Step & (Doing & { kind: 'answer' | 'withdraw' }), ask: Ask): Promise<void> {
    const { ask_id } = ask;
    const key = `key-${step.n}`;
    const who =
      step.kind === 'answer'
        ? callerOf(step.workspace, 0)
        : callerOf(step.workspace, ACTORS.indexOf(ask.agent_id as never));
    const decision = step.kind === 'answer' && step.isApproved ? 'approved' : 'denied';
    const found = await insist<{ ask: Ask }>(() =>
      step.kind === 'answer'
        ? attempt(who, 'answer_ask', { ask_id, decision, reason: `by step ${step.n}`, idempotency_key: key })
        : attempt(who, 'withdraw_ask', { ask_id, idempotency_key: key }),
    );
    if ('answer' in found) {
      const { verdict } = found.answer.ask;
      if (verdict?.decision !== (step.kind === 'answer' ? decision : 'withdrawn'))
        history.isBroken(
          'one verdict per ask',
          `${ask_id}: the answer of step ${step.n} was taken and is not its verdict`,
        );
      history.sawAsk(found.answer.ask);
    } else if (found.refusal.details?.['ask'] !== undefined)
      history.sawAsk(found.refusal.details['ask'] as Ask);
  }

  async function follow(step: Step & (Doing & { kind: 'follow' })): Promise<void> {
    const who = callerOf(step.workspace, step.who);
    const thread_id = step.thread < 0 ? undefined : some(knownIn(step.workspace).threads, step.thread);
    if ((step.thread >= 0 && thread_id === undefined) || history.followings.length >= MOST_FOLLOWERS) return;
    const following = {
      workspace: who.workspace_id,
      who: who.agent_id,
      thread_id,
      seesAll: step.who < 2,
      entries: [] as { place: number; entry: never }[],
    };
    history.followings.push(following);
    for (;;) {
      const node = await way.up();
      // Of its own: a node that died never leaves what it waited for.
      const { signal } = new AbortController();
      const after = following.entries.at(-1)?.place ?? 0;
      const pages =
        thread_id === undefined
          ? node.log.followWorkspace(who, after, signal)
          : node.log.follow(who, thread_id, after, signal);
      try {
        for (;;) {
          const { value } = await way.answer<{ value?: unknown }>(node, pages.next());
          const rows =
            thread_id === undefined
              ? (value as { rows: { pos: number; entry: never }[] }).rows.map(({ pos, entry }) => ({
                  place: pos,
                  entry,
                }))
              : (value as { seq: number }[]).map((entry) => ({ place: entry.seq, entry: entry as never }));
          following.entries.push(...rows);
        }
      } catch (error) {
        if (error instanceof ParleyError && !PASSING.has(error.code)) {
          history.followings = history.followings.filter((one) => one !== following);
          return;
        }
        await wait(500);
      }
    }
  }

  /** What was seen of a thread, its beginning included, which nobody can answer. */
  function answerable(threadId: string, which: number): string | undefined {
    const seen = history.followings.flatMap(({ entries }) => entries.map(({ entry }) => entry));
    const ids = seen.filter(({ thread_id }) => thread_id === threadId).map(({ message_id }) => message_id);
    return which % 4 === 0 ? ids[0] : some(ids, which);
  }

  async function wake(
    step: Step & (Doing & { kind: 'trigger' | 'summon' }),
    thread_id: string | undefined,
  ): Promise<void> {
    if (thread_id === undefined) return;
    const target_agent_id = ACTORS[step.target] ?? '';
    const input = { thread_id, target_agent_id, timeout_ms: 20_000, idempotency_key: `key-${step.n}` };
    const found = await insist(() =>
      attempt(callerOf(step.workspace, step.who), 'trigger_participant', input),
    );
    if ('answer' in found) history.triggers.set(found.answer.trigger_id, `${thread_id} ${target_agent_id}`);
  }

  /** A thread is small up to its threshold and large with one more, unless that was changed while it was asked. */
  async function advice(step: Step & Doing, thread_id: string | undefined): Promise<void> {
    const who = callerOf(step.workspace, step.who);
    const isOfIt = ({ thread_id: of, type }: Entry): boolean => of === thread_id && type === 'message';
    const seen = history.followings
      .flatMap(({ entries }) => entries.map(({ entry }) => entry))
      .filter(isOfIt);
    const message_id = some(seen, step.n)?.message_id;
    if (thread_id === undefined || message_id === undefined) return;
    const before = await sizeOf(who.workspace_id, thread_id);
    const found = await insist(() => attempt(who, 'should_respond', { thread_id, message_id }));
    const { threshold, participants } = await sizeOf(who.workspace_id, thread_id);
    if ('refusal' in found || before.threshold !== threshold) return;
    const { rule } = found.answer;
    const isSmall = participants <= threshold;
    if ((rule === 'small_thread' && !isSmall) || (rule === 'large_thread' && isSmall))
      history.isBroken(
        'advice follows the size',
        `${thread_id}: ${rule} with ${participants} of ${threshold}`,
      );
  }

  async function act(step: Step & Doing): Promise<void> {
    const who = callerOf(step.workspace, step.who);
    const here = knownIn(step.workspace);
    const token = tokenOf(who.workspace_id, step.n);
    const thread_id = 'thread' in step && step.thread >= 0 ? some(here.threads, step.thread) : undefined;
    const key = `key-${step.n}`;
    switch (step.kind) {
      case 'create_thread': {
        const made = await write(step, 'thread.created', 'create_thread', {
          title: token,
          participants: [...ACTORS],
        });
        if (made !== undefined) here.threads.push(made.thread_id);
        return;
      }
      case 'post': {
        if (thread_id === undefined) return;
        const to = step.to < 0 ? {} : { to: ACTORS[step.to] };
        const in_reply_to = step.reply < 0 ? undefined : answerable(thread_id, step.reply);
        const reply = in_reply_to === undefined ? {} : { in_reply_to };
        const input = { thread_id, schema_version: 1, body: token, ...to, ...reply } as const;
        await write(step, 'message', 'post_message', input, step.repeatMs);
        return;
      }
      case 'read':
        if (thread_id !== undefined) await read(who, thread_id);
        return;
      case 'ack': {
        if (thread_id === undefined) return;
        const last = await read(who, thread_id);
        return ack(who, thread_id, Math.max(0, last - step.back), key);
      }
      case 'raise': {
        const about = { kind: 'approval', prompt: token, expires_in_ms: step.lastsMs } as const;
        const made = await write(
          step,
          'ask.raised',
          'raise_ask',
          thread_id === undefined ? about : { ...about, thread_id },
        );
        if (made === undefined) return;
        here.asks.push(made.ask);
        history.sawAsk(made.ask);
        if (step.lateMs === undefined) return;
        // Somebody makes up its mind in the very moment in which the time is up.
        await wait(Math.max(0, Date.parse(made.ask.expires_at) - time.now() + step.lateMs));
        const { at, n, workspace } = step;
        const late = { at, n: n + 1e6, workspace, who: 0, kind: 'answer', ask: 0, isApproved: true } as const;
        return settleOne(late, made.ask);
      }
      case 'answer':
      case 'withdraw':
        return settle(step);
      case 'control': {
        if (thread_id === undefined) return;
        const target = ACTORS[step.target] ?? '';
        const control = {
          mute: { mute: { targets: [target], for_seconds: 60 + (step.n % 600) } },
          unmute: { unmute: { targets: [target] } },
          pause: { pause: { on: true } },
          resume: { pause: { on: false } },
          ask_all: { invited_auto: { on: true } },
          ask_nobody: { invited_auto: { on: false } },
          size: { policy: { mode: 'auto' as const, threshold: ACTORS.length - (step.n % 2) } },
        }[step.control];
        await insist(() =>
          attempt(who, 'control_thread', {
            thread_id,
            control,
            idempotency_key: key,
          }),
        );
        return;
      }
      case 'status': {
        const { status } = step;
        if (thread_id !== undefined)
          await insist(() =>
            attempt(who, 'update_thread_status', {
              thread_id,
              status,
              reason: 'so it is',
              idempotency_key: key,
            }),
          );
        return;
      }
      case 'trigger':
        return wake(step, thread_id);
      case 'summon': {
        const other = some(here.threads, step.thread + 1);
        await Promise.all([wake(step, thread_id), wake({ ...step, n: step.n + 1e6 }, other)]);
        return;
      }
      case 'advice':
        return advice(step, thread_id);
      case 'beat':
        return beat(step.workspace, step.who);
      case 'create_document':
        return documents.create(step);
      case 'move_document':
        return documents.move(step);
      case 'revise':
        return documents.revise(step);
      case 'deliver':
        return documents.deliver(step);
      case 'redrive':
        return documents.redrive(step);
      case 'follow':
        return follow(step);
      case 'trespass': {
        const theirs = knownIn((step.workspace + 1) % WORKSPACES.length).threads;
        const target = some(theirs, step.thread);
        if (target === undefined) return;
        const found = await insist(() => attempt(who, 'read_messages', { thread_id: target }));
        if ('answer' in found)
          history.isBroken('no workspace sees another', `${who.workspace_id} read ${target}`);
      }
    }
  }

  async function beat(workspace: number, who: number): Promise<void> {
    const about = { runtime: 'codex_cli', status: 'idle', management_mode: 'managed' } as const;
    await insist(() => attempt(callerOf(workspace, who), 'heartbeat_session', about));
  }

  return {
    act,
    beat,
    async woken(workspace, agent, threadId) {
      const who = callerOf(WORKSPACES.indexOf(workspace as never), ACTORS.indexOf(agent as never));
      const last = await read(who, threadId);
      if (last > 0) await ack(who, threadId, last, `woken-${++reads}`);
    },
    async watchChannels() {
      for (const workspace of WORKSPACES.keys()) {
        const channel = {
          name: 'phone',
          kind: 'webhook',
          target: { url: 'https://example.org/hook' },
        } as const;
        await insist(() => attempt(callerOf(workspace, 0), 'add_channel', channel));
      }
    },
  };
}
