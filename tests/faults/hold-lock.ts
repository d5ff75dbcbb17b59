import { sqliteModule } from '@parley/sqlite';

// Another program: it holds the lock to write to a database until its stdin ends.
const db = new (sqliteModule().DatabaseSync)(process.argv[2] ?? '', { timeout: 5_000 });
db.exec('BEGIN IMMEDIATE');
process.stdout.write('held\n');
process.stdin.on('end', () => {
  db.exec('ROLLBACK');
  db.close();
});
process.stdin.resume();
