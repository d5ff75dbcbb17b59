import { hash } from 'node:crypto';

import type { NodeCalls } from '@parley/core';
import { type Caller, LiveError, type LiveMessage } from '@parley/protocol';

/** Sees to it that a message that comes again under its id happens once, at whichever node. */
export interface Repeats {
  /** Does what a message asks for, unless that is done or under way: then it ends as the first did. */
  once(caller: Caller, message: LiveMessage, act: () => Promise<void>): Promise<void>;
}

/** The name of this node, and the way to the others. */
export interface RepeatNodes {
  own: string;
  calls: Pick<NodeCalls, 'ask' | 'askAll' | 'answer'>;
}

interface Named {
  key: string;
  digest: string;
}

interface Known {
  digest: string;
  done: Promise<void>;
  /** It is done or under way here, or known to be done; or another node does it; or it is not known yet whose it is. */
  is: 'had' | 'left' | 'open';
  /** The node that has it in the same moment, and goes first. */
  leftTo?: string | undefined;
}

/** How many messages are remembered; what is older the store still knows by its key. */
const REMEMBERED = 10_000;

const HAS = 'ws.has';
const HAS_DONE = 'ws.has_done';
/** How long the others may take to say whether they have a message: one that is silent for less still counts as there. */
const HAS_MS = 6_000;
/** How long they may take to do what it asks for before they are asked again. */
const DONE_MS = 20_000;

export function createRepeats(nodes?: RepeatNodes): Repeats {
  const knownByKey = new Map<string, Known>();

  /**
   * What this node says of a message that has come to another. Of nodes that ask in the same moment the first by name
   * goes on; whoever leaves it to another does not have it, or each could wait for the next in a ring.
   */
  function has({ key, digest }: Named, own: string, from: string): 'new' | 'same' | 'another' {
    const known = knownByKey.get(key);
    if (known === undefined) return 'new';
    if (known.digest !== digest) return 'another';
    if (known.is === 'had' || (known.is === 'open' && own < from)) return 'same';
    if (known.is === 'open') known.leftTo = from;
    return 'new';
  }

  if (nodes !== undefined) {
    const { own, calls } = nodes;
    // Only nodes of this hub speak on the bus: what they say is sealed, and this is how they say it.
    calls.answer(HAS, (body, { from }) => has(body as Named, own, from));
    calls.answer(HAS_DONE, (body) =>
      // As above.
      knownByKey.get(body as string)?.done.then(
        () => true,
        () => false,
      ),
    );
  }

  /** True once another node has done it; what came to nothing there is tried here, or at one of those that wait too. */
  async function isDoneElsewhere({ calls }: RepeatNodes, named: Named, known: Known): Promise<boolean> {
    for (;;) {
      known.is = 'open';
      known.leftTo = undefined;
      const answers = await calls.askAll(HAS, named, { timeoutMs: HAS_MS });
      if (answers.some(({ answer }) => answer === 'another')) throw repeated();
      const node = answers.find(({ answer }) => answer === 'same')?.node ?? known.leftTo;
      known.is = node === undefined ? 'had' : 'left';
      if (node === undefined) return false;
      const isDone = await calls.ask(node, HAS_DONE, named.key, { timeoutMs: DONE_MS }).catch(() => false);
      if (isDone !== true) continue;
      known.is = 'had';
      return true;
    }
  }

  return {
    once({ workspace_id, agent_id }, { id, type, target, payload }, act) {
      const key = `${workspace_id} ${agent_id} ${id}`;
      const digest = hash('sha256', JSON.stringify([type, target, payload]), 'base64');
      const before = knownByKey.get(key);
      if (before !== undefined) {
        if (before.digest === digest) return before.done;
        throw repeated();
      }
      const known: Known = { digest, done: Promise.resolve(), is: 'had' };
      knownByKey.set(key, known);
      known.done =
        nodes === undefined
          ? act()
          : isDoneElsewhere(nodes, { key, digest }, known).then((isDone) => (isDone ? undefined : act()));
      // What was refused has not happened and may be tried again.
      known.done.catch(() => knownByKey.delete(key));
      const [oldest] = knownByKey.keys();
      if (knownByKey.size > REMEMBERED && oldest !== undefined) knownByKey.delete(oldest);
      return known.done;
    },
  };
}

function repeated(): LiveError {
  return new LiveError('INVALID_COMMAND', 'another message had this id; use a new one for each', {
    field: 'id',
    reason: 'repeated_id',
  });
}
