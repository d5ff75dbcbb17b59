import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { atFileEnd } from './at-file-end.ts';
import { freePort } from './free-port.ts';
import { requireTool } from '../tools/tools.ts';

/** A NATS server of the test's own. */
export interface NatsServer {
  url: string;
  port: number;
  /** Ends it at once; `start` brings it back. */
  kill(): Promise<void>;
  start(): Promise<void>;
}

const START_MS = 10_000;

/** Starts a server on loopback, with JetStream in files of its own, that ends with the test; `stream: false` is one without. */
export async function startNats({ stream = true }: { stream?: boolean } = {}): Promise<NatsServer> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'parley-nats-'));
  atFileEnd(() => rmSync(folder, { recursive: true, force: true }));
  const flags = stream ? ['-js', '-sd', folder] : [];
  let child: ChildProcess | undefined;

  async function start(): Promise<void> {
    const until = performance.now() + START_MS;
    child = spawn(requireTool('nats-server'), ['-a', '127.0.0.1', '-p', `${port}`, ...flags], {
      stdio: 'ignore',
    });
    while (!(await answers(port))) {
      if (performance.now() > until) throw new Error('nats-server does not answer');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  await start();
  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    start,
    async kill() {
      const running = child;
      child = undefined;
      if (running === undefined || running.exitCode !== null) return;
      const ended = new Promise((resolve) => running.once('exit', resolve));
      running.kill('SIGKILL');
      await ended;
    },
  };
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const done = (is: boolean): void => {
      socket.destroy();
      resolve(is);
    };
    socket.once('data', () => done(true));
    socket.once('error', () => done(false));
  });
}
