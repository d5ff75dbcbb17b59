/** For tests: holds an identity in a process of its own until it is ended. */
import { createIdentities } from './identities.ts';

const [sessions, team, identity] = process.argv.slice(2);
try {
  createIdentities(sessions, team).hold(identity);
  process.stdout.write('held\n');
  setInterval(() => {}, 60_000);
} catch (error) {
  process.stdout.write(`${error.code} ${error.data?.error_name}\n`);
}
