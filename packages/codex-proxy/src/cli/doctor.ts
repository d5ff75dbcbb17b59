import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { errorText } from '@parley/protocol';
import { openCodex } from '@parley/runtimes';
import type { Command } from 'commander';

import type { LoadedConfig } from '../config/load.ts';
import { openTeamMail } from '../mail/open-team-mail.ts';
import { readTeam } from '../registry/team-registries.ts';
import { VERSION } from '../version.ts';
import { print } from './output.ts';
import { teamFolder } from './sessions.ts';
import { addSettingOptions, settingsOf } from './settings.ts';

/** One thing that was looked at. */
interface Finding {
  what: string;
  state: 'ok' | 'note' | 'fault';
  detail: string;
}

/** `atm-agent-mcp doctor`: whether everything that a session needs is there and works. */
export function addDoctorCommand(program: Command): void {
  addSettingOptions(program.command('doctor'))
    .description('look whether Codex, the team, its mail and the registries are as they should be')
    .action(async (_options: unknown, command: Command) => {
      const loaded = settingsOf(command);
      const findings = [
        ...configured(loaded),
        folder(loaded),
        await codex(loaded),
        ...(await team(loaded)),
        ...(await registries(loaded)),
      ];
      const healthy = findings.every(({ state }) => state !== 'fault');
      print(loaded.json, { healthy, findings }, () =>
        findings.map(({ what, state, detail }) => `${state.padEnd(5)}  ${what}: ${detail}`),
      );
      if (!healthy) process.exitCode = 1;
    });
}

function configured({ files, settings, ignored, unknown }: LoadedConfig): Finding[] {
  const read = [files.user, files.repo].filter((file) => file !== undefined);
  const from = read.length === 0 ? 'defaults only' : read.join(', ');
  return [
    {
      what: 'configuration',
      state: 'ok',
      detail: `team '${settings.team}', identity '${settings.identity}' (${from})`,
    },
    ...ignored.map(({ key, file }): Finding => ({
      what: 'configuration',
      state: 'note',
      detail: `${key} in ${file} is ignored: the repository is not in trusted_repos`,
    })),
    ...unknown.map((name): Finding => ({ what: 'configuration', state: 'note', detail: `unknown: ${name}` })),
  ];
}

function folder({ places }: LoadedConfig): Finding {
  const what = 'state folder';
  if (!existsSync(places.atm)) return { what, state: 'ok', detail: `${places.atm} will be made` };
  try {
    accessSync(places.atm, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    return { what, state: 'fault', detail: errorText(error) };
  }
  const open = (statSync(places.atm).mode & 0o077) !== 0;
  const detail = open
    ? `others can look into ${places.atm}; close it with: chmod 700 ${places.atm}`
    : places.atm;
  return { what, state: open ? 'note' : 'ok', detail };
}

async function codex(loaded: LoadedConfig): Promise<Finding> {
  const what = 'Codex';
  const { settings, paths, places } = loaded;
  const env = Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  const quiet = (): void => {};
  const tried = openCodex({
    bin: paths.codex_bin,
    env,
    cwd: places.home,
    backend: settings.transport,
    clientInfo: { name: 'atm-agent-mcp', version: VERSION },
    onEvent: quiet,
    onApproval: (request) => void request.respond('decline'),
    onExit: quiet,
    log: quiet,
  });
  try {
    const { path, version, backend, reason } = await tried.start();
    return {
      what,
      state: 'ok',
      detail: `${version ?? 'of unknown version'}, ${backend}: ${reason} (${path})`,
    };
  } catch (error) {
    const hint = 'install it with `npm install -g @openai/codex`, or set codex_bin';
    return { what, state: 'fault', detail: `${errorText(error)}; ${hint}` };
  } finally {
    await tried.close();
  }
}

async function team(loaded: LoadedConfig): Promise<Finding[]> {
  const { settings, places } = loaded;
  const what = `team '${settings.team}'`;
  const mail = openTeamMail(loaded, () => {});
  try {
    const members = await mail.members();
    const findings: Finding[] = [
      {
        what,
        state: 'ok',
        detail: `${members.length} members: ${members.map(({ name }) => name).join(', ')}`,
      },
    ];
    for (const { name } of members) {
      const problem = await mail.pending(name).then(
        () => undefined,
        (error: Error) => error.message,
      );
      if (problem !== undefined) findings.push({ what: `inbox of ${name}`, state: 'fault', detail: problem });
    }
    return findings;
  } catch (error) {
    const isThere = existsSync(join(places.teams, settings.team));
    const hint = isThere ? '' : '; sessions work without one, mail does not';
    return [{ what, state: isThere ? 'fault' : 'note', detail: errorText(error) + hint }];
  } finally {
    mail.close();
  }
}

async function registries(loaded: LoadedConfig): Promise<Finding[]> {
  const found = await readTeam(teamFolder(loaded));
  return found.map(({ identity, running, sessions, problem }) => ({
    what: `registry of '${identity}'`,
    state: problem === undefined ? 'ok' : 'fault',
    detail: problem ?? `${sessions.length} sessions${running ? ', its proxy is running' : ''}`,
  }));
}
