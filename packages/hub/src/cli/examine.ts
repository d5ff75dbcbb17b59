import { checkRecord, type RecordReport, sqliteVersion } from '@parley/store-sqlite';

import type { Config } from '../config/schema.ts';
import { VERSION } from '../version.ts';
import { checkArtifacts } from './examine-artifacts.ts';
import { checkClock } from './examine-clock.ts';
import { checkDisk, checkFiles } from './examine-folder.ts';
import { checkHub } from './examine-hub.ts';
import { checkKeys } from './examine-keys.ts';
import { checkSearch } from './examine-search.ts';
import { findPrograms, type FoundProgram, programChecks } from './examine-programs.ts';

/** One thing that was looked at; `ok` is false only for what needs someone's hand. */
export interface Check {
  name: string;
  ok: boolean;
  detail: string;
}

export interface DoctorReport extends Pick<
  RecordReport,
  'integrity' | 'chain' | 'index' | 'counts' | 'problems'
> {
  ok: boolean;
  version: string;
  data: string;
  checks: Check[];
  programs: FoundProgram[];
}

/** The oldest Node the hub runs on. */
const OLDEST_NODE = [20, 20] as const;

/** The checks whose problems the record names itself. */
const OF_RECORD: ReadonlySet<string> = new Set(['integrity', 'chain', 'index']);

/** Looks at everything once and changes nothing; `before` was found already. */
export async function examine(config: Config, before: readonly Check[] = []): Promise<DoctorReport> {
  // The files come first: reading some of them would close their modes.
  const files = checkFiles(config.data);
  const record = checkRecord(config.data);
  const programs = await findPrograms();
  const checks = [
    ...before,
    checkNode(),
    { name: 'sqlite', ok: true, detail: sqliteVersion() },
    ...files,
    checkDisk(config.data),
    ...checkKeys(config.data, Date.now()),
    ...recordChecks(record),
    checkArtifacts(config),
    checkClock(config.data),
    await checkHub(config),
    ...(await checkSearch(config)),
    ...programChecks(programs),
  ];
  const { integrity, chain, index, counts } = record;
  const others = checks.filter(({ name, ok }) => !ok && !OF_RECORD.has(name));
  const problems = [...record.problems, ...others.map(({ name, detail }) => `${name}: ${detail}`)];
  return {
    ok: checks.every((check) => check.ok),
    integrity,
    chain,
    index,
    counts,
    problems,
    version: VERSION,
    data: config.data,
    checks,
    programs,
  };
}

function checkNode(): Check {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const ok = major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
  return { name: 'node', ok, detail: ok ? process.version : `${process.version}; 20.20 or newer is needed` };
}

function recordChecks({ counts, first }: RecordReport): Check[] {
  return [
    {
      name: 'integrity',
      ok: first.integrity === undefined,
      detail: first.integrity ?? 'SQLite finds no damage',
    },
    {
      name: 'chain',
      ok: first.chain === undefined,
      detail:
        first.chain ?? `${counts.entries} entries in ${counts.threads} threads, every hash and seq right`,
    },
    {
      name: 'index',
      ok: first.index === undefined,
      detail:
        first.index === undefined
          ? 'what is made anew from the log equals what is kept beside it'
          : `${first.index}; the next start of the hub or parley doctor --repair makes anew what it can`,
    },
  ];
}
