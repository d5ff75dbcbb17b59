import { clip } from '@parley/runtimes';
import type { BridgeDeps } from './bridge-deps.ts';
import { digestOf } from './bridge-names.ts';

/** One end of a conversation: its name at the hub, and the one that people know. */
export interface Party {
  hubName: string;
  name: string;
  /** One of the team, who may make the thread; nobody else's name is used. */
  isOurs: boolean;
}

/** The threads in which two of them talk. */
export interface PairThreads {
  /** Made when it is needed first. */
  of(a: Party, b: Party): Promise<string>;
  /** This thread takes nothing more: the next one of the pair is another. */
  retire(a: Party, b: Party, threadId: string): void;
}

/** Keeps one thread for each pair, whatever happens between making it and remembering it. */
export function createPairThreads({
  team,
  hubClients,
  file,
}: Pick<BridgeDeps, 'team' | 'hubClients' | 'file'>): PairThreads {
  const making = new Map<string, Promise<string>>();
  const { threads } = file.state;
  const keyOf = (a: Party, b: Party): string => [a.hubName, b.hubName].toSorted().join(' ');

  async function make(key: string, parties: readonly Party[]): Promise<string> {
    const round = (threads[key]?.round ?? 0) + 1;
    // Always the same one makes it: idempotency keys count for each sender.
    const maker = parties.find(({ isOurs }) => isOurs)?.hubName ?? '';
    const names = [...new Set(parties.map(({ name }) => clip(name, 100)))];
    const { thread_id } = await hubClients.as(maker, (client) =>
      client.create_thread({
        title: `Mail: ${names.join(' and ')}`,
        type: 'conversation',
        participants: parties.map(({ hubName }) => hubName),
        idempotency_key: `mail-thread:${digestOf(team, key)}:${round}`,
      }),
    );
    threads[key] = { thread_id, round };
    await file.save();
    return thread_id;
  }

  return {
    of(a, b) {
      const key = keyOf(a, b);
      const known = threads[key]?.thread_id;
      if (known !== undefined && known !== '') return Promise.resolve(known);
      const parties = [a, b].toSorted((one, other) => (one.hubName < other.hubName ? -1 : 1));
      const made = making.get(key) ?? make(key, parties).finally(() => making.delete(key));
      making.set(key, made);
      return made;
    },
    retire(a, b, threadId) {
      const known = threads[keyOf(a, b)];
      if (known?.thread_id === threadId) known.thread_id = '';
    },
  };
}
