import { cpus, totalmem } from 'node:os';

import { benchBatching } from './batching.ts';
import { benchDashboard } from './dashboard.ts';
import { benchEnvelope } from './envelope.ts';
import { benchFanout } from './fanout.ts';
import { benchFollow } from './follow.ts';
import { benchIsolation } from './isolation.ts';
import { benchMail } from './mail.ts';
import { benchMcp } from './mcp.ts';
import { benchMillion } from './million.ts';
import { benchPosts } from './posts.ts';
import { benchProxy } from './proxy.ts';
import { benchWake } from './wake.ts';
import { benchSearch } from './search.ts';
import { benchSearchCost } from './search-cost.ts';
import { benchSearchSize } from './search-size.ts';

/** The figures we promise, each beside its reference in the same run; name some to run only those. */
const BENCHES: Record<string, () => Promise<void>> = {
  posts: benchPosts,
  batching: benchBatching,
  isolation: benchIsolation,
  mcp: benchMcp,
  follow: benchFollow,
  fanout: benchFanout,
  mail: benchMail,
  million: benchMillion,
  proxy: benchProxy,
  wake: benchWake,
  search: benchSearch,
  envelope: benchEnvelope,
  dashboard: benchDashboard,
  'search-size': benchSearchSize,
  'search-cost': benchSearchCost,
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(BENCHES, name));
if (unknown.length > 0) {
  process.stderr.write(
    `no bench named ${unknown.join(', ')}; there are: ${Object.keys(BENCHES).join(', ')}\n`,
  );
  process.exit(2);
}
process.stdout.write(
  `node ${process.version}, ${cpus().length} cores (${cpus()[0]?.model ?? ''}), ${Math.round(totalmem() / 2 ** 30)} GiB\n`,
);
for (const [name, bench] of Object.entries(BENCHES)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  process.stdout.write(`\n# ${name}\n`);
  await bench();
}
