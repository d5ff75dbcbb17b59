import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

import { hideSecrets, ParleyError } from '@parley/protocol';

import { TRIAL_CLIENT } from '../../../faces/mcp/stdio/trial-client.ts';
import { VERSION } from '../../../version.ts';

const PATIENCE_MS = 60_000;

interface ServerReply {
  id?: number;
  error?: { message: string };
  result?: { tools?: unknown[]; isError?: boolean; content?: { text?: string }[] };
}

/** Starts our MCP server as a client would, calls a tool of it, and counts those it offers; throws what it said instead. */
export async function tryServer([command = '', ...args]: readonly string[]): Promise<number> {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr = (stderr + text).slice(-65_536)));
  child.stdin.on('error', () => {});
  const send = (message: object): void =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const failed = (why: string): ParleyError =>
    new ParleyError(
      'UNAVAILABLE',
      `the server was started and ${why}${stderr === '' ? '' : `: ${hideSecrets(stderr).trim().slice(-2_000)}`}`,
    );
  let timer: NodeJS.Timeout | undefined;
  let tools = 0;
  try {
    return await new Promise<number>((resolve, reject) => {
      timer = setTimeout(() => reject(failed('does not answer')), PATIENCE_MS);
      child.once('error', reject);
      child.once('exit', () => reject(failed('ended')));
      createInterface(child.stdout).on('line', (line) => {
        // What is wanted of it is checked below.
        const { id, result, error } = JSON.parse(line) as ServerReply;
        if (error !== undefined) reject(failed(`refused: ${error.message}`));
        if (id === 1) {
          send({ method: 'notifications/initialized' });
          send({ id: 2, method: 'tools/list' });
        }
        if (id === 2) {
          tools = result?.tools?.length ?? 0;
          send({ id: 3, method: 'tools/call', params: { name: 'list_threads', arguments: {} } });
        }
        if (id !== 3) return;
        if (result?.isError === true) reject(failed(`refused: ${result.content?.[0]?.text ?? ''}`));
        else resolve(tools);
      });
      const clientInfo = { name: TRIAL_CLIENT, version: VERSION };
      const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
      send({ id: 1, method: 'initialize', params });
    });
  } finally {
    clearTimeout(timer);
    child.stdin.end();
    if (child.exitCode === null) child.kill('SIGTERM');
  }
}
