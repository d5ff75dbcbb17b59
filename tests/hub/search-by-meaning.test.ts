import { existsSync } from 'node:fs';
import { join } from 'node:path';

import type { OutputOf } from '@parley/protocol';
import { describe, expect, test, vi } from 'vitest';

import { faces } from '../harness/call.ts';
import { type Participant, useHub } from '../harness/use-hub.ts';

type Found = OutputOf<'search_messages'>;

const scene = useHub({ settings: { 'mcp.profile': 'full' } });

/** What a hybrid search finds once all that was said can be found by its meaning. */
async function find(who: Participant, query: string, more: { thread_id?: string } = {}): Promise<string[]> {
  const found = await vi.waitFor(async () => {
    const answer: Found = await who.ok('search_messages', { query, mode: 'hybrid', ...more });
    expect(answer).toMatchObject({ complete: true, missing: [] });
    return answer;
  }, 50_000);
  return found.hits.map(({ message }) => message.body);
}

describe.each(faces)('over $name', (face) => {
  const workspace = `w-${face.name.replaceAll(/\W/g, '')}`;
  const as = (name: string, role = 'worker') => scene.as(name, { role, face, workspace });
  const CATS = 'Felines sleep most of the day.';
  const SHIP = 'The release goes out on Friday, when the pipeline is green.';
  const SECRET = 'The felines of the board doze in the afternoon.';

  test('[HUB-M10] [R12] messages are found by what they mean, each by those alone who may read it', async () => {
    const [ann, bob, eve] = [as('ann'), as('bob'), as('eve')];
    const open = await ann.thread('bob');
    const closed = await ann.thread();
    await ann.say(open, CATS);
    await bob.say(open, SHIP);
    await ann.say(open, 'Đường phố Hà Nội rất đông.');
    await ann.say(closed, SECRET);
    expect((await find(bob, 'when do pets rest?'))[0]).toBe(CATS);
    expect((await find(bob, 'how do we deploy a new version?'))[0]).toBe(SHIP);
    expect(await find(bob, 'duong pho')).toEqual(['Đường phố Hà Nội rất đông.']);
    // Who takes part finds it, who does not finds nothing of it; who steers the workspace finds all.
    expect(await find(ann, 'felines dozing')).toContain(SECRET);
    expect(await find(bob, 'felines dozing of the board')).not.toContain(SECRET);
    expect(await find(eve, 'felines dozing of the board')).toEqual([]);
    expect(await find(as('opal', 'operator'), 'felines dozing')).toContain(SECRET);
    expect(await find(ann, 'felines', { thread_id: closed })).toEqual([SECRET]);
    await bob.refused(
      'search_messages',
      { query: 'felines', mode: 'hybrid', thread_id: closed },
      'FORBIDDEN',
    );
    const stranger = scene.as('ann', { role: 'operator', face, workspace: `${workspace}-other` });
    expect(await find(stranger, 'felines dozing')).toEqual([]);
    // Who is let in later finds what was said before.
    await as('opal', 'operator').ok('control_thread', {
      thread_id: closed,
      control: { invite: { participant_id: 'bob' } },
    });
    expect(await find(bob, 'felines dozing of the board')).toContain(SECRET);
  });

  test('[HUB-M10] without the mode all words count, as ever', async () => {
    const ann = as('ann');
    await vi.waitFor(async () => {
      const { hits, missing } = await ann.ok('search_messages', { query: 'felines day' });
      expect([hits.map(({ message }) => message.body), missing]).toEqual([[CATS], []]);
    }, 20_000);
    await ann.refused('search_messages', { query: 'x', mode: 'magic' }, 'VALIDATION_ERROR');
  });
});

test('[HUB-M10] the index is there from the first who asked for it', () => {
  expect(existsSync(join(scene.hub.data, 'search-messages.db'))).toBe(true);
});
