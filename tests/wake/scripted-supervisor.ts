import { openAgent } from '@parley/client';
import { WebSocket } from 'ws';

/** A supervisor as the hub meets it on `/ws`: the test says how long the person has been idle. */
export interface ScriptedSupervisor {
  /** Milliseconds since the last keystroke; undefined when nobody has typed. */
  humanIdleMs: number | undefined;
  alive: boolean;
  /** What `deliver` answers. */
  answer: Record<string, unknown>;
  /** How often it was asked for its state. */
  looks: number;
  delivered: Record<string, unknown>[];
  close(): Promise<void>;
}

/** Connects a supervisor of a managed session. */
export async function openSupervisor(url: string, token: string): Promise<ScriptedSupervisor> {
  let opened = (): void => {};
  const open = new Promise<void>((resolve) => (opened = resolve));
  const self: ScriptedSupervisor = {
    humanIdleMs: undefined,
    alive: true,
    answer: { delivered: true, proof: 'runtime_status' },
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
      state() {
        self.looks++;
        return { alive: self.alive, human_idle_ms: self.humanIdleMs };
      },
      deliver(errand) {
        self.delivered.push(errand);
        return self.answer;
      },
    },
    onConnection: (state) => (state === 'open' ? opened() : undefined),
  });
  await open;
  return self;
}
