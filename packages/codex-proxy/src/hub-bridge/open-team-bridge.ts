import { join } from 'node:path';

import type { TeamMail } from '@parley/mail';

import type { LoadedConfig } from '../config/load.ts';
import { accessOf } from '../hub-link/hub-access.ts';
import type { Log } from '../logger.ts';
import { type Bridge, type BridgeOptions, openBridge } from './bridge.ts';

/** The link of the configured team's mail to its hub. */
export function openTeamBridge(
  config: LoadedConfig,
  mail: TeamMail,
  log: Log,
  tell: BridgeOptions['tell'] = ({ event, ...facts }) =>
    log('info', `the link of team mail to the hub: ${event}`, facts),
): Bridge {
  const { settings, places } = config;
  return openBridge({
    team: settings.team,
    folder: join(places.sessions, settings.team),
    home: places.home,
    workspace: settings.hub_workspace,
    access: accessOf(config),
    mail,
    pollMs: settings.mail_poll_interval_ms,
    tell,
    log,
  });
}
