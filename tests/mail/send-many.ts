/** A writer of ours in a process of its own: sends `count` mails under ids that stay the same, and says which are acknowledged. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';

import { openMail } from '@parley/mail';

const [home = '', team = '', to = '', name = '', first = '0', count = '0'] = process.argv.slice(2);
const teamMail = openMail({
  teams: join(home, '.claude', 'teams'),
  archive: join(home, '.config', 'atm', 'mail'),
  team,
  now: () => new Date(),
  newId: randomUUID,
  log: () => {},
});
const AT_ONCE = 8;
let next = Number(first);
const last = Number(first) + Number(count);

async function sendOn(): Promise<void> {
  while (next < last) {
    const id = `${name}-${next++}`;
    await teamMail.send(name, { to, message: `text of ${id}`, message_id: id });
    process.stdout.write(`${id}\n`);
  }
}
await Promise.all(Array.from({ length: AT_ONCE }, sendOn));
teamMail.close();
