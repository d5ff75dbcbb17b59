import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Reached, RecordReport } from '@parley/store-rows';

import { KEY_FILE } from '../../../auth/key-file.ts';
import type { Config } from '../../../config/schema.ts';
import { withStateFiles } from '../../../state-files/with-state-files.ts';
import { recordPlace } from '../../../record/record-place.ts';
import { VERSION } from '../../../version.ts';
import type { Check } from './check.ts';
import { checkArtifacts } from './examine-artifacts.ts';
import { checkClock } from './examine-clock.ts';
import { checkDisk, checkFiles } from './examine-folder.ts';
import { checkHub } from './examine-hub.ts';
import { checkKeys } from './examine-keys.ts';
import { checkPasskeys } from './examine-passkeys.ts';
import { checkSearch } from './examine-search.ts';
import { findPrograms, type FoundProgram, programChecks } from './examine-programs.ts';
import { findReach, type FoundReach, reachChecks } from './examine-reach.ts';

export interface DoctorReport extends Pick<
  RecordReport,
  'integrity' | 'chain' | 'index' | 'counts' | 'problems'
> {
  ok: boolean;
  version: string;
  data: string;
  checks: Check[];
  programs: FoundProgram[];
  /** The agents that the hub knows, and whether a call would reach them now; none while no hub runs. */
  reach: FoundReach[];
}

/** The oldest Node the hub runs on. */
const OLDEST_NODE = [20, 20] as const;

/** The checks whose problems the record names itself. */
const OF_RECORD: ReadonlySet<string> = new Set(['integrity', 'chain', 'index']);

/** Looks at everything once and changes nothing; `before` was found already. */
export async function examine(
  config: Config,
  before: readonly Check[] = [],
  reached?: Reached,
): Promise<DoctorReport> {
  // The files come first: reading some of them would close their modes.
  const files = checkFiles(config.data);
  const place = await recordPlace(config);
  const record = await place.check(reached);
  const engine = await place.engine();
  const [programs, { hub, nodes }] = await Promise.all([findPrograms(), checkHub(config)]);
  const faults: Check[] = [];
  const reach = hub.ok
    ? await findReach(config).catch((error: Error) => {
        faults.push({ name: 'reach', ok: false, detail: `it could not be tried: ${error.message}` });
        return [];
      })
    : [];
  const keys = checkKeys(await keyText(config), Date.now());
  const checks = [
    ...before,
    checkNode(),
    { name: engine.name, ok: true, detail: engine.version },
    ...files,
    checkDisk(config.data),
    ...keys,
    ...recordChecks(record, engine.name),
    await checkArtifacts(config, place),
    await checkPasskeys(place),
    await checkClock(place),
    hub,
    ...(nodes === undefined ? [] : [nodes]),
    ...(await checkSearch(config)),
    ...programChecks(programs),
    ...reachChecks(reach),
    ...faults,
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
    reach,
  };
}

/** The file of keys; in a folder it is read without closing its mode, which is told of and left as it is. */
async function keyText(config: Config): Promise<string | undefined> {
  if (config.store !== '') return withStateFiles(config, (stateFiles) => stateFiles.look(KEY_FILE).text);
  const path = join(config.data, KEY_FILE);
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

function checkNode(): Check {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const ok = major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
  return { name: 'node', ok, detail: ok ? process.version : `${process.version}; 20.20 or newer is needed` };
}

function recordChecks({ counts, first }: RecordReport, engine: 'sqlite' | 'postgres'): Check[] {
  return [
    {
      name: 'integrity',
      ok: first.integrity === undefined,
      detail: first.integrity ?? (engine === 'sqlite' ? 'SQLite finds no damage' : 'every row has its sum'),
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
