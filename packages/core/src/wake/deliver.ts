import { hideSecrets, inTime, LIMITS, keysOf } from '@parley/protocol';

import type { WakeStep } from '../commands.ts';
import { onAbort } from '../on-abort.ts';
import { summarize } from '../threads/summary.ts';
import type { ThreadState } from '../threads/state.ts';
import type { Delivery, Door, DoorRequest, WakeTarget } from './door.ts';
import type { Unread } from './gather.ts';
import type { Rung } from './ladder.ts';
import type { WakeProfile, WakerDeps } from './ports.ts';
import { wakePrompt } from './prompt.ts';
import type { Wake } from './wake.ts';

export interface AttemptDeps extends WakerDeps {
  note: (wake: Wake, step?: WakeStep) => Promise<unknown>;
  profileOf: (workspaceId: string, agentId: string) => WakeProfile | undefined;
  closing: AbortSignal;
}

/** How much longer than its own bound a door is waited for. */
const GRACE_MS = 2_000;

/** What is to be carried through which door, to whom. */
export interface Way {
  rung: Rung;
  door: Door;
  target: WakeTarget;
  thread: ThreadState;
  unread: Unread;
}

/** Carries a wake through one door: what goes in is on record before, and the door has its time. */
export function createDelivery(deps: AttemptDeps): (wake: Wake, way: Way) => Promise<Delivery> {
  const { settings, note, closing } = deps;

  async function deliver(wake: Wake, way: Way): Promise<Delivery> {
    const { rung, door, target } = way;
    const again = rung.door === wake.doubt;
    const doorRequest = await doorRequestOf(wake, way.thread, way.unread, rung, again);
    const command = door.describe?.(target, doorRequest);
    const { attempt: tries } = doorRequest;
    const before = { ...wake };
    Object.assign(wake, { state: 'delivering', door: rung.door, action: rung.action, tries });
    delete wake.doubt;
    if (door.endsWithHub !== true) wake.prompt = doorRequest.prompt;
    if (command === undefined) delete wake.command;
    else wake.command = command;
    const facts = {
      step: 'delivering',
      door: rung.door,
      ...(target.reach === undefined || rung.action !== 'trigger_runtime'
        ? {}
        : { to_session: target.reach }),
      ...(command === undefined ? {} : { command }),
      ...(again ? { again } : {}),
    };
    const text = `delivering through ${rung.door}${again ? ', unless it has come before the hub stopped' : ''}`;
    await note(wake, { text, facts }).catch((error: unknown) => {
      // Nothing was given: it is looked at anew from where it stood.
      become(wake, before);
      throw error;
    });
    const given = inTime(settings.proofMs, closing, (signal) =>
      door.deliver(target, doorRequest, signal).catch((error: unknown): Delivery => ({
        came: 'failed',
        reason: messageOf(error),
        ...(signal.aborted && !closing.aborted ? { mayHaveCome: true } : {}),
      })),
    );
    return bounded(given, settings.proofMs + GRACE_MS, closing);
  }

  async function doorRequestOf(
    wake: Wake,
    thread: ThreadState,
    unread: Unread,
    rung: Rung,
    again: boolean,
  ): Promise<DoorRequest> {
    const { trigger_id, thread_id, tries, force } = wake;
    // What came meanwhile is told of by another wake: this one may have come before it.
    if (!again) Object.assign(wake, { first_seq: unread.first, through_seq: unread.through });
    const prompt = (again ? wake.prompt : undefined) ?? (await promptOf(wake, thread, unread, rung));
    const attempt = again ? tries : tries + 1;
    const doorRequest = { trigger_id, thread_id, prompt, attempt, again, force: force !== undefined };
    return force === undefined ? doorRequest : { ...doorRequest, operator: force.by, audit: force.audit };
  }

  async function promptOf(wake: Wake, thread: ThreadState, unread: Unread, rung: Rung): Promise<string> {
    const { trigger_id, thread_id, by, note: said } = wake;
    return wakePrompt({
      trigger_id,
      thread_id,
      title: thread.title,
      agent_id: wake.target_agent_id,
      first_seq: unread.first,
      senders: unread.senders,
      by,
      note: said,
      summary: rung.action === 'spawn_session' ? await summaryOf(thread) : undefined,
      boundary: Buffer.from(deps.chance.bytes(12)).toString('hex'),
    });
  }

  async function summaryOf({ workspace_id, thread_id }: ThreadState): Promise<string | undefined> {
    const query = { workspace_id, thread_id, limit: LIMITS.summary_default, max_bytes: LIMITS.summary_bytes };
    const { located, entries } = await deps.store.tail(query);
    if (located.thread === undefined) return undefined;
    return (await summarize(located.thread, entries, deps.prose, closing)).summary;
  }

  return deliver;
}

function become(wake: Wake, other: Wake): void {
  for (const key of keysOf(wake)) delete wake[key];
  Object.assign(wake, other);
}

/** The delivery, or that it took too long; nobody waits for a door that has forgotten its bound. */
function bounded(given: Promise<Delivery>, ms: number, signal: AbortSignal): Promise<Delivery> {
  return new Promise((resolve) => {
    const end = (delivery: Delivery): void => {
      clearTimeout(timer);
      stay();
      resolve(delivery);
    };
    const stop = (): void => end({ came: 'failed', reason: 'hub_stops' });
    const late = { came: 'failed', reason: 'no_proof_in_time', mayHaveCome: true } as const;
    const timer = setTimeout(() => end(late), ms);
    const stay = onAbort(signal, stop);
    void given.then(end);
  });
}

/** What a door has thrown, as a person may read it. */
export function messageOf(error: unknown): string {
  return hideSecrets(error instanceof Error ? error.message : String(error)).slice(0, 500);
}
