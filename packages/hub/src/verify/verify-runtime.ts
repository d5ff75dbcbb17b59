import type { DoorName } from '@parley/core';
import { findProgram, kindOf, versionOf } from '@parley/runtimes';

import { untried } from '../wake/versions.ts';
import { openPlace, type Runtime } from './place.ts';
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
}

const VERSION_MS = 20_000;

/** Wakes a real runtime through every door the hub has for it, before a scripted model, in a home of its own. */
export async function verifyRuntime(options: {
  runtime: Runtime;
  bin: string;
  path: string;
  self: readonly string[];
  onDoor?: (report: DoorReport) => void;
}): Promise<RuntimeReport> {
  const { runtime, self, onDoor } = options;
  const place = await openPlace(runtime, options.path);
  try {
    const bin = await findProgram(options.bin, place.env, process.cwd());
    const question = { command: bin, env: place.env, cwd: place.work, timeoutMs: VERSION_MS };
    const version = await versionOf(question);
    const hub = await openTrialHub(self, place, { runtime, bin, args: [] });
    try {
      const doors: DoorReport[] = [];
      for (const [door, prepare] of Object.entries(TRIALS[runtime]) as [DoorName, never][]) {
        const gate = shutFor({ runtime, bin, version }, door) === undefined ? 'open' : 'shut';
        const report = { door, gate, ...(await tryDoor({ place, hub, bin, self }, door, prepare)) } as const;
        doors.push(report);
        onDoor?.(report);
      }
      return { runtime, path: bin, version: version ?? null, doors };
    } finally {
      await hub.close();
    }
  } finally {
    await place.close();
  }
}

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
  const { details, message } = error as {
    details?: { passed?: { door: string; reason: string }[] };
    message: string;
  };
  return details?.passed?.find((one) => one.door === door)?.reason ?? message;
}
