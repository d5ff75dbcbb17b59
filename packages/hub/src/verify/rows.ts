import { errorText } from '@parley/protocol';
import { openTrialHome, type TrialHome, type Runtime } from './trial-home.ts';
import { headless, openTerminal, type Ready, startCodexServer, type Trial } from './sessions.ts';
import { openPlainHub, type PlainHub, runSelf, WORKSPACE } from './trial-hub.ts';
import { until } from './until.ts';

/** One way to call an agent that was connected with `parley init` and nothing else. */
export interface RowReport {
  row: string;
  works: boolean;
  /** From the message on disk, or the opening of the program where that came later, to the model seeing its wake. */
  ms?: number;
  reason?: string;
}

type PlainTrial = Trial & { hub: PlainHub };

/** How a person opens each program after `parley init`; one without a live door of its own is run without a terminal. */
const OPEN: Record<Runtime, (trial: PlainTrial) => Promise<Ready>> = {
  async codex({ place, bin }) {
    const server = await startCodexServer({ place, bin });
    const close = await openTerminal(place, bin, ['--remote', `unix://${server.socket}`]);
    return {
      agent: 'codex',
      async close() {
        await close();
        await server.close();
      },
    };
  },
  claude: async ({ place, bin }) => ({ agent: 'claude', close: await openTerminal(place, bin, []) }),
  opencode: (trial) => headless(trial, ['acp']),
};

const AGENT: Record<Runtime, string> = { codex: 'codex', claude: 'claude', opencode: 'managed' };

/** Calls a real program as agents and people do: before it is opened, when it rests, and after the hub was killed. */
export async function tryRows(options: {
  runtime: Runtime;
  bin: string;
  path: string;
  self: readonly string[];
  onRow?: (report: RowReport) => void;
}): Promise<RowReport[]> {
  const { runtime, bin, self } = options;
  const place = await openTrialHome(runtime, options.path);
  const rows: RowReport[] = [];
  const note = (report: RowReport): void => {
    rows.push(report);
    options.onRow?.(report);
  };
  try {
    const hub = await openPlainHub(self, place);
    let ready: Ready | undefined;
    try {
      await connect(self, { place, hub, runtime, bin });
      const agent = AGENT[runtime];
      const early = [await say(hub, agent, 'agent'), await say(hub, agent, 'person')];
      await hub.restart();
      const openedAt = performance.now();
      ready = await OPEN[runtime]({ place, hub, bin, self });
      for (const call of early) note(await reached(place, { ...call, at: openedAt }, 'before it was opened'));
      for (const when of ['at rest', 'after the hub was killed']) {
        if (when !== 'at rest') await hub.restart();
        for (const by of ['agent', 'person'] as const)
          note(await reached(place, await say(hub, agent, by), when));
      }
      return rows;
    } finally {
      await ready?.close?.();
      await hub.close();
    }
  } finally {
    await place.close();
  }
}

/** `parley init`, as a person types it. */
async function connect(
  self: readonly string[],
  { place, hub, runtime, bin }: { place: TrialHome; hub: PlainHub; runtime: Runtime; bin: string },
): Promise<void> {
  const named = runtime === 'opencode' ? [] : ['--bin', bin];
  await runSelf(self, place, ['init', runtime, ...named, '--workspace', WORKSPACE, '--data', hub.data]);
}

interface CallRow {
  by: 'agent' | 'person';
  thread_id: string;
  at: number;
}

/** A message that calls upon the agent, in a thread of its own. */
async function say(hub: PlainHub, agent: string, by: CallRow['by']): Promise<CallRow> {
  const caller = hub.as(by === 'agent' ? 'peer' : 'asker', by === 'agent' ? 'worker' : 'operator');
  const { thread_id } = await caller.create_thread({ title: by, participants: [agent, 'third'] });
  const words = by === 'agent' ? { body: 'are you there?', to: agent } : { body: `@${agent} are you there?` };
  await caller.post_message({ thread_id, schema_version: 1, ...words });
  return { by, thread_id, at: performance.now() };
}

async function reached(place: TrialHome, { by, thread_id, at }: CallRow, when: string): Promise<RowReport> {
  const row = `called by ${by === 'agent' ? 'an agent' : 'a person'}, ${when}`;
  try {
    await until('the model saw it', async () => place.seenAt(thread_id) !== undefined);
    return { row, works: true, ms: Math.max(0, Math.round((place.seenAt(thread_id) ?? at) - at)) };
  } catch (error) {
    return { row, works: false, reason: errorText(error) };
  }
}
