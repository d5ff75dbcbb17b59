import { pruneArchives } from '@parley/mail';

import type { LoadedConfig } from '../config/load.ts';
import type { Log } from '../logger.ts';

const DAY_MS = 86_400_000;

/** Forgets old mail of every team, now and once a day; nobody waits for it. Returns how to end that. */
export function pruneMailDaily(
  { places, settings }: Pick<LoadedConfig, 'places' | 'settings'>,
  log: Log,
): () => void {
  const prune = async (): Promise<void> => {
    const limits = {
      days: settings.mail_archive_days || null,
      bytes: settings.mail_archive_max_bytes || null,
    };
    const { mails, archives, failed } = await pruneArchives({
      archive: places.mail,
      teams: places.teams,
      limits,
      now: () => new Date(),
    });
    if (mails > 0) log('info', 'old mail was forgotten', { mails, archives });
    for (const { path, reason } of failed) log('warn', 'an archive of mail was not pruned', { path, reason });
  };
  const run = (): void =>
    void prune().catch((error: Error) =>
      log('warn', 'old mail was not forgotten', { reason: error.message }),
    );
  run();
  const timer = setInterval(run, DAY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
