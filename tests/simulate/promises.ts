import type { Entry, Notice, Store } from '@parley/core';
import { type AskVerdict, HUB_NAME } from '@parley/protocol';

import { type History, wordsOf } from './history.ts';
import { WORKSPACES } from './script.ts';
import type { Outside } from './sessions.ts';

/** Holds what is durable against what was seen. */
export interface Promises {
  /** What must hold at any moment. */
  check(): Promise<void>;
  /** What must hold once all is quiet. */
  checkEnd(now: number): Promise<void>;
  /** From how many participants on a thread is large, and how many it has. */
  sizeOf(workspace: string, threadId: string): Promise<{ threshold: number; participants: number }>;
}

type Row = { pos: number; entry: Entry };

const ALL = 1_000_000;
/** Unless the thread says otherwise. */
const SMALL_THREAD = 5;

/** The reference: small, and knows nothing of how the hub does it. */
export function createPromises(truth: Store, outside: Outside, history: History): Promises {
  const cursors = new Map<string, number>();
  const finished = new Map<string, string>();
  const { isBroken } = history;

  async function logOf(workspace_id: string): Promise<Row[]> {
    const query = { workspace_id, participant: undefined, after: 0, limit: ALL, max_bytes: 1e12 };
    return (await truth.workspace(query)).rows;
  }

  /** Positions are 1…n, seqs of each thread 0…n, and no thread stands in two logs. */
  function checkPlaces(workspace: string, rows: readonly Row[], owners: Map<string, string>): void {
    const lastByThread = new Map<string, number>();
    for (const [i, { pos, entry }] of rows.entries()) {
      const { thread_id, seq } = entry;
      if (pos !== i + 1) isBroken('positions are 1…n', `${workspace}: ${pos} stands at ${i + 1}`);
      const last = lastByThread.get(thread_id) ?? -1;
      if (seq !== last + 1) isBroken('seq is 1…n', `${workspace} ${thread_id}: ${seq} follows ${last}`);
      lastByThread.set(thread_id, seq);
      const owner = owners.get(thread_id) ?? workspace;
      owners.set(thread_id, workspace);
      const foreign = WORKSPACES.find(
        (one) => one !== workspace && JSON.stringify(entry).includes(`tok-${one}-`),
      );
      if (owner !== workspace || foreign !== undefined)
        isBroken('no workspace sees another', `${thread_id} of ${owner} stands in ${workspace}`);
    }
  }

  /** What was acknowledged is there, once, where it was said to be; what was refused is not. */
  function checkRequests(workspace_id: string, rowsByToken: ReadonlyMap<string, Entry[]>): void {
    for (const { token, workspace, type, state, sender, thread_id, seq } of history.requests.values()) {
      if (workspace !== workspace_id) continue;
      const found = (rowsByToken.get(token) ?? []).filter((entry) => entry.type === type);
      if (found.length > 1) isBroken('one record per key', `${token} (${type}) stands ${found.length} times`);
      if (state === 'acknowledged' && found.length === 0)
        isBroken('nothing acknowledged is lost', `${token} (${type}) is gone`);
      if (state === 'refused' && found.length > 0)
        isBroken('what is refused is not written', `${token} (${type}) stands there`);
      const [entry] = found;
      if (entry === undefined || seq === undefined) continue;
      if (
        entry.seq !== seq ||
        entry.sender_agent_id !== sender ||
        entry.thread_id !== (thread_id ?? entry.thread_id)
      )
        isBroken('it stands where it was said to', `${token}: ${entry.thread_id} ${entry.seq}, not ${seq}`);
    }
  }

  /** An answer stands under a message of its thread; who opened a thread is not asked for all to hear. */
  function checkWords(rows: readonly Row[]): void {
    const seqById = new Map(rows.map(({ entry }) => [`${entry.thread_id} ${entry.message_id}`, entry.seq]));
    const creators = new Map<string, string>();
    for (const { entry } of rows) {
      const { thread_id, type, seq, in_reply_to, to, called = [], sender_agent_id } = entry;
      if (type === 'thread.created') creators.set(thread_id, sender_agent_id);
      if (type !== 'message') continue;
      const answered = in_reply_to === undefined ? 1 : seqById.get(`${thread_id} ${in_reply_to}`);
      if (answered === undefined || answered < 1 || answered > seq)
        isBroken('an answer has its message', `${thread_id} ${seq} answers ${in_reply_to} at ${answered}`);
      if (to === undefined && called.includes(creators.get(thread_id) ?? ''))
        isBroken('who opened a thread is not asked', `${thread_id} ${seq} calls ${called.join(' ')}`);
    }
  }

  async function checkCursors(workspaceId: string, rows: readonly Row[]): Promise<void> {
    for (const thread_id of new Set(rows.map(({ entry }) => entry.thread_id)))
      for (const { agent_id, last_read_seq } of await truth.cursors(thread_id, workspaceId)) {
        const name = `${thread_id} ${agent_id}`;
        const least = Math.max(cursors.get(name) ?? 0, history.acknowledgedReading.get(name) ?? 0);
        if (last_read_seq < least) isBroken('cursors never fall', `${name}: ${last_read_seq} after ${least}`);
        cursors.set(name, last_read_seq);
      }
  }

  /** Every ask has one verdict in the log, and its record says the same. */
  async function checkAsks(workspace_id: string, rows: readonly Row[]): Promise<void> {
    const saidByAsk = new Map<string, string[]>();
    for (const { entry } of rows) {
      const { ask_id, verdict } = (entry.metadata ?? {}) as { ask_id?: string; verdict?: AskVerdict };
      if (ask_id === undefined || verdict === undefined) continue;
      saidByAsk.set(ask_id, [...(saidByAsk.get(ask_id) ?? []), `${entry.type} ${wordsOf(verdict)}`]);
    }
    for (const ask of await truth.records({ kind: 'ask', workspace_id, limit: ALL })) {
      history.sawAsk(ask);
      const { verdict, expires_at } = ask;
      if (verdict !== undefined && verdict.by !== HUB_NAME && verdict.at >= expires_at)
        isBroken('no verdict after its time', `${ask.ask_id}: ${wordsOf(verdict)}, good until ${expires_at}`);
      const said = saidByAsk.get(ask.ask_id) ?? [];
      const verdicts = new Set(said.map((words) => words.slice(words.indexOf(' ') + 1)));
      const isTwice = new Set(said.map((words) => words.slice(0, words.indexOf(' ')))).size < said.length;
      if (verdicts.size > 1 || isTwice) isBroken('one verdict per ask', `${ask.ask_id}: ${said.join('; ')}`);
      const stands = ask.verdict === undefined ? undefined : wordsOf(ask.verdict);
      if ([...verdicts][0] !== stands)
        isBroken('one verdict per ask', `${ask.ask_id}: ${said.join()} in the log, ${stands} beside it`);
    }
  }

  /** What is done stays done, as it was. */
  async function checkDeliveries(workspace_id: string): Promise<void> {
    for (const delivery of await truth.records({ kind: 'delivery', workspace_id, limit: ALL })) {
      const { delivery_id, status } = delivery;
      const before = finished.get(delivery_id);
      const words = JSON.stringify(delivery);
      if (before !== undefined && before !== words)
        isBroken('a delivery is settled once', `${delivery_id}: ${before} became ${words}`);
      if (status === 'done') finished.set(delivery_id, words);
    }
  }

  function checkGiven(): void {
    for (const [trigger, times] of outside.givenByWake)
      if (times > 1) isBroken('a wake is given once', `${trigger} was given ${times} times`);
  }

  async function checkDone(workspace_id: string, rowsByToken: ReadonlyMap<string, Entry[]>): Promise<void> {
    const deliveries = await truth.records({ kind: 'delivery', workspace_id, limit: ALL });
    const byId = new Map(deliveries.map((one) => [one.delivery_id, one]));
    for (const { token, type, workspace, delivery_id, state } of history.requests.values()) {
      if (workspace !== workspace_id) continue;
      if (state === 'pending' && delivery_id === undefined)
        isBroken('every call is answered', `${token} waits`);
      if (delivery_id === undefined) continue;
      const times = (rowsByToken.get(token) ?? []).filter((entry) => entry.type === type).length;
      const delivery = byId.get(delivery_id);
      const wanted = delivery === undefined ? undefined : delivery.status === 'done' ? 1 : 0;
      if (delivery?.status === 'waiting') isBroken('a delivery comes to its end', `${delivery_id} waits`);
      else if (wanted !== undefined && times !== wanted)
        isBroken(
          'a delivery is carried out once',
          `${delivery_id} is ${delivery?.status} (${delivery?.error?.code}) and stands ${times} times`,
        );
      if (delivery?.status === 'dead' && delivery.error === undefined)
        isBroken('a dead delivery says why', delivery_id);
    }
  }

  /** Whoever was called has read it, or a wake tells what became of it. */
  async function checkWakes(workspace_id: string, rows: readonly Row[]): Promise<void> {
    const wakes = await truth.records({ kind: 'wake', workspace_id, limit: ALL });
    for (const { trigger_id, thread_id, target_agent_id, state, proof, code, skip } of wakes) {
      const asked = history.triggers.get(trigger_id) ?? `${thread_id} ${target_agent_id}`;
      if (asked !== `${thread_id} ${target_agent_id}`)
        isBroken(
          'a wake is for what was asked',
          `${trigger_id}: ${thread_id} ${target_agent_id}, not ${asked}`,
        );
      const times = outside.givenByWake.get(trigger_id) ?? 0;
      if (state === 'delivered' && proof !== 'cursor' && times !== 1)
        isBroken('a wake is given once', `${trigger_id} reads delivered and was given ${times} times`);
      if (state === 'skipped' && (skip === undefined || times > 0))
        isBroken('a wake says why not', `${trigger_id} reads skipped (${skip}) and was given ${times} times`);
      if (state === 'failed' && code === undefined) isBroken('a wake says why not', trigger_id);
      if (state === 'open' || state === 'delivering' || state === 'deferred' || state === 'running')
        isBroken('a wake comes to its end', `${trigger_id} is ${state}`);
    }
    for (const { entry } of rows) {
      if (entry.type !== 'message') continue;
      const { thread_id, seq, called = [] } = entry;
      for (const agent of called) {
        const name = `${thread_id} ${agent}`;
        const read = Math.max(cursors.get(name) ?? 0, history.fetched.get(name) ?? 0);
        const isTold = wakes.some(
          (wake) => wake.thread_id === thread_id && wake.target_agent_id === agent && wake.through_seq >= seq,
        );
        if (read < seq && !isTold) isBroken('a call is heard or on record', `${name} was called at ${seq}`);
      }
    }
  }

  /** Everything that one may see, in order and once. */
  function checkFollowings(workspace: string, rows: readonly Row[]): void {
    for (const { workspace: of, thread_id, who, entries } of history.followings) {
      if (of !== workspace) continue;
      const expected = rows
        .filter(({ entry }) => thread_id === undefined || (entry.thread_id === thread_id && entry.seq > 0))
        .map(({ pos, entry }) => ({ place: thread_id === undefined ? pos : entry.seq, entry }));
      const seen = entries.map(({ place, entry }) => `${place} ${entry.message_id}`);
      const wanted = expected.map(({ place, entry }) => `${place} ${entry.message_id}`);
      const name = `${who} in ${thread_id ?? workspace}`;
      const isAll = thread_id !== undefined || who === 'ann' || who === 'olga';
      const isSame = isAll ? seen.join() === wanted.join() : isPart(seen, wanted);
      if (!isSame)
        isBroken(
          'followers see all, in order',
          `${name} saw ${seen.length} of ${wanted.length}: ${firstGap(seen, wanted)}`,
        );
    }
  }

  function checkNotices(notices: readonly Notice[], now: number): void {
    for (const { notice_id, state, due_at } of notices)
      if (state === 'due' && Date.parse(due_at) < now - 60_000)
        isBroken('a notice comes to its end', notice_id);
    const names = new Map<string, string>();
    for (const { channel_id, key, notice_id } of outside.sent) {
      const before = names.get(`${channel_id} ${key}`) ?? notice_id;
      names.set(`${channel_id} ${key}`, notice_id);
      if (before !== notice_id) isBroken('people are told once', `${key}: ${before} and ${notice_id}`);
    }
  }

  return {
    async sizeOf(workspace, threadId) {
      const own = (await logOf(workspace)).filter(({ entry }) => entry.thread_id === threadId);
      const said = own.flatMap(({ entry }) => {
        const { control } = (entry.metadata ?? {}) as { control?: { policy?: { threshold?: number } } };
        return control?.policy?.threshold ?? [];
      });
      const [first] = own;
      const { participants = [] } = (first?.entry.metadata ?? {}) as { participants?: string[] };
      return { threshold: said.at(-1) ?? SMALL_THREAD, participants: participants.length };
    },
    async check() {
      checkGiven();
      const owners = new Map<string, string>();
      for (const workspace of WORKSPACES) {
        const rows = await logOf(workspace);
        checkPlaces(workspace, rows, owners);
        checkWords(rows);
        await checkCursors(workspace, rows);
        await checkAsks(workspace, rows);
        await checkDeliveries(workspace);
      }
    },
    async checkEnd(now) {
      await this.check();
      for (const workspace of WORKSPACES) {
        const rows = await logOf(workspace);
        const rowsByToken = byToken(rows);
        checkRequests(workspace, rowsByToken);
        await checkDone(workspace, rowsByToken);
        await checkWakes(workspace, rows);
        checkFollowings(workspace, rows);
        checkNotices(await truth.records({ kind: 'notice', workspace_id: workspace, limit: ALL }), now);
        for (const ask of await truth.records({
          kind: 'ask',
          workspace_id: workspace,
          marks: ['open'],
          limit: ALL,
        }))
          if (Date.parse(ask.expires_at) < now - 60_000) isBroken('an ask ends in time', ask.ask_id);
      }
    },
  };
}

function byToken(rows: readonly Row[]): Map<string, Entry[]> {
  const found = new Map<string, Entry[]>();
  for (const { entry } of rows)
    for (const token of new Set(
      `${entry.body} ${String(entry.metadata?.['title'])}`.match(/tok-\w+-\d+-end/g),
    ))
      found.set(token, [...(found.get(token) ?? []), entry]);
  return found;
}

/** Some of it, each once and in its order. */
function isPart(seen: readonly string[], wanted: readonly string[]): boolean {
  let at = 0;
  return seen.every((one) => (at = wanted.indexOf(one, at) + 1) > 0);
}

function firstGap(seen: readonly string[], wanted: readonly string[]): string {
  const at = seen.findIndex((one, i) => one !== wanted[i]);
  const i = at < 0 ? seen.length : at;
  return `${seen[i]} where ${wanted[i]} was to come`;
}
