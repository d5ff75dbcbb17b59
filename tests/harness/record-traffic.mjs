/**
 * Loaded into a hub under test: writes down what it takes and gives, byte for byte, whoever the client is. It judges
 * nothing: the process of the tests does (`traffic.ts`), so that the hub is measured and not the checks.
 */
import { openSync, writevSync } from 'node:fs';
import { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as TlsServer } from 'node:https';
import { isMainThread } from 'node:worker_threads';

const { PARLEY_TRAFFIC: file = '' } = process.env;
delete process.env.PARLEY_TRAFFIC;

/** So many of each kind are written down whole, then one of so many: a crowd says the same over and over. */
const FIRST = 1_000;
const ONE_OF = 50;
/** No more of one exchange, of one connection and of one hub. */
const EXCHANGE_BYTES = 1_048_576;
const HUB_BYTES = 134_217_728;
const FLUSH_MS = 25;
const FLUSH_BYTES = 262_144;

const seen = new Map();
let pending = [];
let pendingBytes = 0;
let writtenBytes = 0;
let timer;
let descriptor;
let lastId = 0;

/** Adds a piece: whose it is, what it is, its bytes. */
function put(id, kind, bytes) {
  if (descriptor === undefined || writtenBytes > HUB_BYTES) return;
  const head = Buffer.allocUnsafe(9);
  head.writeUInt32LE(id, 0);
  head.writeUInt8(kind.charCodeAt(0), 4);
  head.writeUInt32LE(bytes.length, 5);
  pending.push(head, bytes);
  pendingBytes += bytes.length + 9;
  writtenBytes += bytes.length + 9;
  if (pendingBytes > FLUSH_BYTES) flush();
  else timer ??= setTimeout(flush, FLUSH_MS).unref();
}

function flush() {
  clearTimeout(timer);
  timer = undefined;
  const pieces = pending;
  pending = [];
  pendingBytes = 0;
  try {
    // More pieces than the kernel takes in one call.
    for (let at = 0; at < pieces.length; at += 512) writevSync(descriptor, pieces.slice(at, at + 512));
  } catch {
    // A disk that is full or a limit of a test: the hub goes on, and what is written so far counts.
    descriptor = undefined;
  }
}

function isWanted(key) {
  const count = (seen.get(key) ?? 0) + 1;
  if (seen.size < 1_000 || count > 1) seen.set(key, count);
  return count <= FIRST || count % ONE_OF === 0;
}

/** The kind of a request: its way and the opening of its path, without ids. */
function kindOf({ method = '', url = '' }) {
  const parts = url.split('?', 1)[0].split('/');
  return `${method} ${parts.slice(0, 3).join('/')} ${parts.length} ${parts.length > 4 ? parts.at(-1) : ''}`;
}

const bytesOf = (chunk, encoding) =>
  typeof chunk === 'string'
    ? Buffer.from(chunk, typeof encoding === 'string' ? encoding : 'utf8')
    : chunk instanceof Uint8Array
      ? chunk
      : undefined;
const json = (value) => Buffer.from(JSON.stringify(value));

/** Of a request of which there were many, only a refusal is written down: those are rare. */
function recordRefusal(request, response) {
  const { write, end } = response;
  const said = [];
  response.write = (chunk, ...rest) => {
    if (response.statusCode >= 400) said.push(bytesOf(chunk, rest[0]));
    return write.call(response, chunk, ...rest);
  };
  response.end = (chunk, ...rest) => {
    if (response.statusCode >= 400 && isWanted(`${kindOf(request)} ${response.statusCode}`)) {
      const id = ++lastId;
      put(id, 'r', json({ method: request.method, url: request.url, withoutBody: true }));
      // Every refusal is JSON.
      put(id, 's', json({ status: response.statusCode, type: 'application/json', encoded: false }));
      for (const bytes of [...said, bytesOf(chunk, rest[0])]) if (bytes !== undefined) put(id, 'o', bytes);
      put(id, 'e', Buffer.alloc(0));
    }
    return end.call(response, chunk, ...rest);
  };
}

