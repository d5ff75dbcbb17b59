import { readAll } from '@parley/protocol';

import { call } from '../data/api.ts';
import type { History, Range } from './window.ts';

/** So many agents at most have a row. */
const MOST_AGENTS = 300;
/** So many further pages of one agent are fetched; what is older than that is told to be missing. */
const MORE_PAGES = 4;

/** What the agents of the workspace were at in a range. */
export async function fetchHistories({ from, to }: Range): Promise<History[]> {
  const since = new Date(from).toISOString();
  const until = new Date(to).toISOString();
  const all = await readAll(
    (place) => call('list_agent_states', { ...place, since, until }),
    (page) => page.agents,
    MOST_AGENTS,
  );
  return Promise.all(all.map((one) => withOlder(one, since)));
}

/** An agent that changed often has more than a page. */
async function withOlder(history: History, since: string): Promise<History> {
  let { stretches, older_than } = history;
  for (let page = 0; page < MORE_PAGES && older_than !== null; page++) {
    const input = { of_agent: history.agent_id, since, until: older_than };
    const [older] = (await call('list_agent_states', input)).agents;
    stretches = [...(older?.stretches ?? []), ...stretches];
    older_than = older?.older_than ?? null;
  }
  return { ...history, stretches, older_than };
}
