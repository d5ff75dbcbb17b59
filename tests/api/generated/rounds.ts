/** The round of a caller through types of openapi-typescript, as text: it compiles only beside what is generated. */
export const OPENAPI_FETCH_ROUND = `import createClient from 'openapi-fetch';

import type { components, paths } from './schema.js';

const { PARLEY_URL: baseUrl = '', PARLEY_TOKEN: token = '', PARLEY_DOCUMENT: document_id = '' } = process.env;
const client = createClient<paths>({ baseUrl, headers: { authorization: 'Bearer ' + token } });

function there<T>({ data, error }: { data?: T; error?: unknown }): T {
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data;
}

const { thread_id } = there(await client.POST('/v1/create_thread', { body: { title: 'made by types' } }));
const posted = there(
  await client.POST('/v1/post_message', { body: { thread_id, schema_version: 1, body: 'a zebra' } }),
);
const read = there(await client.POST('/v1/read_messages', { body: { thread_id, limit: 5 } }));
const first: components['schemas']['Message'] | undefined = read.messages[0];
const acked = there(await client.POST('/v1/ack_read', { body: { thread_id, last_read_seq: posted.seq } }));
const { ask } = there(
  await client.POST('/v1/raise_ask', { body: { prompt: 'Which?', thread_id, options: [{ id: 'a', label: 'A' }] } }),
);
const content = { mime_type: 'text/markdown' as const, body: 'stripes' };
there(
  await client.POST('/v1/create_document', {
    body: { document_id, parent_id: 'root', content, metadata: { title: 'Zebra' } },
  }),
);
const document = there(
  await client.GET('/v1/documents/{document_id}', { params: { path: { document_id } } }),
);
const found = there(await client.POST('/v1/search_messages', { body: { query: 'zebra', thread_id } }));
const refused = await client.POST('/v1/get_thread', { body: { thread_id: 'thr_none' } });
// @ts-expect-error: a number is no text
const wrong = () => client.POST('/v1/create_thread', { body: { title: 3 } });
console.log(
  JSON.stringify([
    typeof wrong,
    first?.body,
    acked.ok,
    ask.options?.[0]?.id,
    document.document.content?.body,
    found.hits.length,
    refused.error?.error.code,
  ]),
);
`;

/** The same round through a client of hey-api, whose zod schemas check each request and each answer. */
export const HEY_API_ROUND = `import { client } from './hey/client.gen.js';
import {
  ackRead,
  createDocument,
  createThread,
  documentContent,
  getThread,
  postMessage,
  raiseAsk,
  searchMessages,
  threadMessages,
} from './hey/sdk.gen.js';
import type { Message } from './hey/types.gen.js';

const { PARLEY_URL: baseUrl = '', PARLEY_TOKEN: token = '', PARLEY_DOCUMENT: document_id = '' } = process.env;
client.setConfig({ baseUrl, auth: () => token });

const { data: thread } = await createThread({ body: { title: 'made by hey-api' }, throwOnError: true });
const { thread_id } = thread;
const { data: posted } = await postMessage({
  body: { thread_id, schema_version: 1, body: 'a zebra' },
  throwOnError: true,
});
const { data: read } = await threadMessages({ path: { thread_id }, query: { limit: 5 }, throwOnError: true });
const first: Message | undefined = read.messages[0];
const { data: acked } = await ackRead({ body: { thread_id, last_read_seq: posted.seq }, throwOnError: true });
const { data: asked } = await raiseAsk({
  body: { prompt: 'Which?', thread_id, options: [{ id: 'a', label: 'A' }] },
  throwOnError: true,
});
await createDocument({
  body: {
    document_id,
    parent_id: 'root',
    content: { mime_type: 'text/markdown', body: 'stripes' },
    metadata: { title: 'Zebra' },
  },
  throwOnError: true,
});
const { data: document } = await documentContent({ path: { document_id }, throwOnError: true });
const { data: found } = await searchMessages({ body: { query: 'zebra', thread_id }, throwOnError: true });
const { error: refused } = await getThread({ body: { thread_id: 'thr_none' } });
// @ts-expect-error: a number is no text, and the schema says so before anything is sent
const wrong = await createThread({ body: { title: 3 } }).then(
  ({ error }) => (error === undefined ? 'taken' : 'function'),
  () => 'function',
);
console.log(
  JSON.stringify([
    wrong,
    first?.body,
    acked.ok,
    asked.ask.options?.[0]?.id,
    document.document.content?.body,
    found.hits.length,
    refused?.error.code,
  ]),
);
`;
