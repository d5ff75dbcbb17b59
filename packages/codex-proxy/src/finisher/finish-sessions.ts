import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { type Audit, openAudit } from '../audit/open-audit.ts';
import type { LoadedConfig } from '../config/load.ts';
import { RpcError } from '../errors.ts';
import { createIdentities, type Identities } from '../identity/identities.ts';
import type { Log } from '../logger.ts';
import { createMembership } from '../mail/membership.ts';
import { openTeamMail } from '../mail/open-team-mail.ts';
import { type Child, openChild } from '../open-child.ts';
import { createLeftBehind, SUMMARY_PROMPT } from '../registry/left-behind.ts';
import { openRegistry } from '../registry/open-registry.ts';
import { isActive, RegistrySchema, type SessionRecord } from '../registry/session-record.ts';
import { resumeWhenFree } from '../session/resume-when-free.ts';
import { createClosingMark } from './closing-mark.ts';

/** What is needed to finish the sessions of a proxy. */
export type FinishJob = Pick<LoadedConfig, 'settings' | 'paths' | 'places'>;

const LOOK_MS = 50;
/** What ending takes beside the summaries. */
const SPARE_MS = 5_000;

/** How long a proxy may take to end, and what finishes its sessions after that. */
export function boundsOf(summarySecs: number): { proxyMs: number; workMs: number; totalMs: number } {
  const proxyMs = summarySecs * 1_000 + SPARE_MS;
  return { proxyMs, workMs: proxyMs, totalMs: 2 * proxyMs + SPARE_MS };
}

/**
 * Waits until the proxy of the identity has ended and does what it left undone: summaries, the registry, the team's
 * list. The lock of the identity tells the end, and keeps the next proxy away from the registry meanwhile.
 */
export async function finishSessions(
  { settings, paths, places }: FinishJob,
  env: NodeJS.ProcessEnv,
  log: Log,
): Promise<void> {
  const { team, identity } = settings;
  const { proxyMs, workMs } = boundsOf(settings.summary_timeout_secs);
  const folder = join(places.sessions, team);
  const path = join(folder, identity, 'registry.json');
  const now = (): Date => new Date();
  const identities = createIdentities(places.sessions, team);
  if (!(await holdWithin(identities, identity, proxyMs))) return;
  const owed = (await readSessions(path)).filter(isActive);
  const registry = await openRegistry(path, log, now);
  const config = {
    // Whichever server a thread was driven by: the newer one of the two can load it.
    settings: { ...settings, transport: 'auto' as const },
    paths,
    places,
    aliases: new Map(),
  };
  const leftBehind = createLeftBehind(folder, log, now);
  const audit = openAudit(join(folder, 'audit.jsonl'), team, log, now);
  const mail = openTeamMail(config, log);
  const membership = createMembership(mail, log, identity);
  const child = openChild({
    config,
    env,
    log,
    onEvent: () => {},
    onApproval: (request) => request.respond('decline'),
    onApprovalClosed: () => {},
    onRequest: async () => ({ error: { code: -32_601, message: 'nobody is there to be asked' } }),
    onStart: () => {},
    onExit: () => {},
  });

  const finish = async (record: SessionRecord): Promise<void> => {
    if (!isFree(identities, record)) return;
    const ended = { ...record, last_active: now().toISOString() };
    registry.put({ ...ended, status: 'interrupted' });
    membership.leave(record.identity);
    const summary = await sumUp(child, audit, record, AbortSignal.timeout(workMs)).catch(() => undefined);
    if (summary === undefined) return;
    leftBehind.keepSummary(record, summary);
    // Whoever reads that it is closed finds its summary.
    await leftBehind.written();
    registry.put({ ...ended, status: 'closed' });
  };
  await Promise.all(owed.map(finish));
  await Promise.all([registry.saved(), leftBehind.written(), membership.close(), child.codex.close()]);
  mail.close();
  audit.close();
  createClosingMark(folder, identity).release(identities);
}

async function holdWithin(identities: Identities, identity: string, ms: number): Promise<boolean> {
  for (const giveUp = Date.now() + ms; Date.now() < giveUp; await sleep(LOOK_MS)) {
    try {
      identities.hold(identity);
      return true;
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
    }
  }
  return false;
}

/** False for a session whose identity somebody else has taken meanwhile. */
function isFree(identities: Identities, { identity, agent_id }: SessionRecord): boolean {
  try {
    identities.bind(identity, agent_id);
    return true;
  } catch {
    return false;
  }
}

async function readSessions(path: string): Promise<SessionRecord[]> {
  return readFile(path, 'utf8').then(
    (text) => RegistrySchema.parse(JSON.parse(text)).sessions,
    () => [],
  );
}

/** Asks the session itself. */
async function sumUp(
  child: Pick<Child, 'awake'>,
  audit: Audit,
  { agent_id, identity, backend_id, cwd }: SessionRecord,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (backend_id === null) return undefined;
  const codex = await child.awake();
  // Nobody watches: it may look at what it did, and touch nothing.
  await resumeWhenFree(codex, backend_id, { cwd, sandbox: 'read-only' }, signal);
  const facts = { source: 'summary', agent_id, identity } as const;
  const correlation_id = audit.note({ event: 'turn', ...facts, summary: SUMMARY_PROMPT });
  const { status, text, durationMs } = await codex.runTurn(backend_id, { prompt: SUMMARY_PROMPT, signal });
  audit.noteEnd({ event: 'turn_end', ...facts, correlation_id, status, duration_ms: durationMs });
  return status === 'completed' && text !== '' ? text : undefined;
}
