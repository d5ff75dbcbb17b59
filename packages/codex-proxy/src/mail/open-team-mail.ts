import { randomUUID } from 'node:crypto';

import { type TeamMail, openMail } from '@parley/mail';

import type { LoadedConfig } from '../config/load.ts';
import type { Log } from '../logger.ts';

/** The mail of the configured team, where this user keeps it. */
export function openTeamMail(
  { places, settings, aliases }: Pick<LoadedConfig, 'places' | 'settings' | 'aliases'>,
  log: Log,
): TeamMail {
  return openMail({
    teams: places.teams,
    archive: places.mail,
    projects: places.projects,
    team: settings.team,
    aliases,
    pollMs: settings.mail_poll_interval_ms,
    now: () => new Date(),
    newId: randomUUID,
    log,
  });
}
