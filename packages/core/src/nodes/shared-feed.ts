import type { Caller } from '@parley/protocol';

import { offerKey } from '../evidence/offer-run.ts';
import type { Feed } from '../feed.ts';
import { announce } from '../log.ts';
import type { Offer } from '../records.ts';
import type { Reached } from '../store.ts';
import type { Bus } from './bus.ts';

type Who = Pick<Caller, 'workspace_id' | 'agent_id'>;

/** The feed as all nodes hear it: what one of them writes is announced on the others. */
export interface SharedFeed {
  /** The feed of this process, whose rings are heard everywhere. */
  feed: Feed;
  /** This process has written something: the others hear how far it has come. */
  wrote(reached: readonly Reached[]): void;
  /** What an agent has not read is another thing now: it says so itself, or was given something. */
  hasRead(who: Who, given?: Offer): void;
}

export interface SharedFeedDeps {
  bus: Bus;
  feed: Feed;
  /** Another has written something, or an agent has read. */
  onWritten: (reached: readonly Reached[]) => void;
  onRead: (who: Who, given: Offer | undefined) => void;
}

const NEWS = 'feed';

/** Positions only, what comes in one turn of the loop together; whatever is lost is found by the poll. */
interface News {
  written: Reached[];
  rung: string[];
  read: Read[];
}

interface Read extends Who {
  given?: Offer;
}

/** Puts a feed on the bus. */
export function shareFeed({ bus, feed, onWritten, onRead }: SharedFeedDeps): SharedFeed {
  let written: Reached[] = [];
  const rung = new Set<string>();
  const read = new Map<string, Read>();
  let isPlanned = false;

  function flush(): void {
    isPlanned = false;
    const news: News = { written: merged(written), rung: [...rung], read: [...read.values()] };
    written = [];
    rung.clear();
    read.clear();
    bus.publish(NEWS, news);
  }

  function plan(): void {
    if (isPlanned) return;
    isPlanned = true;
    setImmediate(flush);
  }

  bus.subscribe(NEWS, (body) => {
    // Only nodes of this hub speak on the bus: what they say is sealed, and this is how they say it.
    const news = body as News;
    onWritten(news.written);
    for (const { given, ...who } of news.read) onRead(who, given);
    for (const reached of news.written) announce(feed, reached);
    for (const topic of news.rung) feed.ring(topic);
  });

  return {
    feed: {
      ...feed,
      ring(topic) {
        feed.ring(topic);
        rung.add(topic);
        plan();
      },
    },
    wrote(reached) {
      written.push(...reached);
      plan();
    },
    hasRead({ workspace_id, agent_id }, given) {
      const way = given === undefined ? '' : offerKey(given);
      // What is noted last of one way holds all of it.
      read.set(`${workspace_id} ${agent_id} ${way}`, { workspace_id, agent_id, ...(given && { given }) });
      plan();
    },
  };
}

/** What follows upon one another in one thread is one step. */
function merged(all: readonly Reached[]): Reached[] {
  const steps: Reached[] = [];
  for (const next of all) {
    const last = steps.at(-1);
    if (last?.thread_id === next.thread_id && last.pos === next.after)
      steps[steps.length - 1] = { ...next, after: last.after };
    else steps.push(next);
  }
  return steps;
}