function headOf(response, told) {
  const header = (name) => told.get(name) ?? response.getHeader(name);
  return {
    status: response.statusCode,
    type: String(header('content-type') ?? ''),
    encoded: header('content-encoding') !== undefined,
  };
}

function recordRequest(request, response) {
  const id = ++lastId;
  let size = 0;
  put(id, 'r', json({ method: request.method, url: request.url }));
  const keep = (kind, chunk, encoding) => {
    const bytes = bytesOf(chunk, encoding);
    if (bytes === undefined || bytes.length === 0) return;
    if (size <= EXCHANGE_BYTES && (size += bytes.length) > EXCHANGE_BYTES) put(id, 'x', Buffer.alloc(0));
    else if (size <= EXCHANGE_BYTES) put(id, kind, bytes);
  };
  const { push } = request;
  request.push = (chunk, encoding) => {
    keep('i', chunk, encoding);
    return push.call(request, chunk, encoding);
  };
  const { write, end, writeHead } = response;
  const told = new Map();
  let isTold = false;
  const answer = (chunk, encoding) => {
    if (!isTold) put(id, 's', json(headOf(response, told)));
    isTold = true;
    keep('o', chunk, encoding);
  };
  response.writeHead = (status, ...rest) => {
    for (const [name, value] of pairsOf(rest.at(-1))) told.set(String(name).toLowerCase(), String(value));
    return writeHead.call(response, status, ...rest);
  };
  response.write = (chunk, ...rest) => {
    answer(chunk, rest[0]);
    return write.call(response, chunk, ...rest);
  };
  response.end = (chunk, ...rest) => {
    answer(chunk, rest[0]);
    put(id, 'e', Buffer.alloc(0));
    return end.call(response, chunk, ...rest);
  };
}

/** Headers as names and values, however they were given. */
function pairsOf(headers) {
  if (!Array.isArray(headers)) return Object.entries(headers ?? {});
  return headers.flatMap((name, i) => (i % 2 === 0 ? [[name, headers[i + 1]]] : []));
}

/** Both ways of a WebSocket as bytes; whoever reads them finds the frames. */
function recordSocket(request, socket) {
  const id = ++lastId;
  let size = 0;
  put(id, 'w', json({ url: request.url }));
  const keep = (kind, bytes) => {
    // Once something is left out, no frame can be told from another.
    if (bytes !== undefined && (size += bytes.length) <= EXCHANGE_BYTES) put(id, kind, bytes);
  };
  const { push, write } = socket;
  socket.push = (chunk, encoding) => {
    // A copy: whoever reads frames takes the mask off in place.
    if (chunk instanceof Uint8Array) keep('i', Buffer.from(chunk));
    return push.call(socket, chunk, encoding);
  };
  socket.write = (chunk, ...rest) => {
    keep('o', bytesOf(chunk, rest[0]));
    return write.call(socket, chunk, ...rest);
  };
}

if (isMainThread && file !== '') {
  descriptor = openSync(file, 'a');
  // That it was there can be seen, whatever becomes of this hub.
  put(0, 'b', Buffer.alloc(0));
  flush();
  process.on('exit', flush);
  for (const { prototype } of [Server, TlsServer]) {
    const emit = Reflect.get(prototype, 'emit');
    prototype.emit = function (event, ...args) {
      const [request, second] = args;
      if (event === 'request' && request instanceof IncomingMessage && second instanceof ServerResponse)
        if (isWanted(kindOf(request))) recordRequest(request, second);
        else recordRefusal(request, second);
      if (event === 'upgrade' && String(request.url).startsWith('/ws') && isWanted('/ws'))
        recordSocket(request, second);
      return emit.call(this, event, ...args);
    };
  }
}
