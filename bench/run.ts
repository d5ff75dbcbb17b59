import { cpus, totalmem } from 'node:os';
import { parseArgs } from 'node:util';

import { benchBatching } from './batching.ts';
import { benchBefore } from './before.ts';
import { benchDashboard } from './dashboard.ts';
import { benchEnvelope } from './envelope.ts';
import { benchFanout } from './fanout.ts';
import { benchFollow } from './follow.ts';
import { benchHousekeeping } from './housekeeping.ts';
import { benchIndexLag } from './index-lag.ts';
import { benchIsolation } from './isolation.ts';
import { benchLists } from './lists.ts';
import { benchMail } from './mail.ts';
import { benchMcp } from './mcp.ts';
import { benchMillion } from './million.ts';
import { benchPosts } from './posts.ts';
import { benchProxy } from './proxy.ts';
import { benchRebuild } from './rebuild.ts';
import { benchTree } from './tree.ts';
import { benchTerminal } from './terminal.ts';
import { benchWake } from './wake.ts';
import { type BenchPromise, PROMISES, promiseText } from './promises.ts';
import { outcomes } from './report.ts';
import { benchScale } from './scale.ts';
import { benchScaleModel } from './scale-model.ts';
import { benchSearch } from './search.ts';
import { benchSearchCost } from './search-cost.ts';
import { benchSearchSize } from './search-size.ts';
import { benchSearchAnswers } from './search-answers.ts';
import { benchSearchSpeed } from './search-speed.ts';

/** The benches in the order in which they run; what each promises stands in promises.ts under its name. */
const BENCHES: Record<string, () => Promise<void>> = {
  posts: benchPosts,
  batching: benchBatching,
  isolation: benchIsolation,
  housekeeping: benchHousekeeping,
  lists: benchLists,
  mcp: benchMcp,
  follow: benchFollow,
  fanout: benchFanout,
  mail: benchMail,
  million: benchMillion,
  rebuild: benchRebuild,
  before: benchBefore,
  scale: benchScale,
  'scale-model': benchScaleModel,
  'index-lag': benchIndexLag,
  proxy: benchProxy,
  wake: benchWake,
  terminal: benchTerminal,
  search: benchSearch,
  envelope: benchEnvelope,
  tree: benchTree,
  dashboard: benchDashboard,
  'search-size': benchSearchSize,
  'search-cost': benchSearchCost,
  'search-speed': benchSearchSpeed,
  'search-answers': benchSearchAnswers,
};

const help = `Usage: npm run bench -- [names] [options]

Measures the figures we promise, each beside its reference in the same run; name some to run only those.

  --check   end with 1 where a promise that was measured does not hold
  --list    the benches with what each promises
  --json    {"promises":[{"id","what","figure","promised","held","aim"}]} on stdout, the report on stderr; run with npm run --silent
  --help    this text
`;

const { values: options, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: {
    check: { type: 'boolean' },
    list: { type: 'boolean' },
    json: { type: 'boolean' },
    help: { type: 'boolean' },
  },
});
const unknown = wanted.filter((name) => !Object.hasOwn(BENCHES, name));

if (options.help) process.stdout.write(help);
else if (options.list) list();
else if (unknown.length > 0) {
  const there = Object.keys(BENCHES).join(', ');
  process.stderr.write(`no bench named ${unknown.join(', ')}; there are: ${there}\n`);
  process.exitCode = 2;
} else await measure();

function list(): void {
  for (const name of Object.keys(BENCHES)) {
    process.stdout.write(`${name}\n`);
    for (const [id, promise] of Object.entries<BenchPromise>(PROMISES))
      if (id.startsWith(`${name}.`))
        process.stdout.write(
          `  ${promise.what}: ${promiseText(promise)}${promise.aim === true ? ' (aim)' : ''}\n`,
        );
  }
}

async function measure(): Promise<void> {
  const out = options.json ? process.stderr : process.stdout;
  const [cpu] = cpus();
  out.write(
    `node ${process.version}, ${cpus().length} cores (${cpu?.model ?? ''}), ${Math.round(totalmem() / 2 ** 30)} GiB\n`,
  );
  for (const [name, bench] of Object.entries(BENCHES)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    out.write(`\n# ${name}\n`);
    await bench();
  }
  const broken = outcomes.filter(({ held, aim }) => !held && !aim);
  if (broken.length > 0) out.write(`\nBROKEN: ${broken.map(({ what }) => what).join('; ')}\n`);
  if (options.json) process.stdout.write(`${JSON.stringify({ promises: outcomes }, null, 2)}\n`);
  if (options.check && broken.length > 0) process.exitCode = 1;
}
