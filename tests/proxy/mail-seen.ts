import type { ResponsesRequest } from '@parley/runtimes';

import { textOf } from '../runtimes/scripted-agent.ts';

const HEAD = /^message_id: "(.*)"\n(?:(?:summary|priority): .*\n)*boundary: "(\w+)"$/gm;

/** How often a model was given each mail: every time has a boundary of its own. */
export function timesGiven(requests: readonly Pick<ResponsesRequest, 'body'>[]): Map<string, number> {
  const boundaries = new Map<string, Set<string>>();
  for (const { body } of requests)
    for (const item of body.input)
      for (const [, id = '', boundary = ''] of textOf(item).matchAll(HEAD))
        boundaries.set(id, (boundaries.get(id) ?? new Set()).add(boundary));
  return new Map([...boundaries].map(([id, { size }]) => [id, size]));
}
