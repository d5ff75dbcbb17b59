import { type Command, journalId, workspaceTag } from '@parley/core';
import { type Caller, type Control, threadId, ulid } from '@parley/protocol';

const START = Date.parse('2026-01-01T00:00:00.000Z');

/** The caller of a sample agent; the one called user is a person. */
function sampleCaller(agent: string, workspace_id = 'w'): Caller {
  const role = agent === 'user' ? 'operator' : 'worker';
  return { agent_id: agent, workspace_id, role, session_id: `${agent}-1` };
}

/** Side channels have ids of their own range. */
const FIRST_SIDE = 1_000;

/** The id of the n-th sample side channel. */
export function sampleSide(n: number): string {
  return sampleThread(FIRST_SIDE + n);
}

/** The id of the n-th sample ask, and the journal it stands in. */
function sampleAsk(n: number, agent: string): { ask_id: string; thread_id: string } {
  return { ask_id: `ask_${String(n).padStart(4, '0')}`, thread_id: journalId('w', agent) };
}

/** The id of the n-th sample thread. */
export function sampleThread(n: number): string {
  const digits = Uint8Array.from({ length: 16 }, (_, i) => (n * 31 + i * 7) % 32);
  return threadId(ulid(START + n, digits), workspaceTag('w'));
}

/** Builds commands as the gate would, with a clock that ticks one second a command. */
export class SampleCommands {
  #count = 0;

  create(thread: number, participants: string[], key?: string, workspace?: string): Command {
    const input = { title: `thread ${thread}`, type: 'conversation' as const, participants };
    return {
      type: 'create_thread',
      ...this.#head('alice', 'create', key, workspace),
      thread_id: sampleThread(thread),
      input,
    };
  }

  post(
    agent: string,
    thread: number,
    body: string,
    options: { key?: string; replyTo?: string; workspace?: string } = {},
  ): Command {
    const { key, replyTo, workspace } = options;
    const input = {
      schema_version: 1,
      kind: 'chat' as const,
      body,
      ...(replyTo === undefined ? {} : { in_reply_to: replyTo }),
      ...(key === undefined ? {} : { idempotency_key: key }),
    };
    return {
      type: 'post_message',
      ...this.#head(agent, sampleThread(thread), key, workspace),
      thread_id: sampleThread(thread),
      input,
    };
  }

  ack(agent: string, thread: number, seq: number): Command {
    const head = this.#head(agent, 'ack');
    return { type: 'ack_read', ...head, thread_id: sampleThread(thread), input: { last_read_seq: seq } };
  }

  status(agent: string, thread: number, status: 'active' | 'blocked' | 'resolved'): Command {
    const head = this.#head(agent, 'status');
    return {
      type: 'update_status',
      ...head,
      thread_id: sampleThread(thread),
      input: { status, reason: 'so it is' },
    };
  }

  heartbeat(agent: string): Command {
    const input = {
      runtime: 'codex',
      status: 'active' as const,
      resumable: true,
      management_mode: 'managed' as const,
    };
    return { type: 'heartbeat', ...this.#head(agent, 'heartbeat'), input };
  }

  control(agent: string, thread: number, control: Control, key?: string): Command {
    const head = this.#head(agent, `control ${thread}`, key);
    return { type: 'control_thread', ...head, thread_id: sampleThread(thread), input: { control } };
  }

  rename(agent: string, thread: number, title: string): Command {
    const head = this.#head(agent, 'rename');
    return { type: 'rename_thread', ...head, thread_id: sampleThread(thread), input: { title } };
  }

  openSide(agent: string, thread: number, side: number, key?: string, participants: string[] = []): Command {
    const input = { title: `aside ${side}`, purpose: 'detail', participants };
    const head = this.#head(agent, `side ${thread}`, key);
    return { type: 'open_side', ...head, thread_id: sampleThread(thread), side_id: sampleSide(side), input };
  }

  closeSide(agent: string, thread: number, side: number): Command {
    const head = this.#head(agent, 'side');
    const places = { thread_id: sampleSide(side), main_id: sampleThread(thread) };
    return { type: 'close_side', ...head, ...places, input: { summary: 'so it was' } };
  }

  ask(agent: string, ask: number, key?: string): Command {
    const input = {
      kind: 'question',
      prompt: `may I ${ask}?`,
      risk: 'low',
      expires_in_ms: 86_400_000,
    } as const;
    return { type: 'raise_ask', ...this.#head(agent, 'ask', key), ...sampleAsk(ask, agent), input };
  }

  answer(agent: string, ask: number): Command {
    const head = this.#head('user', 'answer');
    return { type: 'answer_ask', ...head, ...sampleAsk(ask, agent), input: { decision: 'approved' } };
  }

  register(agent: string, name: string): Command {
    const head = { ...this.#head(agent, 'register'), thread_id: journalId('w', agent) };
    return { type: 'register_agent', ...head, input: { name, type: 'custom', capabilities: ['ping'] } };
  }

  #head(agent: string, scope: string, key?: string, workspace?: string) {
    const now = START + 1_000 * this.#count++;
    return {
      caller: sampleCaller(agent, workspace),
      now,
      salt: this.#count % 1_000,
      ...(key === undefined
        ? {}
        : {
            idempotency: { scope, key, fresh_after: now - 86_400_000 },
          }),
    };
  }
}
