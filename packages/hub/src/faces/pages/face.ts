import { type AnswerOf, type CallContext, type Hub, linksIn } from '@parley/core';
import { type Claims, type OperationName, ParleyError } from '@parley/protocol';

import { allow } from '../../allow.ts';
import type { Authenticate } from '../../auth/authenticate.ts';
import { errorHead, type Exchange, HttpRefusal, sendText } from '../../exchange.ts';
import { requestContext } from '../../request-context.ts';
import type { Face } from '../../server.ts';
import { documentPage, pageAddress, partsOf } from './document-page.ts';
import { escapeHtml } from './markup.ts';
import { PAGE_HEADERS, PAGE_TYPE, pageOf } from './page.ts';

export interface PagesOptions {
  hub: Hub;
  authenticate: Authenticate;
}

const PAGE = /^\/d\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;
const MOST_CHILDREN = 100;

/** `/d/<document_id>`: documents for people, in any browser that is signed in or brings a token. */
export function createPagesFace({ hub, authenticate }: PagesOptions): Face {
  async function show(exchange: Exchange, claims: Claims, document_id: string): Promise<void> {
    const context = requestContext(exchange);
    const call = caller(hub, claims, context);
    const asked = new URLSearchParams(exchange.query);
    const wanted = number(asked, 'revision');
    const newest = (await call('get_document', { document_id })).document;
    if (!newest.is_human_readable)
      throw new HttpRefusal(404, 'NOT_FOUND', 'this document is not meant to be read in a browser');
    const document =
      wanted === undefined || wanted === newest.revision
        ? newest
        : (await call('get_document', { document_id, revision: wanted })).document;
    const part = number(asked, 'part') ?? 1;
    if (part < 1 || part > partsOf(document.content.body).length)
      throw new HttpRefusal(404, 'NOT_FOUND', `the document has no part ${part}`);
    const [parent, children, links] = await Promise.all([
      parentOf(call, newest.parent_id),
      call('list_documents', { parent_id: document_id, limit: MOST_CHILDREN }),
      call('get_document_links', { document_id, limit: 1 }),
    ]);
    const idsByName = new Map(links.links.map(({ name, document_id: id }) => [name, id]));
    const page = documentPage(document, part, {
      parent,
      children: children.documents.filter((one) => one.is_human_readable),
      revision: document === newest ? undefined : wanted,
      findLink(written) {
        const id = idsByName.get(linksIn(written)[0] ?? '') ?? undefined;
        return id === undefined ? undefined : pageAddress(id);
      },
    });
    sendText(exchange, PAGE_TYPE, page, PAGE_HEADERS);
  }

  return {
    claims: (path) => path.startsWith('/d/'),
    async handle(exchange) {
      allow(exchange.request.method, ['GET', 'HEAD']);
      const id = PAGE.exec(exchange.path)?.[1];
      const claims = await authenticate(exchange.request);
      if (id === undefined) throw new HttpRefusal(404, 'NOT_FOUND', 'there is no such page');
      await show(exchange, claims, id);
    },
    refuse(exchange, error) {
      const { status, headers } = errorHead(error);
      const [title, words] = reported(status, error, exchange);
      const page = pageOf(title, `<h1>${title}</h1>\n${words}`);
      sendText(exchange, PAGE_TYPE, page, { ...PAGE_HEADERS, ...headers }, status);
    },
  };
}

type CallOperation = <N extends OperationName>(name: N, input: object) => Promise<AnswerOf<N>>;

function caller(hub: Hub, claims: Claims, context: CallContext): CallOperation {
  return (name, input) => hub.call(claims, name, input, context);
}

async function parentOf(call: CallOperation, parentId: string) {
  if (parentId === 'root') return undefined;
  const { document } = await call('get_document', { document_id: parentId });
  return document.is_human_readable ? document : undefined;
}

function number(asked: URLSearchParams, name: string): number | undefined {
  const text = asked.get(name);
  if (text === null) return undefined;
  if (!/^\d{1,9}$/.test(text)) throw new ParleyError('VALIDATION_ERROR', `${name}: must be a number`);
  return Number(text);
}

/** What a person can do about it. */
function reported(status: number, error: ParleyError, { path }: Exchange): [title: string, words: string] {
  if (status === 401 || status === 403) {
    const again = PAGE.test(path)
      ? `<p><a href="${escapeHtml(path)}">Open it from here</a> if this browser is signed in: a link on another site does not bring your sign-in along.</p>`
      : '';
    return [
      status === 401 ? 'Sign in first' : 'Not allowed',
      `<p>${escapeHtml(error.message)}</p>\n${again}<p>To sign this browser in, run <code>parley link</code> where the hub runs and open what it prints, or <code>parley pair</code> for a tablet.</p>`,
    ];
  }
  const title = status === 404 ? 'Not found' : status === 400 ? 'Not understood' : 'This did not work';
  return [title, `<p>${escapeHtml(error.message)}</p>\n<p><a href="/">Back to the dashboard</a></p>`];
}
