import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { Client } from 'pg';

import { freePort } from './free-port.ts';
import { requireTool } from '../tools/tools.ts';

/** A PostgreSQL of the test's own, which keeps what it acknowledges. */
export interface PostgresServer {
  url: string;
  /** Says something to it as the role of the hubs. */
  query<T = Record<string, unknown>>(text: string): Promise<T[]>;
  /** Who else may come in, and how: a line of `pg_hba.conf`, before all others. */
  admit(line: string): Promise<void>;
  /** Starts it anew as a replica, which takes no writes until `promote`; for one with `wal_level: 'replica'`. */
  demote(): Promise<void>;
  promote(): Promise<void>;
  /** Ends it at once, as a power cut does; `start` brings it back. */
  kill(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

/** It refuses to run as root. */
const NOBODY = 65_534;
/** The role that owns the server. */
const OWNER = 'postgres';
const START_MS = 30_000;
const OPTIONS = {
  listen_addresses: '127.0.0.1',
  shared_buffers: '32MB',
  max_connections: '60',
  wal_level: 'minimal',
  max_wal_senders: '0',
  autovacuum: 'off',
};

/** Ends it and those that serve its connections: left alone, they would go on for a while, and keep what they are sent. */
function cutPower(server: ChildProcess): void {
  server.kill('SIGSTOP');
  const list = `/proc/${server.pid}/task/${server.pid}/children`;
  const serving = existsSync(list) ? readFileSync(list, 'utf8').split(' ').filter(Boolean) : [];
  server.kill('SIGKILL');
  for (const pid of serving)
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
}

/** Starts a server on loopback, in a folder of its own, without root; `more` are settings of it. */
export async function startPostgres(more: Record<string, string> = {}): Promise<PostgresServer> {
  const shipped = path.dirname(requireTool('postgres'));
  const root = mkdtempSync(path.join(tmpdir(), 'pg-'));
  const data = path.join(root, 'data');
  const isRoot = process.getuid?.() === 0;
  // Others may not be able to look into the folders of root.
  const isOwn = isRoot && !shipped.startsWith('/usr/');
  if (isOwn)
    cpSync(path.dirname(shipped), path.join(root, 'server'), { recursive: true, verbatimSymlinks: true });
  const bin = isOwn ? path.join(root, 'server', 'bin') : shipped;
  if (isRoot) chownSync(root, NOBODY, NOBODY);
  const as = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  const quiet = { ...as, stdio: 'ignore' as const, cwd: root, env: { PATH: process.env['PATH'] ?? '' } };
  const init = ['-D', data, '-A', 'trust', '-N', '--locale=C', '-E', 'UTF8', '-U', OWNER];
  execFileSync(path.join(bin, 'initdb'), init, quiet);
  const port = await freePort();
  const given = Object.entries({ ...OPTIONS, ...more, unix_socket_directories: root, port });
  let child: ChildProcess | undefined;
  const url = `postgres://parley@127.0.0.1:${port}/postgres`;

  async function end(signal: NodeJS.Signals): Promise<void> {
    const running = child;
    child = undefined;
    if (running === undefined || running.exitCode !== null) return;
    const ended = new Promise((resolve) => running.once('exit', resolve));
    if (signal === 'SIGKILL') cutPower(running);
    else running.kill(signal);
    await ended;
  }

  async function start(): Promise<void> {
    const settings = given.flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const until = performance.now() + START_MS;
    for (;;) {
      // It does not begin while a process of one that was killed still has its memory.
      if (child === undefined || child.exitCode !== null)
        child = spawn(path.join(bin, 'postgres'), ['-D', data, ...settings], quiet);
      const asOwner = url.replace('parley@', `${OWNER}@`);
      const client = new Client({ connectionString: asOwner, connectionTimeoutMillis: 2_000 });
      client.on('error', () => {});
      try {
        await client.connect();
        return await client.end();
      } catch (error) {
        await client.end().catch(() => {});
        if (performance.now() > until) throw error;
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
    }
  }

  async function query<T>(text: string, user = 'parley'): Promise<T[]> {
    const client = new Client({ connectionString: url.replace('parley@', `${user}@`) });
    await client.connect();
    try {
      return (await client.query(text)).rows as T[];
    } finally {
      await client.end();
    }
  }

  await start();
  // As people are told to: a role that owns its databases and has no power over the server, so that its walls hold for it.
  await query('CREATE ROLE parley LOGIN CREATEDB CREATEROLE', OWNER);
  await query('ALTER DATABASE postgres OWNER TO parley', OWNER);
  return {
    url,
    query: (text) => query(text),
    async admit(line) {
      const file = path.join(data, 'pg_hba.conf');
      writeFileSync(file, `${line}\n${readFileSync(file, 'utf8')}`);
      await query('SELECT pg_reload_conf()', OWNER);
    },
    async demote() {
      await end('SIGINT');
      writeFileSync(path.join(data, 'standby.signal'), '');
      await start();
    },
    async promote() {
      await query('SELECT pg_promote()', OWNER);
    },
    start,
    kill: () => end('SIGKILL'),
    async close() {
      await end('SIGINT');
      rmSync(root, { recursive: true, force: true });
    },
  };
}
