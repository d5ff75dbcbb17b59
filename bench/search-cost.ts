import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { type Command, type SearchQuery, workspaceTag } from '@parley/core';
import { type Caller, threadId, ulid } from '@parley/protocol';

import { Batches } from '../packages/store-sqlite/src/batches.ts';
import { openReader, openWriter } from '../packages/store-sqlite/src/open-database.ts';
import { DATABASE_FILE } from '../packages/store-sqlite/src/open-store.ts';
import { WordSearch } from '../packages/store-sqlite/src/word-search.ts';

import { hold, line } from './report.ts';

const SIZES = [1_000, 10_000, 100_000, 1_000_000];
const THREADS = 400;
const BATCH = 500;
/** The median of some rounds, since neighbours on the machine take their share of its caches. */
const ROUNDS = 5;
const RUNS = 8;
const NOW = Date.UTC(2030, 0, 1);

/** What a search among messages costs in a log of a thousand to a million, in CPU time of the thread that searches. */
export async function benchSearchCost(): Promise<void> {
  const most = Number(process.env['BENCH_MESSAGES'] ?? SIZES.at(-1));
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-'));
  const path = join(folder, DATABASE_FILE);
  const writer = new Batches(openWriter(path, ({ text }) => line('told', text)));
  const costs = new Map<string, Cost[]>();
  try {
    const log = new LogWriter(writer);
    for (const size of SIZES.filter((one) => one <= most)) {
      log.growTo(size);
      const db = openReader(path);
      const words = new WordSearch(db);
      for (const [name, query] of Object.entries(questions(size))) {
        const cost = measure(words, query);
        costs.set(name, [...(costs.get(name) ?? []), cost]);
        line(`${size} messages, ${name}`, `${cost.ms.toFixed(2)} ms  ${cost.reported}`);
      }
      db.close();
    }
  } finally {
    writer.close();
    rmSync(folder, { recursive: true });
  }
  for (const [name, [, small, medium, large]] of costs) {
    if (small === undefined || medium === undefined || large === undefined) continue;
    hold('search-cost.ms', large.ms, { what: name, figure: `${large.ms.toFixed(2)} ms at 10⁶` });
    // What finds all there is costs with what it finds; from where it no longer looks at all, it costs the same.
    const [from, size] = small.isBounded ? [small, '10⁴'] : [medium, '10⁵'];
    const ratio = large.ms / from.ms;
    const reported = `${ratio.toFixed(2)} of that at ${size}`;
    if (from.isBounded) hold('search-cost.ratio', ratio, { what: name, figure: reported });
    else line(name, reported);
  }
}

/** What a search costs, and whether it looked at some of the matches only. */
interface Cost {
  ms: number;
  reported: string;
  isBounded: boolean;
}

function questions(size: number): Record<string, SearchQuery> {
  const by = (text: string, more: Partial<SearchQuery> = {}): SearchQuery => ({
    workspace_id: 'w',
    participant: undefined,
    thread_id: undefined,
    text,
    limit: 20,
    ...more,
  });
  const many = Array.from({ length: 150 }, (_, i) => `word${i}`)
    .join(' ')
    .slice(0, 1_000);
  return {
    'two common words': by('common word1'),
    'common words that never meet': by('odd even'),
    'a rare word': by('needle'),
    'a rare and a common word': by('needle common'),
    'a word of one message in a hundred, and a common one': by('seldom common'),
    'one in a hundred, never with the other': by('seldom nothere odd even'),
    'no such word': by('unheard common'),
    '1 kB of the same word': by('common '.repeat(142)),
    '150 different words': by(many),
    'a phrase of common words': by('"common word1"'),
    'a phrase that is nowhere': by('"even common odd"'),
    'the beginning of a word': by('comm*'),
    'two common words, by one of a few threads': by('common word1', { participant: 'few' }),
    'two common words, by one of many threads': by('common word1', { participant: 'many' }),
    'words that never meet, by one of many threads': by('odd even', { participant: 'many' }),
    'two common words in one thread': by('common word1', { thread_id: nameOf('w', 7) }),
    'a small workspace beside': by('common word1', { workspace_id: 'beside' }),
    'a rare word of a small workspace': by(`only${Math.floor(size / 2_000) * 1_000}`, {
      workspace_id: 'beside',
    }),
  };
}

function measure(words: WordSearch, query: SearchQuery): Cost {
  const { hits, lacks } = words.search(query);
  const rounds = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage();
    for (let i = 0; i < RUNS; i++) words.search(query);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000 / RUNS;
  });
  const ms = rounds.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
  const reported = `${hits.length} hits, ${lacks.length === 0 ? 'all' : `without ${lacks.join(', ')}`}`;
  return { ms, reported, isBounded: lacks.includes('older_matches') };
}

/** Writes messages as the hub would, and indexes them. */
class LogWriter {
  readonly #writer: Batches;
  #written = 0;
  #seed = 1;

  constructor(writer: Batches) {
    this.#writer = writer;
    const participants = (n: number): string[] => [
      ...(n < 5 ? ['few'] : []),
      ...(n % 4 === 0 ? ['many'] : []),
    ];
    for (const workspace of ['w', 'beside'])
      for (let n = 0; n < THREADS; n++)
        this.#run([
          {
            type: 'create_thread',
            ...head(workspace),
            thread_id: nameOf(workspace, n),
            input: { title: `thread ${n}`, type: 'conversation', participants: participants(n) },
          },
        ]);
  }

  growTo(size: number): void {
    while (this.#written < size) {
      const left = Math.min(BATCH, size - this.#written);
      this.#run(Array.from({ length: left }, () => this.#post(this.#written++)));
      while (this.#writer.idle() !== undefined);
      if (this.#written % 10_000 === 0) process.stderr.write(`\r${this.#written} of ${size} written `);
    }
    process.stderr.write('\n');
  }

  #post(n: number): Command {
    // One message in a hundred is of another workspace.
    const workspace = n % 100 === 50 ? 'beside' : 'w';
    const body = [
      ...Array.from({ length: 30 }, () => `word${Math.floor(this.#random() ** 3 * 5_000)}`),
      'common word1',
      n % 2 === 0 ? 'even' : 'odd',
      ...(n % 100 === 9 ? ['seldom'] : []),
      ...(n % 1_000 === 500 ? ['needle'].slice(n > 20_000 ? 1 : 0) : []),
      ...(workspace === 'beside' ? [`only${n - 50}`] : []),
    ].join(' ');
    const thread_id = nameOf(workspace, Math.floor(this.#random() * THREADS));
    const input = { schema_version: 1, kind: 'chat', body } as const;
    return { type: 'post_message', ...head(workspace), thread_id, input };
  }

  #run(commands: Command[]): void {
    const refused = this.#writer.run(commands).find(({ ok }) => ok === undefined);
    if (refused !== undefined) throw new Error(JSON.stringify(refused));
  }

  /** The same numbers in every run. */
  #random(): number {
    this.#seed = (Math.imul(this.#seed, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return this.#seed / 0x7fff_ffff;
  }
}

let salt = 0;

function head(workspace_id: string) {
  const caller: Caller = { agent_id: 'ann', workspace_id, role: 'operator', session_id: 'ann-1' };
  return { caller, now: NOW + salt, salt: salt++ % 1_000 };
}

function nameOf(workspace_id: string, n: number): string {
  return threadId(ulid(NOW + n, new Uint8Array(16)), workspaceTag(workspace_id));
}
