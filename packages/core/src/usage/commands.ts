import type { OutputOf, TurnUsage } from '@parley/protocol';

import type { Base } from '../command.ts';

/** What a turn of the caller used, in a thread where it says so. */
export type ReportUsage = Base<'report_usage', TurnUsage, OutputOf<'report_usage'>> & {
  thread_id?: string;
  /** Where it is not the day of the report. */
  day?: string;
};
export type ForgetUsage = Base<'forget_usage', { keys: readonly string[] }>;

/** What changes what turns used. */
export type UsageCommands = ReportUsage | ForgetUsage;
