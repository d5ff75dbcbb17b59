import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { type Client, createClient } from '@parley/client';

const parley = fileURLToPath(new URL('../../packages/hub/bin/parley.mjs', import.meta.url));

/** A hub for one example, in a folder that goes away with it. */
export interface ExampleHub {
  url: string;
  /** A token for this agent. */
  token(agent: string, role?: string): Promise<string>;
  /** A client that speaks as this agent. */
  join(agent: string, role?: string): Promise<Client>;
  stop(): Promise<void>;
}

/** Starts a hub as anyone would, by its command line, and issues tokens for it. */
export async function startHub(): Promise<ExampleHub> {
  const data = mkdtempSync(join(tmpdir(), 'parley-example-'));
  const hub = spawn(process.execPath, [parley, 'serve', '--data', data, '--port', '0', '--json'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = (await once(hub.stdout, 'data')) as [Buffer];
  const { url } = JSON.parse(line.toString()) as { url: string };
  const token = async (agent: string, role = 'worker'): Promise<string> => {
    const args = [parley, 'token', 'issue', '--agent', agent, '--role', role, '--data', data];
    return (await promisify(execFile)(process.execPath, args)).stdout.trim();
  };
  return {
    url,
    token,
    join: async (agent, role) => createClient({ url, token: await token(agent, role) }),
    async stop() {
      hub.kill();
      await once(hub, 'exit');
      rmSync(data, { recursive: true });
    },
  };
}
