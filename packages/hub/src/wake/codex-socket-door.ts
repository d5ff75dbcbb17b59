import type { Delivery, Door, Look, WakeTarget } from '@parley/core';
import { codexSocket, type LiveCodex, openLiveCodex } from '@parley/runtimes';

import { VERSION } from '../version.ts';
import type { FindProfile } from './profile.ts';
import { untried } from './versions.ts';

const REQUEST_MS = 10_000;
/** How soon an idle Codex begins with what it was given; after that it is only queued. */
const SOON_MS = 3_000;

/** The door into a Codex that somebody has open: its own queue takes the prompt, the person's draft stays. */
export function createCodexSocketDoor({
  find,
  anyVersion,
}: {
  find: FindProfile;
  anyVersion: boolean;
}): Door {
  const open = new Set<LiveCodex>();

  async function enter(target: WakeTarget): Promise<LiveCodex | undefined> {
    const profile = find(target, 'codex', 'live');
    if (profile === undefined) return undefined;
    const codex = await openLiveCodex({
      socket: codexSocket(profile.home),
      clientInfo: { name: 'parley', version: VERSION },
      requestMs: REQUEST_MS,
    });
    open.add(codex);
    return codex;
  }

  function leave(codex: LiveCodex): void {
    open.delete(codex);
    codex.close();
  }

  return {
    name: 'codex_socket',
    serves: (target) => find(target, 'codex', 'live') !== undefined,
    async look(target): Promise<Look> {
      const codex = await enter(target).catch(() => undefined);
      if (codex === undefined) return { can: 'no', reason: 'no_open_codex' };
      try {
        const shut = anyVersion ? undefined : untried('codex_socket', codex.version);
        if (shut !== undefined) return { can: 'no', reason: shut };
        const loaded = await codex.loaded();
        return loaded.includes(target.native_id ?? '')
          ? { can: 'now' }
          : { can: 'no', reason: 'session_not_open' };
      } finally {
        leave(codex);
      }
    },
    async deliver(target, { prompt, trigger_id, force, again }, signal): Promise<Delivery> {
      const codex = await enter(target);
      if (codex === undefined) return { came: 'failed', reason: 'no_open_codex' };
      try {
        if (again && (await codex.holds(target.native_id ?? '', trigger_id))) {
          leave(codex);
          return { came: 'delivered', proof: 'runtime_record' };
        }
        const given = await codex.prompt(target.native_id ?? '', {
          text: prompt,
          mark: trigger_id,
          steer: force,
        });
        const ended = given.ended.finally(() => leave(codex));
        const arrives = given.arrived.then((by): Delivery & { came: 'delivered' } => ({
          came: 'delivered',
          proof: by === 'item' ? 'runtime_record' : 'runtime_status',
          ended,
        }));
        const soon = await within(arrives, given.wasBusy ? SOON_MS : undefined, signal);
        if (soon !== undefined) return soon;
        if (!given.wasBusy) throw new Error('no_proof_in_time');
        const lost = { came: 'failed', reason: 'Codex was closed before it came to it' } as const;
        return { came: 'queued', arrives: arrives.catch(() => lost) };
      } catch (error) {
        leave(codex);
        throw error;
      }
    },
    close: async () => open.forEach(leave),
  };
}

/** What comes in time; undefined when the time is up. */
async function within<T>(
  event: Promise<T>,
  ms: number | undefined,
  signal: AbortSignal,
): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    if (ms !== undefined) timer = setTimeout(() => resolve(undefined), ms);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  try {
    return await Promise.race([event, late]);
  } finally {
    clearTimeout(timer);
  }
}
