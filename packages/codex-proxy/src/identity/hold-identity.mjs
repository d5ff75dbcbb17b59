/** For tests: holds an identity in a process of its own until it is ended. */
import { createIdentities } from './identities.ts';

const [sessions, team, identity] = process.argv.slice(2);
try {
  const identities = createIdentities(sessions, team);
  identities.hold(identity);
  process.stdout.write('held\n');
  // Whoever lets go of the object lets go of the lock.
  setInterval(() => identities.bindings(), 60_000);
} catch (error) {
  process.stdout.write(`${error.code} ${error.data?.error_name}\n`);
}
