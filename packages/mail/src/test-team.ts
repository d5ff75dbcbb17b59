import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, vi } from 'vitest';

import { type TeamMail, type MailOptions, openMail } from './mail.ts';

/** For a test file: a fresh home for each test, teams in it, and desks that are closed afterwards. */
export function useTeams() {
  // Every write waits for the disk several times.
  vi.setConfig({ testTimeout: 60_000 });
  let home: string;
  let teamMails: TeamMail[];
  const reported: string[] = [];
  beforeEach(() => {
    home = realpathSync(mkdtempSync(join(tmpdir(), 'team-mail-')));
    teamMails = [];
    reported.length = 0;
  });
  afterEach(() => {
    for (const teamMail of teamMails) teamMail.close();
    rmSync(home, { recursive: true, force: true });
  });
  const teams = () => join(home, '.claude', 'teams');
  const inboxPath = (team: string, agent: string) => join(teams(), team, 'inboxes', `${agent}.json`);
  return {
    home: () => home,
    teams,
    /** What was logged. */
    reported,
    inboxPath,
    archivePath: (team: string, agent: string) => join(home, '.config/atm/mail', team, `${agent}.jsonl`),
    makeTeam: (team: string, ...members: string[]) => {
      mkdirSync(join(teams(), team, 'inboxes'), { recursive: true });
      const config = {
        name: team,
        leadAgentId: `team-lead@${team}`,
        leadProcess: { pid: 1 },
        members: ['team-lead', ...members].map((name) => ({
          agentId: `${name}@${team}`,
          name,
          color: 'red',
        })),
      };
      writeFileSync(join(teams(), team, 'config.json'), JSON.stringify(config));
    },
    open: (team: string, more: Partial<MailOptions> = {}): TeamMail => {
      const teamMail = openMail({
        teams: teams(),
        archive: join(home, '.config/atm/mail'),
        team,
        now: () => new Date(),
        newId: randomUUID,
        log: (_level, message) => void reported.push(message),
        ...more,
      });
      teamMails.push(teamMail);
      return teamMail;
    },
    read: (team: string, agent: string) =>
      JSON.parse(readFileSync(inboxPath(team, agent), 'utf8')) as Record<string, unknown>[],
    write: (team: string, agent: string, entries: unknown) =>
      writeFileSync(inboxPath(team, agent), JSON.stringify(entries)),
  };
}

/** A mail as Claude Code writes it. */
export function native(from: string, text: string, timestamp = '2026-02-18T10:00:00.000Z') {
  return { from, text, timestamp, read: false, type: 'message', msgV: 1 };
}
