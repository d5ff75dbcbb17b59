import { type Caller, messageId, type Role } from '@parley/protocol';
import * as fc from 'fast-check';

import type { Command } from '../commands.ts';
import type { Store } from '../store.ts';
import { journalId } from '../threads/access.ts';
import { control } from './sample-control.ts';

const ROLE_BY_NAME: Record<string, Role> = {
  user: 'operator',
  chief: 'orchestrator',
  alice: 'worker',
  bob: 'worker',
  eve: 'observer',
};
const NAMES = Object.keys(ROLE_BY_NAME);
const START = Date.UTC(2030, 0, 1);

/** What somebody wants to do, drawn small so that threads, asks and side channels meet again and again. */
export const wish = fc.record({
  what: fc.constantFrom(
    ...([
      'post',
      'post',
      'finding',
      'status',
      'rename',
      'ack',
      'control',
      'control',
      'control',
      'task',
      'result',
    ] as const),
    ...([
      'presence',
      'open_side',
      'close_side',
      'register',
      'agent_status',
      'event',
      'command',
      'response',
    ] as const),
    ...(['ask', 'ask', 'answer', 'take', 'withdraw', 'expire', 'drop', 'heartbeat'] as const),
  ),
  who: fc.constantFrom('user', 'user', ...NAMES),
  place: fc.nat(3),
  number: fc.nat(8),
  control,
  now: fc.integer({ min: START - 5_000, max: START + 60_000 }),
});
export type Wish = typeof wish extends fc.Arbitrary<infer W> ? W : never;

/** A history in which everything happens at least once. */
export const EVERYTHING: Wish[] = (
  [
    ['post', 'alice', 0],
    ['finding', 'alice', 0],
    ['task', 'user', 0],
    ['result', 'bob', 3],
    ['control', 'user', 0],
    ['presence', 'alice', 0],
    ['rename', 'user', 0],
    ['status', 'alice', 1],
    ['open_side', 'alice', 0],
    ['close_side', 'alice', 0],
    ['register', 'alice', 0],
    ['event', 'alice', 0],
    ['command', 'user', 0],
    ['response', 'alice', 0],
    ['ask', 'alice', 0],
    ['answer', 'user', 0],
    ['take', 'alice', 0],
    ['ack', 'bob', 1],
    ['agent_status', 'alice', 0],
    ['heartbeat', 'alice', 0],
  ] as const
).map(([what, who, number], i) => ({
  what,
  who,
  number,
  place: 0,
  control: { invite: { participant_id: 'dora' } },
  now: START + i,
}));

/** Makes commands of wishes as the gate would, in a workspace of its own. */
export class SampleHistory {
  readonly #store: Store;
  readonly workspace_id: string;
  #salt = 0;
  #sides: { side_id: string; main_id: string }[] = [];
  #asks: { ask_id: string; thread_id: string }[] = [];

  constructor(store: Store, workspace_id: string) {
    this.#store = store;
    this.workspace_id = workspace_id;
  }

  caller(agent_id: string): Caller {
    const role = ROLE_BY_NAME[agent_id] ?? 'worker';
    return { agent_id, workspace_id: this.workspace_id, role, session_id: `${agent_id}-1` };
  }

  /** The two threads that a history begins with. */
  beginnings(): Command[] {
    return [0, 1].map((n) => ({
      type: 'create_thread',
      caller: this.caller('alice'),
      now: START,
      salt: this.#salt++,
      thread_id: this.#main(n),
      input: { title: `thread ${n}`, type: 'workflow', participants: ['bob', 'eve'] },
    }));
  }

