import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { ParleyError } from '@parley/protocol';

import { fileName } from './address.ts';
import { look } from './files/read-json.ts';

/** The files of one team. */
export interface TeamFolder {
  team: string;
  config: string;
  inboxes: string;
  inbox(agent: string): string;
  /** Refuses to write where no team is, or where a link leads elsewhere. */
  checkWritable(): void;
}

/** Finds a team under the folder of all teams. */
export function teamFolder(teams: string, team: string): TeamFolder {
  const folder = join(teams, fileName(team));
  const config = join(folder, 'config.json');
  const inboxes = join(folder, 'inboxes');
  return {
    team,
    config,
    inboxes,
    inbox: (agent) => join(inboxes, `${fileName(agent)}.json`),
    checkWritable() {
      mustBe('isDirectory', folder, `there is no team ${team}`);
      mustBe('isFile', config, `team ${team} has no config.json`);
      if (look(inboxes) === undefined) mkdirSync(inboxes, { mode: 0o700 });
      mustBe('isDirectory', inboxes, `team ${team} has no inboxes`);
    },
  };
}

function mustBe(kind: 'isDirectory' | 'isFile', path: string, otherwise: string): void {
  const found = look(path);
  if (found === undefined) throw new ParleyError('NOT_FOUND', `${otherwise} (${path})`, { path });
  if (found.isSymbolicLink())
    throw new ParleyError('FORBIDDEN', `${path} is a link; nothing is written through it`, { path });
  if (!found[kind]()) throw new ParleyError('NOT_FOUND', `${otherwise} (${path})`, { path });
}
