import { openAgent } from '@parley/client';
import { WebSocket } from 'ws';

/** A supervisor as the hub meets it on `/ws`: the test says how long the person has been idle. */
export interface ScriptedSupervisor {
  /** Milliseconds since the last keystroke; undefined when nobody has typed. */
  humanIdleMs: number | undefined;
  state: 'idle' | 'working' | 'blocked';
  /** Why it takes no text from anybody. */
  noPrompt: { detail: string; starting: boolean } | undefined;
  /** What `terminal_deliver` answers. */
  answer: () => Record<string, unknown>;
  /** How often it was asked for its state. */
  looks: number;
  delivered: Record<string, unknown>[];
  close(): Promise<void>;
}

/** Connects a supervisor of a managed session. */
export async function openSupervisor(
  url: string,
  token: string,
  humanIdleMs?: number,
): Promise<ScriptedSupervisor> {
  let opened = (): void => {};
  const open = new Promise<void>((resolve) => (opened = resolve));
  const self: ScriptedSupervisor = {
    humanIdleMs,
    state: 'idle',
    noPrompt: undefined,
    answer: () => ({ result: 'submitted', evidence: ['typed', 'seen', 'entered', 'working'] }),
    looks: 0,
    delivered: [],
    close: () => agent.close(),
  };
  const agent = await openAgent({
    url,
    token,
    name: 'supervised',
    runtime: 'codex_cli',
    WebSocket,
    // One whose hub was killed does not take long leave.
    patienceMs: 500,
    session: { management_mode: 'managed' },
    commands: {
      terminal_state() {
        self.looks++;
        const state = { state: self.state, source: 'report' };
        const no_prompt = self.noPrompt === undefined ? {} : { no_prompt: self.noPrompt };
        const quiet_ms = self.humanIdleMs ?? null;
        return { state, draft: false, quiet_ms, ...no_prompt, deferred: [], lock: null };
      },
      terminal_deliver(delivery) {
        self.delivered.push(delivery);
        return self.answer();
      },
      terminal_cancel: () => ({ cancelled: true }),
    },
    onConnection: (state) => (state === 'open' ? opened() : undefined),
  });
  await open;
  return self;
}
