import { mkdirSync, readdirSync } from 'node:fs';
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
  /** The error for a team that is not there. */
  missing(): ParleyError;
  /** Refuses to write where no team is, or where a link leads elsewhere. */
  checkWritable(): void;
}

/** Finds a team under the folder of all teams. */
export function teamFolder(teams: string, team: string): TeamFolder {
  const folder = join(teams, fileName(team));
  const config = join(folder, 'config.json');
  const inboxes = join(folder, 'inboxes');
  const missing = (): ParleyError => {
    const others = namesIn(teams);
    const known = others.length === 0 ? `${teams} holds no team` : `there are: ${others.join(', ')}`;
    return new ParleyError('NOT_FOUND', `there is no team ${team} with a config.json; ${known}`, {
      team,
      path: config,
    });
  };
  return {
    missing,
    team,
    config,
    inboxes,
    inbox: (agent) => join(inboxes, `${fileName(agent)}.json`),
    checkWritable() {
      if (!isPlain('isDirectory', folder) || !isPlain('isFile', config)) throw missing();
      if (look(inboxes) === undefined) mkdirSync(inboxes, { mode: 0o700 });
      isPlain('isDirectory', inboxes);
    },
  };
}

function isPlain(kind: 'isDirectory' | 'isFile', path: string): boolean {
  const found = look(path);
  if (found?.isSymbolicLink() === true)
    throw new ParleyError('FORBIDDEN', `${path} is a link; nothing is written through it`, { path });
  return found?.[kind]() === true;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).slice(0, 20);
  } catch {
    return [];
  }
}
