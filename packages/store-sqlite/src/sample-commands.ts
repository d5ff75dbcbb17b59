import { type Command, workspaceTag } from '@parley/core';
import { type Caller, threadId, ulid } from '@parley/protocol';

const START = Date.parse('2026-01-01T00:00:00.000Z');

/** The caller of a sample agent. */
function sampleCaller(agent: string): Caller {
  return { agent_id: agent, workspace_id: 'w', role: 'worker', session_id: `${agent}-1` };
}

/** The id of the n-th sample thread. */
export function sampleThread(n: number): string {
  const digits = Uint8Array.from({ length: 16 }, (_, i) => (n * 31 + i * 7) % 32);
  return threadId(ulid(START + n, digits), workspaceTag('w'));
}

/** Builds commands as the gate would, with a clock that ticks one second a command. */
export class SampleCommands {
  #count = 0;

  create(thread: number, participants: string[], key?: string): Command {
    const input = { title: `thread ${thread}`, type: 'conversation' as const, participants };
    return {
      type: 'create_thread',
      ...this.#head('alice', 'create', key),
      thread_id: sampleThread(thread),
      input,
    };
  }

  post(
    agent: string,
    thread: number,
    body: string,
    options: { key?: string; replyTo?: string } = {},
  ): Command {
    const { key, replyTo } = options;
    const input = {
      schema_version: 1,
      kind: 'chat' as const,
      body,
      ...(replyTo === undefined ? {} : { in_reply_to: replyTo }),
      ...(key === undefined ? {} : { idempotency_key: key }),
    };
    return {
      type: 'post_message',
      ...this.#head(agent, sampleThread(thread), key),
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

  #head(agent: string, scope: string, key?: string) {
    const now = START + 1_000 * this.#count++;
    return {
      caller: sampleCaller(agent),
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
