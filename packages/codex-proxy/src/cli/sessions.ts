import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { decodeJson, ParleyError } from '@parley/protocol';
import { lockFile } from '@parley/sqlite';
import type { Command } from 'commander';

import type { LoadedConfig } from '../config/load.ts';
import { type RegistryFile, RegistrySchema, type SessionRecord } from '../registry/session-record.ts';
import { writeWhole } from '../registry/write-whole.ts';
import { print } from './output.ts';
import { addSettingOptions, settingsOf } from './settings.ts';

/** One proxy's sessions on disk. */
interface StoredRegistry {
  path: string;
  lock: string;
  file: RegistryFile;
}

/** `atm-agent-mcp sessions` and `atm-agent-mcp summary`: what the proxies of a team left on disk. */
export function addSessionCommands(program: Command): void {
  addSettingOptions(program.command('sessions'))
    .description('the sessions of the team, newest first')
    .option('--repo <name>', 'only those of this repository')
    .option('--prune', 'forget the sessions and summaries of proxies that no longer run')
    .addHelpText('after', '\nExample:\n  atm-agent-mcp sessions --identity arch --json')
    .action(async (_options: unknown, command: Command) => {
      const config = settingsOf(command);
      const { repo, prune, identity } = command.opts<{ repo?: string; prune?: boolean; identity?: string }>();
      const isMeant = (record: SessionRecord): boolean =>
        (repo === undefined || record.repo_name === repo) &&
        (identity === undefined || record.identity === identity);
      const found = registriesOf(config);
      const removed = prune === true ? await pruned(found, config, isMeant) : 0;
      const sessions = found
        .flatMap(({ file }) => file.sessions.filter(isMeant))
        .toSorted((a, b) => b.last_active.localeCompare(a.last_active));
      print(config.json, { sessions, removed }, () => [
        ...sessions.map(({ agent_id, identity: who, status, last_active, cwd }) =>
          [agent_id, who, status, last_active, cwd].join('  '),
        ),
        ...(prune === true ? [`${removed} forgotten`] : []),
      ]);
    });
  addSettingOptions(program.command('summary'))
    .description('what a session left for whoever takes it up again')
    .argument('<agent-id>', 'the session')
    .action((agentId: string, _options: unknown, command: Command) => {
      const config = settingsOf(command);
      const record = registriesOf(config)
        .flatMap(({ file }) => file.sessions)
        .find(({ agent_id }) => agent_id === agentId);
      if (record === undefined) throw new ParleyError('NOT_FOUND', `there is no session ${agentId}`);
      const path = join(summaryFolder(config, record), 'summary.md');
      if (!existsSync(path)) throw new ParleyError('NOT_FOUND', `the session ${agentId} left no summary`);
      const summary = readFileSync(path, 'utf8').trim();
      print(config.json, { agent_id: agentId, summary }, () => summary.split('\n'));
    });
}

function teamFolder({ places, settings }: LoadedConfig): string {
  return join(places.sessions, settings.team);
}

function summaryFolder(config: LoadedConfig, { identity, backend_id }: SessionRecord): string {
  return join(teamFolder(config), identity, backend_id ?? 'none');
}

/** A registry that cannot be understood is its proxy's business, not a list's. */
function registriesOf(config: LoadedConfig): StoredRegistry[] {
  const folder = teamFolder(config);
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name): StoredRegistry[] => {
    const path = join(folder, name, 'registry.json');
    if (!existsSync(path)) return [];
    try {
      const file = RegistrySchema.parse(decodeJson(readFileSync(path), { depth: 64, items: 200_000 }));
      return [{ path, lock: join(folder, `${name}.lock`), file }];
    } catch {
      return [];
    }
  });
}

/** Only of proxies that do not run: whoever holds the lock writes the file. */
async function pruned(
  registries: StoredRegistry[],
  config: LoadedConfig,
  isMeant: (record: SessionRecord) => boolean,
): Promise<number> {
  let removed = 0;
  for (const registry of registries) {
    let lock: ReturnType<typeof lockFile>;
    try {
      lock = lockFile(registry.lock, 0);
    } catch {
      continue;
    }
    try {
      const { sessions } = registry.file;
      const gone = sessions.filter(isMeant);
      registry.file = { ...registry.file, sessions: sessions.filter((record) => !gone.includes(record)) };
      await writeWhole(registry.path, `${JSON.stringify(registry.file, null, 2)}\n`);
      for (const record of gone) rmSync(summaryFolder(config, record), { recursive: true, force: true });
      removed += gone.length;
    } finally {
      lock.release();
    }
  }
  return removed;
}
