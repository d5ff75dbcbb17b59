import type { Agent, AgentOptions } from '@parley/client';

export type { Agent };

type Options = Pick<AgentOptions, 'url' | 'token' | 'name' | 'metadata' | 'commands' | 'onConnection'>;

/** How long one try may take, and all tries of a call; longer outages are the link's own affair. */
const TIMEOUT_MS = 10_000;
const PATIENCE_MS = 2_000;

/** Registers a session at the hub; the client is loaded only now, so that no start of the proxy waits for it. */
export async function connectAgent(options: Options): Promise<Agent> {
  const [{ openAgent }, { WebSocket }] = await Promise.all([import('@parley/client'), import('ws')]);
  return openAgent({
    ...options,
    runtime: 'codex',
    WebSocket,
    timeoutMs: TIMEOUT_MS,
    patienceMs: PATIENCE_MS,
  });
}
