import { rm } from 'node:fs/promises';

import { ParleyError } from '@parley/protocol';
import { lockFile } from '@parley/sqlite';

import type { LoadedConfig } from '../config/load.ts';
import { type Bridge, type BridgeNews, bridgePlaces } from '../hub-bridge/bridge.ts';
import { readState } from '../hub-bridge/bridge-state.ts';
import { PEER_TYPE } from '../hub-bridge/hear-hub.ts';
import { openTeamBridge } from '../hub-bridge/open-team-bridge.ts';
import { accessOf } from '../hub-link/hub-access.ts';
import { createLog, writeIfRead } from '../logger.ts';
import { openTeamMail } from '../mail/open-team-mail.ts';
import { pruneMailDaily } from '../mail/prune-mail.ts';
import { EXIT, print } from './output.ts';
import { teamFolder } from './sessions.ts';

/** How often the counts are told, if they have changed. */
const COUNTS_MS = 2_000;

type Loaded = LoadedConfig & { json: boolean };

function openWithLog(loaded: Loaded) {
  const log = createLog(loaded.settings.log_level, writeIfRead(process.stderr), () => new Date());
  return { mail: openTeamMail(loaded, log), log };
}

/** Links the team until a signal comes. */
export async function linkTeam(loaded: Loaded): Promise<void> {
  const { settings, json } = loaded;
  const { team } = settings;
  if (!settings.hub_enabled)
    throw new ParleyError('VALIDATION_ERROR', 'hub.enabled is false in the configuration: there is no link');
  const { mail, log } = openWithLog(loaded);
  // Whoever mistypes a team should hear it now.
  await mail.members();
  const { place } = accessOf(loaded);
  const say = (event: object, ...lines: string[]): void => print(json, event, () => lines);
  say(
    { event: 'started', team, hub: place, pid: process.pid },
    `linking team ${team} to the hub at ${place}; stop with Ctrl-C`,
  );
  const bridge = openTeamBridge(loaded, mail, log, (news) => say(news, ...linesOf(news)));
  let reported = countsOf(bridge).line;
  const tellCounts = (): void => {
    const { counts, line } = countsOf(bridge);
    if (line !== reported) say({ event: 'counts', ...counts }, line);
    reported = line;
  };
  const timer = setInterval(tellCounts, COUNTS_MS);
  const stopPruning = pruneMailDaily(loaded, log);
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.once(signal, () => void bridge.stop());
  try {
    await bridge.ended;
  } finally {
    clearInterval(timer);
    stopPruning();
    mail.close();
  }
  const { counts, line } = countsOf(bridge);
  say({ event: 'stopped', ...counts }, `stopped; ${line}`);
  process.exit(EXIT.ok);
}

/** Ends the link for good. */
export async function unlinkTeam(loaded: Loaded): Promise<void> {
  const { team } = loaded.settings;
  const places = bridgePlaces(teamFolder(loaded));
  const before = await readState(places.state);
  if (before === undefined) throw new ParleyError('NOT_FOUND', `team ${team} is not linked to a hub`);
  const { mail } = openWithLog(loaded);
  const lock = takeLock(places.lock, team);
  try {
    const left: string[] = [];
    const members = await mail.members().catch(() => []);
    for (const { name, agent_type } of members)
      if (agent_type === PEER_TYPE && (await mail.leave(name))) left.push(name);
    await rm(places.state);
    print(loaded.json, { team, left }, () => [
      `team ${team} is no longer linked; ${left.length === 0 ? 'nobody' : left.join(', ')} left it`,
    ]);
  } finally {
    lock.release();
    mail.close();
  }
}

function takeLock(path: string, team: string) {
  try {
    return lockFile(path, 0);
  } catch (error) {
    if (!(error instanceof ParleyError) || error.code !== 'CONFLICT') throw error;
    throw new ParleyError('CONFLICT', `a process links team ${team} right now; stop it first`);
  }
}

function linesOf(news: BridgeNews): string[] {
  if (news.event === 'waiting') return [`waiting: ${news.reason}`];
  if (news.event === 'away') return [`the hub is away, and waited for: ${news.reason}`];
  if (news.event === 'back') return ['the hub is back'];
  return ['linked:', ...Object.entries(news.names).map(([name, hubName]) => `  ${name} is ${hubName}`)];
}

function countsOf(bridge: Bridge) {
  const { to_hub, to_mail, cut, refused } = bridge.status();
  const line = `${to_hub} mails told at the hub (${cut} cut), ${to_mail} messages brought as mail, ${refused} refused`;
  return { counts: { to_hub, to_mail, cut, refused }, line };
}
