import { readdirSync } from 'node:fs';

import type { ErrorCode, ErrorEnvelope, InputOf, OperationName, OutputOf } from '@parley/protocol';
import type { RecordReport } from '@parley/store-sqlite';
import { afterAll, afterEach, beforeAll, expect, vi } from 'vitest';

import { v1Driver } from './call.ts';
import type { Answer, CallOptions, FaceDriver } from './face-driver.ts';
import { checkEnded, checkRunning, emptyLedger, type Ledger, note } from './oracle.ts';
import { closeConnections } from './send.ts';
import { freshFolder, type HubOptions, type HubProcess, startHub } from './start-hub.ts';
import { isOfOwnTime, linesOf, recordOf } from './stored-record.ts';
import { type Identity, registerSigner, type Signer } from './tokens.ts';

/** Someone who calls the hub, over one face. */
export interface Participant {
  agent_id: string;
  token: string;
  /** Calls with any input, good or bad. */
  call<N extends OperationName>(operation: N, input: unknown, options?: CallOptions): Promise<Answer<N>>;
  /** Calls what must succeed. */
  ok<N extends OperationName>(
    operation: N,
    input: InputOf<N> & Record<string, unknown>,
  ): Promise<OutputOf<N>>;
  /** Calls what must be refused with this code, in the face's form. */
  refused(operation: OperationName, input: unknown, code: ErrorCode): Promise<ErrorEnvelope['error']>;
  /** A thread of this caller with others. */
  thread(...others: string[]): Promise<string>;
  /** A chat message. */
  say(thread_id: string, body: string, more?: Record<string, unknown>): Promise<OutputOf<'post_message'>>;
}

/** One hub for a whole test file, with a registered key; the oracle looks after each test and at the end. */
export interface Scene {
  readonly hub: HubProcess;
  readonly signer: Signer;
  readonly ledger: Ledger;
  as(agent: string, who?: Omit<Identity, 'agent'> & { face?: FaceDriver }): Participant;
  with(agent_id: string, token: string, face?: FaceDriver): Participant;
  counts(): Promise<RecordReport['counts']>;
  /** Runs what must change nothing that is stored. */
  unchanged<T>(run: () => Promise<T>): Promise<T>;
}

/** How far the number of open descriptors may be from the start once all clients have gone; the thread that searches begins with the first search and has some of its own. */
const SPARE_DESCRIPTORS = 26;

/** Starts a hub before the tests of a file and puts the oracle around them. */
export function useHub(options: HubOptions & { keysMayRepeat?: boolean } = {}): Scene {
  let hub: HubProcess | undefined;
  let signer: Signer | undefined;
  let descriptors: number[] = [];
  const ledger = emptyLedger();
  const data = options.data ?? freshFolder();

  beforeAll(async () => {
    [hub, signer] = await Promise.all([startHub({ ...options, data }), registerSigner('test-key', { data })]);
    descriptors = hub.pids.map(openDescriptors);
  });
  afterEach(async () => {
    if (hub !== undefined) await checkRunning(hub);
  });
  afterAll(async () => {
    if (hub === undefined) return;
    closeConnections();
    const { pids } = hub;
    await vi.waitFor(() => {
      const more = pids.map((pid, i) => openDescriptors(pid) - (descriptors[i] ?? 0));
      expect(Math.max(...more)).toBeLessThan(SPARE_DESCRIPTORS);
    }, 20_000);
    expect(await hub.stop()).toBe(0);
    await checkEnded(hub, ledger, options);
  });

  const scene: Scene = {
    get hub() {
      return there(hub);
    },
    get signer() {
      return there(signer);
    },
    ledger,
    as(agent, { face, ...who } = {}) {
      return scene.with(agent, there(signer).token({ agent, ...who }), face);
    },
    with: (agent_id, token, face = v1Driver) => participant(scene, agent_id, token, face),
    counts: () => countsOf(data),
    async unchanged(run) {
      const before = await stored(data);
      const result = await run();
      expect(await stored(data)).toEqual(before);
      return result;
    },
  };
  return scene;
}

/** All else that a record holds, word for word, and how much there is of what is not handed out. */
async function stored(data: string): Promise<{ counts: RecordReport['counts']; lines: string[] }> {
  const lines = (await linesOf(data)).filter((line) => !isOfOwnTime(line));
  return { counts: await countsOf(data), lines };
}

async function countsOf(data: string): Promise<RecordReport['counts']> {
  return (await (await recordOf(data)).check()).counts;
}

function participant(scene: Scene, agent_id: string, token: string, face: FaceDriver): Participant {
  for (const secret of [token, token.split('.')[2] ?? ''])
    if (secret.length > 20) scene.ledger.secrets.add(secret);
  const self: Participant = {
    agent_id,
    token,
    async call(operation, input, options) {
      const answer = await face.call(scene.hub.url, token, operation, input, options);
      note(scene.ledger, answer, input);
      return answer;
    },
    async ok(operation, input) {
      return succeeded(await self.call(operation, input));
    },
    async refused(operation, input, code) {
      return refused(await self.call(operation, input), code, face);
    },
    async thread(...others) {
      const { thread_id } = await self.ok('create_thread', { title: 'a thread', participants: others });
      return thread_id;
    },
    say: (thread_id, body, more = {}) =>
      self.ok('post_message', { thread_id, schema_version: 1, body, ...more }),
  };
  return self;
}

/** The result of an answer that must be good. */
export function succeeded<N extends OperationName>(answer: Answer<N>): OutputOf<N> {
  const { result, error } = answer;
  if (result === undefined) throw new Error(`${answer.operation} was refused: ${JSON.stringify(error)}`);
  return result;
}

/** The error of an answer that must be a refusal: its code, the status its face gives it, and the whole envelope. */
export function refused(
  answer: Answer,
  code: ErrorCode,
  face: FaceDriver = v1Driver,
): ErrorEnvelope['error'] {
  const { error } = answer;
  if (error === undefined) throw new Error(`${answer.operation} succeeded: ${JSON.stringify(answer.result)}`);
  expect({ code: error.code, status: answer.status }).toEqual({ code, status: face.statusOf(code) });
  expect(error.message).toMatch(/\S/);
  expect(error.request_id).toMatch(/^req_[\w-]{8,}$/);
  return error;
}

function there<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the hub has not started yet');
  return value;
}

/** How many descriptors a process holds. */
export function openDescriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}
