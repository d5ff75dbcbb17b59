import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach } from 'vitest';

/** For a test file: a home with one team for each test. */
export function useHome(team: string, ...members: string[]) {
  let home: string;
  beforeEach(() => {
    home = realpathSync(mkdtempSync(join(tmpdir(), 'mail-home-')));
    makeTeam(home, team, members);
  });
  afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }));
  const inbox = (agent: string) => join(home, '.claude/teams', team, 'inboxes', `${agent}.json`);
  return {
    home: () => home,
    inbox,
    entries: (agent: string) =>
      JSON.parse(readFileSync(inbox(agent), 'utf8')) as { from: string; text: string; message_id?: string }[],
    /** The ids of the mails in an archive, line by line. */
    archived: (agent: string) =>
      readFileSync(join(home, '.config/atm/mail', team, `${agent}.jsonl`), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { kind: string; id: string })
        .filter(({ kind }) => kind === 'mail')
        .map(({ id }) => id),
  };
}

/** Makes a team as Claude Code leaves it. */
export function makeTeam(home: string, team: string, members: readonly string[]): void {
  const folder = join(home, '.claude/teams', team);
  mkdirSync(join(folder, 'inboxes'), { recursive: true });
  const all = ['team-lead', ...members].map((name) => ({ agentId: `${name}@${team}`, name }));
  writeFileSync(
    join(folder, 'config.json'),
    JSON.stringify({ name: team, leadAgentId: `team-lead@${team}`, members: all }),
  );
}
