import { randomUUID } from 'node:crypto';

import type { Client } from '@parley/client';

interface Page {
  title: string;
  body: string;
  tags?: string[];
  below?: Page[];
}

/** What the demo's people and agents have written down: a small tree whose pages lead to each other. */
const PAGES: Page[] = [
  {
    title: 'Architecture',
    body: 'How the app is made, for whoever is new here. Start with [[Log and cursors]].',
    below: [
      {
        title: 'Log and cursors',
        tags: ['architecture'],
        body: `All faces append to **one** log; every view is a projection of it.

## Why

- what was acknowledged survives a crash
- each reader has one cursor, and it never falls
- the audit comes for free

## How the faces map

| face | write | read |
| ---- | ----- | ---- |
| MCP | \`post_message\` | \`read_messages\` |
| HTTP | \`POST /v1/threads/…/messages\` | \`GET\` |
| WebSocket | \`command\` | \`event\` |

> A view that cannot be made anew from the log is a second truth.

See [[0002 One log]] for the decision, and [[Agent is stuck]] for what to do when a cursor stops.`,
      },
      {
        title: 'Profile mapper',
        tags: ['architecture', 'mobile'],
        body: `Turns what the server sends into a profile.

\`\`\`dart
final name = dto.nickname ?? dto.displayName;
\`\`\`

A missing field is not an empty one: see [[Error codes]].`,
      },
    ],
  },
  {
    title: 'Decisions',
    body: 'One page each: the question, the answer, what it costs.',
    below: [
      {
        title: '0001 SQLite first',
        tags: ['decision'],
        body: 'One file, nothing to set up. PostgreSQL by configuration when one machine is not enough.',
      },
      {
        title: '0002 One log',
        tags: ['decision'],
        body: 'The log with cursors, because it is the only design that can be replayed. Compared in the thread *Queue design*.\n\nWhat it costs: a reader that falls behind reads more. See [[Log and cursors]].',
      },
    ],
  },
  {
    title: 'Runbooks',
    body: 'What to do when something is wrong.',
    below: [
      {
        title: 'Agent is stuck',
        tags: ['runbook'],
        body: `1. Look at the reason on **Now**: silent, rate-limited, or gone?
2. Prod it once. Wait for the state to change.
3. Wake it when its process is gone; the ladder tells which door was used.
4. A cursor that does not move while messages come in: see [[Log and cursors]].`,
      },
      {
        title: 'Nightly build is red',
        tags: ['runbook', 'ci'],
        body: 'Exit 137 is memory: run with two workers, then with one. Owner: sisyphus.',
      },
    ],
  },
];

/** Writes the demo's documents, and changes one of them so that there is a history to look at. */
export async function writeDocuments(planner: Client): Promise<void> {
  const ids = new Map<string, string>();
  const write = async (pages: readonly Page[], parent_id: string): Promise<void> => {
    for (const { title, body, tags, below = [] } of pages) {
      const document_id = randomUUID();
      ids.set(title, document_id);
      await planner.create_document({
        document_id,
        parent_id,
        content: { mime_type: 'text/markdown', body },
        metadata: { title, ...(tags === undefined ? {} : { tags }) },
      });
      await write(below, document_id);
    }
  };
  await write(PAGES, 'root');
  await planner.update_document({
    document_id: ids.get('Nightly build is red') ?? '',
    patch: {
      content: {
        body: 'Exit 137 is memory: run with one worker, and say so in the thread. Owner: sisyphus.\n\nThe emulator is shared since Tuesday.',
      },
    },
    update_mask: ['content.body'],
  });
}
