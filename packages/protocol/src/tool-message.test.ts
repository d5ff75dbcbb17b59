import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { fromToolMessage, isToolMessage, toToolMessage } from './tool-message.ts';

// The wire form of langroid 0.65: to_json() spreads the arguments and leaves purpose and id out.
test('[KNOW-22] [C-ENV-27] arguments become the ToolMessage that Langroid reads', () => {
  const args = { query: 'which port?', top_k: 3, filters: { tags: ['a'] } };
  expect(JSON.stringify(toToolMessage('knowledge.query_knowledge', args))).toBe(
    '{"request":"knowledge_query_knowledge","query":"which port?","top_k":3,"filters":{"tags":["a"]}}',
  );
  expect(toToolMessage('run', { id: 1, name: 'x', recipient: 'y', purpose: 'z', request: 'w' })).toEqual({
    request: 'run',
    id__: 1,
    name__: 'x',
    recipient__: 'y',
    purpose__: 'z',
    request__: 'w',
  });
  expect(
    fromToolMessage({ request: 'knowledge_query_knowledge', purpose: 'to ask', id: 'call_1', ...args }),
  ).toEqual(args);
  expect(isToolMessage(args)).toBe(false);
});

test('[KNOW-22] whatever the arguments are, they come out as they went in', () => {
  const names = fc.string().filter((name) => name !== '__proto__' && !name.endsWith('__'));
  fc.assert(
    fc.property(fc.dictionary(names, fc.jsonValue()), (args) => {
      const message = toToolMessage('some.action', args);
      expect(message.request).toBe('some_action');
      expect(isToolMessage(message)).toBe(true);
      expect(fromToolMessage(message)).toEqual({ ...args });
    }),
  );
});
