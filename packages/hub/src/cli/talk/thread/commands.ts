import type { Command } from 'commander';

import { addList, addNew } from './list.ts';
import { addPresence } from './presence.ts';
import { addShow, addStatus, addSummary } from './show.ts';
import { addSideCommands } from './side.ts';
import { addSteerCommands } from './steer.ts';

/** `parley thread`: list, start, look at and steer threads. */
export function addThreadCommands(program: Command): void {
  const thread = program.command('thread').description('list, start, show and steer threads');
  addList(thread);
  addNew(thread);
  addShow(thread);
  addStatus(thread);
  addSummary(thread);
  addSteerCommands(thread);
  addSideCommands(thread);
  addPresence(thread);
}
