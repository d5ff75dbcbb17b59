import type { DoorName } from '@parley/core';
import { findProgram, kindOf, versionOf } from '@parley/runtimes';

import { untried } from '../wake/versions.ts';
import { openTrialHome, type Runtime } from './trial-home.ts';
import { type RowReport, tryRows } from './rows.ts';
import { type Trial, TRIALS } from './sessions.ts';
import { openTrialHub } from './trial-hub.ts';
import { until } from './until.ts';

/** What became of one door: whether it works with this version, and whether the hub opens it for this version. */
export interface DoorReport {
  door: DoorName;
  works: boolean;
  gate: 'open' | 'shut';
  proof?: string;
  /** From the message on disk to the model seeing its wake. */
  ms?: number;
  reason?: string;
}

export interface RuntimeReport {
  runtime: Runtime;
  path: string;
  version: string | null;
  doors: DoorReport[];
  /** How calls fare after `parley init` alone. */
  rows: RowReport[];
}

const VERSION_MS = 20_000;

/** Wakes a real runtime through every door the hub has for it, before a scripted model, in a home of its own. */
export async function verifyRuntime(options: {
  runtime: Runtime;
  bin: string;
  path: string;
  self: readonly string[];
  /** Calls after `parley init` are tried beside the doors, for the sake of time; one after the other, for the sake of figures. */
  oneAtATime?: boolean;
  onDoor?: (report: DoorReport) => void;
  onRow?: (report: RowReport) => void;
}): Promise<RuntimeReport> {
  const { runtime, self, onDoor } = options;
  const place = await openTrialHome(runtime, options.path);
  try {
    const bin = findProgram(options.bin, place.env, process.cwd());
    const question = { command: bin, env: place.env, cwd: place.work, timeoutMs: VERSION_MS };
    const version = await versionOf(question);
    const gateOf = (door: DoorName) =>
      shutFor({ runtime, bin, version }, door) === undefined ? 'open' : 'shut';
    const hub = await openTrialHub(self, place, { runtime, bin, args: [] });
    async function tryDoors(): Promise<DoorReport[]> {
      const doors: DoorReport[] = [];
      // The table pairs each door with its own trial; the compiler sees the union.
      for (const [door, prepare] of Object.entries(TRIALS[runtime]) as [DoorName, never][]) {
        const tried = await tryDoor({ place, hub, bin, self }, door, prepare);
        const report = { door, gate: gateOf(door), ...tried } as const;
        doors.push(report);
        onDoor?.(report);
      }
      return doors;
    }
    try {
      const trying = tryDoors();
      if (options.oneAtATime === true) await trying;
      // Both are seen to their end, whatever becomes of one: each clears away what it has started.
      const [doors, rows] = await Promise.allSettled([
        trying,
        gateOf(LIVE[runtime]) === 'open' ? tryRows({ ...options, bin }) : [],
      ]);
      if (doors.status === 'rejected') throw doors.reason;
      if (rows.status === 'rejected') throw rows.reason;
      return { runtime, path: bin, version: version ?? null, doors: doors.value, rows: rows.value };
    } finally {
      await hub.close();
    }
  } finally {
    await place.close();
  }
}

/** The door by which a program is called that somebody has open, or runs without a terminal. */
const LIVE: Record<Runtime, DoorName> = { codex: 'codex_socket', claude: 'command', opencode: 'managed' };

/** Why the hub, or `parley run`, does not open a door for this program; who speaks ACP says its version there. */
function shutFor(
  { runtime, bin, version }: { runtime: Runtime; bin: string; version: string | undefined },
  door: DoorName,
): string | undefined {
  if (door === 'supervisor' && kindOf(bin) === 'closed') return 'program_closed';
  return untried(door, version, runtime === 'opencode' ? 'other' : runtime);
}

type Prepare = (trial: Trial) => Promise<{ agent: string; close?(): Promise<void> }>;

async function tryDoor(
  trial: Trial,
  door: DoorName,
  prepare: Prepare,
): Promise<Pick<DoorReport, 'works' | 'proof' | 'ms' | 'reason'>> {
  const { hub, place } = trial;
  let ready: Awaited<ReturnType<Prepare>> | undefined;
  try {
    ready = await prepare(trial);
    const { agent } = ready;
    const asker = hub.as('asker');
    const { thread_id } = await asker.create_thread({ title: door, participants: [agent] });
    const { message_id } = await asker.post_message({ thread_id, schema_version: 1, body: 'are you there?' });
    const from = performance.now();
    const { trigger_id } = await asker.trigger_participant({ thread_id, target_agent_id: agent });
    const wake = async () => (await asker.get_message_evidence({ thread_id, message_id })).woken[0];
    await until('the wake came to its end', async () => !WAITING.has((await wake())?.result ?? 'asked'));
    const came = await wake();
    if (came?.result !== 'delivered' || came.door !== door)
      return { works: false, reason: `${came?.result ?? 'no wake'}: ${came?.why ?? came?.door ?? ''}` };
    await until('the model saw it', async () => place.seenAt(trigger_id) !== undefined);
    const ms = Math.max(0, Math.round((place.seenAt(trigger_id) ?? from) - from));
    return { works: true, ms, ...(came.proof === undefined ? {} : { proof: came.proof }) };
  } catch (error) {
    return { works: false, reason: reasonOf(error, door) };
  } finally {
    await ready?.close?.();
  }
}

const WAITING: ReadonlySet<string> = new Set(['asked', 'deferred', 'queued', 'delivering']);

/** Of a wake that failed, why this door was passed by; else what was said. */
function reasonOf(error: unknown, door: DoorName): string {
  // What the client throws of a wake that failed.
  const { details, message } = error as {
    details?: { passed?: { door: string; reason: string }[] };
    message: string;
  };
  return details?.passed?.find((one) => one.door === door)?.reason ?? message;
}
