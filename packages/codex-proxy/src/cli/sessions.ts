import { join } from 'node:path';

import { ParleyError, table } from '@parley/protocol';
import type { Command } from 'commander';

import type { LoadedConfig } from '../config/load.ts';
import { isActive, type SessionRecord } from '../registry/session-record.ts';
import { createLeftBehind } from '../registry/left-behind.ts';
import { summaryPath } from '../registry/summary-path.ts';
import { pruneTeam, readTeam } from '../registry/team-registries.ts';
import { print } from './output.ts';
import { settingsOf } from './settings.ts';

interface SessionsOptions {
  repo?: string;
  identity?: string;
  prune?: boolean;
}

/** `atm-agent-mcp sessions`: the sessions of every proxy of the team, those that run and those that can be resumed. */
export function addSessionsCommand(program: Command): void {
  program
    .command('sessions')
    .description('the sessions of the team: active ones, and those that can be resumed')
    .option('--team <name>', 'team whose sessions these are')
    .option('--repo <name>', 'only those in a repository of this name')
    .option('--identity <name>', 'only those of this identity')
    .option('--prune', 'forget the ended ones and their summaries; those of a running proxy are kept')
    .addHelpText(
      'after',
      '\nExamples:\n  atm-agent-mcp sessions --repo parley\n  atm-agent-mcp sessions --prune',
    )
    .action(async ({ repo, identity, prune }: SessionsOptions, command: Command) => {
      const loaded = settingsOf(command, ['team']);
      const folder = teamFolder(loaded);
      const chosen = (one: SessionRecord): boolean =>
        (repo === undefined || one.repo_name === repo) &&
        (identity === undefined || one.identity === identity);
      if (prune === true) {
        const pruned = await pruneTeam(folder, chosen);
        print(loaded.json, pruned, () => [
          `${pruned.removed.length} forgotten`,
          ...pruned.kept_by_running.map((name) => `kept those of '${name}', whose proxy is running`),
        ]);
        return;
      }
      const instances = await readTeam(folder);
      const sessions = instances
        .flatMap((instance) => instance.sessions)
        .filter(chosen)
        .toSorted((a, b) => b.last_active.localeCompare(a.last_active))
        .map(({ mail_key: _key, ...one }) => ({
          ...one,
          resumable: !isActive(one) && one.backend_id !== null,
        }));
      const problems = instances.flatMap(({ identity: name, problem }) =>
        problem === undefined ? [] : [{ identity: name, problem }],
      );
      print(loaded.json, { team: loaded.settings.team, sessions, problems }, () => [
        ...(sessions.length === 0 ? [`No sessions in team '${loaded.settings.team}'.`] : linesOf(sessions)),
        ...problems.map(({ identity: name, problem }) => `unreadable registry of '${name}': ${problem}`),
      ]);
    });
}

/** `atm-agent-mcp summary`: what a session said when it was closed. */
export function addSummaryCommand(program: Command): void {
  program
    .command('summary')
    .description('what a session left behind when it was closed')
    .argument('<agent-id>', 'as `atm-agent-mcp sessions` tells it')
    .option('--team <name>', 'team whose session it is')
    .action(async (agentId: string, _options: unknown, command: Command) => {
      const loaded = settingsOf(command, ['team']);
      const folder = teamFolder(loaded);
      const record = (await readTeam(folder))
        .flatMap(({ sessions }) => sessions)
        .find((one) => one.agent_id === agentId);
      if (record === undefined)
        throw new ParleyError(
          'NOT_FOUND',
          `There is no session '${agentId}'; see \`atm-agent-mcp sessions\``,
        );
      const { identity, status } = record;
      const summary = await createLeftBehind(
        folder,
        () => {},
        () => new Date(),
      ).summaryOf(record);
      if (summary === undefined)
        throw new ParleyError('NOT_FOUND', `The session '${agentId}' (${status}) left no summary`);
      const path = summaryPath(folder, record);
      print(loaded.json, { agent_id: agentId, identity, path, summary }, () => summary.split('\n'));
    });
}

/** Where the sessions of the configured team stand. */
export function teamFolder({ places, settings }: LoadedConfig): string {
  return join(places.sessions, settings.team);
}

function linesOf(sessions: readonly SessionRecord[]): string[] {
  return table([
    ['AGENT', 'IDENTITY', 'STATUS', 'REPO', 'BRANCH', 'LAST ACTIVE', 'TAG'],
    ...sessions.map((one) => [
      one.agent_id,
      one.identity,
      one.status,
      one.repo_name ?? one.cwd,
      one.branch ?? '-',
      one.last_active.slice(0, 19).replace('T', ' '),
      one.tag ?? '',
    ]),
  ]);
}
