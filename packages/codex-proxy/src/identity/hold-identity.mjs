/** For tests: holds in a process of its own, until it is ended, the identities that it is told of line by line. */
import { createInterface } from 'node:readline';

import { createIdentities } from './identities.ts';

const all = [];
createInterface({ input: process.stdin }).on('line', (line) => {
  const { folder, team, identity } = JSON.parse(line);
  const identities = createIdentities(folder, team);
  // Whoever lets go of the object lets go of the lock.
  all.push(identities);
  try {
    identities.hold(identity);
    process.stdout.write('held\n');
  } catch (error) {
    process.stdout.write(`${error.code} ${error.data?.error_name}\n`);
  }
});
