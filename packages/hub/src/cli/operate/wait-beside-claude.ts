import { homedir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

import { errorStatus, fieldsOf } from '@parley/protocol';
import { createClient } from '@parley/client';
import { liveClaudeSessions, wakesInTranscript } from '@parley/runtimes';
import type { Command } from 'commander';

import { isSupervised } from '../../supervised.ts';
import { untried } from '../../wake/versions.ts';
import type { HookOptions } from './hook.ts';
import { createHubFinder } from '../hub-finder.ts';
import { ownTokens } from '../../auth/own-tokens.ts';
import { settingsOf } from '../settings.ts';

/** What Claude Code takes for: wake the session with what stands on stderr. */
const WAKE = 2;
const NOTHING = 0;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const INPUT_MS = 5_000;
const LISTED_MS = 30_000;
const INPUT_CHARS = 1_000_000;
const WAIT_MS = 25_000;
const LOOK_MS = 2_000;
const AGAIN_MS = 3_000;
const BEAT_MS = 20_000;

/**
 * Waits at the hub until this very session is to be woken. It runs beside the session and never holds it up: without a
 * hub it looks again, and when the session is gone, or another hook of it has come, it goes too.
 */
export async function waitBesideClaude(options: HookOptions, command: Command): Promise<number> {
  const { env } = process;
  // A run without a terminal would wait for its hooks before it ends, and one with a supervisor is in its hands.
  if (env['CLAUDE_CODE_ENTRYPOINT'] !== 'cli' || isSupervised(env)) return NOTHING;
  const sessionId = await readSessionId();
  if (sessionId === undefined) return NOTHING;
  const loaded = settingsOf(command, { workspace: options.workspace });
  const folder = env['CLAUDE_CONFIG_DIR'] ?? join(env['HOME'] ?? homedir(), '.claude');
  const live = async () => (await liveClaudeSessions(folder)).find((one) => one.sessionId === sessionId);
  // The first hook runs before the session is listed.
  let session = await live();
  for (const until = performance.now() + LISTED_MS; session === undefined; session = await live()) {
    if (performance.now() > until) return NOTHING;
    await sleep(LOOK_MS / 10);
  }
  if (!loaded.config.wake.any_version && untried('claude_hook', session.version) !== undefined)
    return NOTHING;

  const agent = options.agent ?? env['PARLEY_AGENT'] ?? options.usualAgent ?? 'claude';
  const { find, renew } = createHubFinder(loaded, { ...options, session: sessionId }, agent, ownTokens);
  const gone = new AbortController();
  const watch = setInterval(() => {
    void live().then((still) => (still === undefined ? gone.abort() : undefined));
  }, LOOK_MS);
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => gone.abort());
  const client = createClient({
    url: async () => (await find()).url,
    async token() {
      const { token } = await find();
      return typeof token === 'string' ? token : token();
    },
    patienceMs: 0,
  });

  let beatAt = -Infinity;
  const about = { native_session_id: sessionId };
  try {
    while (!gone.signal.aborted) {
      try {
        const seen = await wakesInTranscript(folder, sessionId);
        const waiting = client.wait_for_wake(
          { ...about, seen: seen.slice(-20), timeout_ms: WAIT_MS },
          { signal: gone.signal },
        );
        waiting.catch(() => {});
        // Whoever sees the heartbeat finds the hook waiting.
        if (performance.now() - beatAt > BEAT_MS) {
          await client.heartbeat_session({
            ...about,
            runtime: 'claude_code',
            resumable: true,
            status: 'idle',
          });
          beatAt = performance.now();
        }
        const { wake, replaced } = await waiting;
        if (replaced) return NOTHING;
        if (wake === null) continue;
        await client.wait_for_wake({ ...about, took: wake.trigger_id, timeout_ms: 0 });
        process.stderr.write(`${wake.prompt}\n`);
        return WAKE;
      } catch (error) {
        if (errorStatus(error) === 401) renew();
        await sleep(AGAIN_MS, undefined, { signal: gone.signal }).catch(() => {});
      }
    }
    return NOTHING;
  } finally {
    clearInterval(watch);
  }
}

/** The session that Claude Code speaks of on stdin; undefined for anything else. */
async function readSessionId(): Promise<string | undefined> {
  const said = await Promise.race([text(process.stdin), sleep(INPUT_MS, '', { ref: false })]);
  process.stdin.destroy();
  try {
    const { session_id: id } = fieldsOf(JSON.parse(said.slice(0, INPUT_CHARS)));
    return typeof id === 'string' && UUID.test(id) ? id : undefined;
  } catch {
    return undefined;
  }
}
