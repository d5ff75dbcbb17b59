/** Another program that holds the lock to write to a database until its stdin ends. */
import { createRequire } from 'node:module';

const require = createRequire(new URL('../../packages/sqlite/package.json', import.meta.url));
const { DatabaseSync } = require('@photostructure/sqlite');

const db = new DatabaseSync(process.argv[2]);
db.exec('BEGIN IMMEDIATE');
process.stdout.write('held\n');
process.stdin.on('end', () => {
  db.exec('ROLLBACK');
  db.close();
});
process.stdin.resume();
