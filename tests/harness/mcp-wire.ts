import type { Agent, IncomingHttpHeaders } from 'node:http';

import { send } from './send.ts';

/** A JSON-RPC message as it came over the wire. */
export interface RpcMessage {
  jsonrpc: '2.0';
  id?: string | number | null;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number; message: string; data?: Record<string, unknown> };
}

/** One HTTP answer on `/mcp`: the last message is the answer, what stands before it are notifications. */
export interface RpcReply {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  messages: RpcMessage[];
  answer: RpcMessage | undefined;
}

export interface RpcOptions {
  id?: string | number;
  /** Put over the usual headers; undefined takes one away. */
  headers?: Record<string, string | undefined>;
  /** Put over the usual `_meta`. */
  meta?: Record<string, unknown>;
  agent?: Agent;
  localAddress?: string;
  signal?: AbortSignal;
}

export const MODERN = '2026-07-28';
export const LEGACY = '2025-11-25';

/** What every modern request says about its client. */
export const MODERN_META = {
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
};

let counter = 0;

/** A modern request exactly as told, with the headers that belong to it. */
export function modernMessage(
  method: string,
  params: Record<string, unknown> = {},
  options: RpcOptions = {},
): { body: string; headers: Record<string, string> } {
  const { _meta: meta, ...rest } = params;
  const message = {
    jsonrpc: '2.0',
    id: options.id ?? ++counter,
    method,
    params: { ...rest, _meta: { ...MODERN_META, ...(meta as object | undefined), ...options.meta } },
  };
  const name = params['name'] ?? params['uri'];
  return {
    body: JSON.stringify(message),
    headers: merge(
      {
        'mcp-protocol-version': MODERN,
        'mcp-method': method,
        ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
      },
      options.headers,
    ),
  };
}

/** Sends one request of the newest revision. */
export function modern(
  url: string,
  token: string | undefined,
  method: string,
  params: Record<string, unknown> = {},
  options: RpcOptions = {},
): Promise<RpcReply> {
  const { body, headers } = modernMessage(method, params, options);
  return postRpc(url, token, body, { ...options, headers });
}

/** Posts a body to `/mcp`, whatever it is. */
export async function postRpc(
  url: string,
  token: string | undefined,
  body: string | Uint8Array,
  options: RpcOptions = {},
): Promise<RpcReply> {
  const { agent, localAddress, signal } = options;
  const reply = await send(`${url}/mcp`, {
    method: 'POST',
    body,
    headers: merge(
      {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      options.headers,
    ),
    ...(agent === undefined ? {} : { agent }),
    ...(localAddress === undefined ? {} : { localAddress }),
    ...(signal === undefined ? {} : { signal }),
  });
  const messages = readMessages(reply.headers['content-type'], reply.text);
  return { ...reply, messages, answer: messages.at(-1) };
}

/** The result of an answer that must be one. */
export function resultOf({ answer, status, text }: RpcReply): Record<string, unknown> {
  if (answer?.result === undefined) throw new Error(`no result but ${status}: ${text.slice(0, 500)}`);
  return answer.result;
}

/** The messages in a body, be it JSON or an event stream. */
export function readMessages(type: string | undefined, text: string): RpcMessage[] {
  if (type?.startsWith('application/json') === true) return [JSON.parse(text) as RpcMessage];
  return text
    .split('\n')
    .slice(0, -1)
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)) as RpcMessage);
}

/** A session of the older revisions. */
export interface LegacySession {
  id: string;
  init: RpcReply;
  request(method: string, params?: Record<string, unknown>, options?: RpcOptions): Promise<RpcReply>;
  notify(method: string, params?: Record<string, unknown>): Promise<RpcReply>;
  /** Posts a body in this session, whatever it is. */
  post(body: unknown, options?: RpcOptions): Promise<RpcReply>;
  delete(): Promise<number>;
}

/** Shakes hands and gives the session. */
export async function openLegacy(
  url: string,
  token: string,
  version = LEGACY,
  capabilities: Record<string, unknown> = {},
  client = 'test',
): Promise<LegacySession> {
  const clientInfo = { name: client, version: '1' };
  const params = { protocolVersion: version, capabilities, clientInfo };
  const init = await postRpc(url, token, rpc('initialize', params, ++counter));
  const id = String(init.headers['mcp-session-id']);
  const headers = { 'mcp-session-id': id, 'mcp-protocol-version': version };
  const post = (body: string, options: RpcOptions = {}): Promise<RpcReply> =>
    postRpc(url, token, body, { ...options, headers: { ...headers, ...options.headers } });
  await post(rpc('notifications/initialized'));
  return {
    id,
    init,
    request: (method, more = {}, options = {}) => post(rpc(method, more, options.id ?? ++counter), options),
    notify: (method, more = {}) => post(rpc(method, more)),
    post: (body, options) => post(typeof body === 'string' ? body : JSON.stringify(body), options),
    async delete() {
      const reply = await send(`${url}/mcp`, {
        method: 'DELETE',
        headers: { ...headers, authorization: `Bearer ${token}` },
      });
      return reply.status;
    },
  };
}

function rpc(method: string, params?: Record<string, unknown>, id?: string | number): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params });
}

function merge(
  usual: Record<string, string>,
  given: Record<string, string | undefined> = {},
): Record<string, string> {
  const all = Object.entries({ ...usual, ...given });
  return Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== undefined));
}