  async command({ what, who, place, number, control: wanted, now }: Wish): Promise<Command> {
    const head = { caller: this.caller(who), now, salt: this.#salt++ };
    const journal = { ...head, thread_id: journalId(this.workspace_id, who) };
    const side = this.#sides[number % Math.max(1, this.#sides.length)];
    // Side channels are threads like others, once there are some.
    const thread_id = place > 1 && side !== undefined ? side.side_id : this.#main(place % 2);
    const here = { ...head, thread_id };
    const ask = this.#asks[number % Math.max(1, this.#asks.length)] ?? { ask_id: 'ask_none', thread_id };
    const content = { schema_version: 1, body: `word ${number} @bob` };
    switch (what) {
      case 'post':
        return { type: 'post_message', ...here, input: { ...content, kind: 'chat' } };
      case 'finding': {
        const event_type = ['finding_reported', 'finding_verified', 'finding_rejected', 'thread_escalated'][
          number % 4
        ];
        const metadata = { event_type, finding_id: `F${number % 2}` };
        return { type: 'post_message', ...here, input: { ...content, kind: 'event', metadata } };
      }
      case 'status': {
        const status = (['active', 'blocked', 'resolved', 'closed'] as const)[number % 4] ?? 'active';
        return { type: 'update_status', ...here, input: { status, reason: 'so' } };
      }
      case 'rename':
        return { type: 'rename_thread', ...here, input: { title: `title ${number}` } };
      case 'ack':
        return { type: 'ack_read', ...here, input: { last_read_seq: number } };
      case 'control':
        return { type: 'control_thread', ...here, input: { control: wanted } };
      case 'task':
        return {
          type: 'assign_task',
          ...here,
          input: { body: 'work', ...(number % 2 === 0 ? { to: 'bob' } : { role: 'tester' }) },
        };
      case 'result':
        return {
          type: 'report_result',
          ...here,
          input: { body: 'done', task: await this.#idAt(thread_id, number) },
        };
      case 'presence':
        return { type: 'note_presence', ...here, input: { transition: 'thinking.start', state: 'thinking' } };
      case 'open_side': {
        const side_id = `${this.workspace_id}-s${head.salt}`;
        this.#sides.push({ side_id, main_id: this.#main(place % 2) });
        const input = { title: 'aside', purpose: 'x', participants: number % 2 === 0 ? ['bob'] : ['ghost'] };
        return { type: 'open_side', ...head, thread_id: this.#main(place % 2), side_id, input };
      }
      case 'close_side': {
        const { side_id, main_id } = side ?? { side_id: 'none', main_id: this.#main(0) };
        return { type: 'close_side', ...head, thread_id: side_id, main_id, input: { summary: 'so it was' } };
      }
      case 'register':
        return {
          type: 'register_agent',
          ...journal,
          input: { name: `${who} ${number % 2}`, type: 'custom', capabilities: [] },
        };
      case 'agent_status':
        return {
          type: 'update_agent_status',
          ...head,
          input: { status: number % 2 === 0 ? 'busy' : 'online' },
        };
      case 'event':
        return {
          type: 'report_event',
          ...(number % 2 === 0 ? journal : here),
          input: { event_type: 'info', data: { message: `${number}` } },
        };
      case 'command':
        return {
          type: 'record_command',
          ...journal,
          input: { of_agent: who, command_id: `c${number}`, command: 'ping' },
        };
      case 'response':
        return {
          type: 'record_response',
          ...journal,
          input: { command_id: `c${number}`, success: true, execution_ms: 1 },
        };
      case 'ask': {
        const ask_id = `ask_${this.workspace_id}-${String(head.salt).padStart(4, '0')}`;
        const where = number % 2 === 0 ? journal : here;
        this.#asks.push({ ask_id, thread_id: where.thread_id });
        const input = {
          kind: 'question',
          prompt: 'may I?',
          risk: 'low',
          expires_in_ms: Math.max(1, START + 30_000 - head.now),
        } as const;
        return { type: 'raise_ask', ...where, ask_id, input };
      }
      case 'answer':
        return {
          type: 'answer_ask',
          ...head,
          ...ask,
          input: { decision: number % 2 === 0 ? 'approved' : 'denied' },
        };
      case 'take':
        return { type: 'take_ask', ...head, ...ask, input: {} };
      case 'withdraw':
        return { type: 'withdraw_ask', ...head, ...ask, input: { reason: 'no need' } };
      case 'expire':
        return { type: 'expire_ask', ...head, ...ask, input: {} };
      case 'drop':
        return { type: 'drop_ask', ...head, ...ask, input: { gone_since: new Date(head.now).toISOString() } };
      case 'heartbeat':
        break;
    }
    return {
      type: 'heartbeat',
      ...head,
      input: { runtime: 'x', status: 'idle', resumable: true, management_mode: 'managed' },
    };
  }

  #main(n: number): string {
    return `${this.workspace_id}-t${n}`;
  }

  async #idAt(thread_id: string, seq: number): Promise<string> {
    const { workspace_id } = this;
    const query = { workspace_id, thread_id, after: Math.max(0, seq - 1), limit: 1, max_bytes: 1 };
    const { entries } = await this.#store.page(query);
    return entries[0]?.message_id ?? messageId('unknown');
  }
}
