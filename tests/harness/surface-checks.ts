/** Holds exchanges against OpenAPI, MCP and AsyncAPI; each check gives the sentences that are wrong. */
import { LIVE_CODES } from '@parley/protocol';
import { Ajv, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/** One exchange as a hub saw it. */
export interface SeenExchange {
  method: string;
  url: string;
  status: number;
  type: string;
  encoded: boolean;
  asked: string;
  answered: string;
  /** The answer came to its end. */
  isWhole?: boolean;
  /** What was asked is not on record. */
  withoutBody?: boolean;
}

/** Gives the sentences that are wrong with an exchange or a frame. */
export interface SurfaceChecks {
  exchange: (exchange: SeenExchange) => string[];
  frame: (socket: object, way: 'in' | 'out', text: string) => string[];
}

type Json = Record<string, unknown>;

interface Operation {
  responses: Record<string, Json>;
  requestBody?: { content?: Record<string, unknown> };
  parameters?: { in: string; name: string; required?: boolean; schema: { type?: string } }[];
}

interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
  components: Record<string, Record<string, Json>>;
}

const SHOWN = 400;

/** Other ways to what is described once. */
const SAME: Record<string, string> = {
  '/mcp/envelope': '/v1/envelope',
  '/mcp/capabilities': '/v1/capabilities',
  '/health': '/healthz',
};

/** Compiles what it needs, when it needs it first: most files see a few operations. */
export function createChecks(surface: {
  openapi: unknown;
  asyncapi: unknown;
  tools: readonly { name: string; inputSchema: unknown }[];
  actions: Record<string, string>;
}): SurfaceChecks {
  const { openapi, asyncapi, tools, actions } = JSON.parse(JSON.stringify(surface)) as {
    openapi: OpenApi & Json;
    asyncapi: Json;
    tools: { name: string; inputSchema: Json }[];
    actions: Record<string, string>;
  };
  const ajv = new Ajv2020({ strict: false, logger: false });
  addFormats.default(ajv);
  ajv.addSchema(openapi, 'openapi');
  const live = new Ajv({ strict: false, unicodeRegExp: false, logger: false });
  addFormats.default(live);
  live.addSchema(asyncapi, 'asyncapi');
  const compiled = new Map<string, ValidateFunction>();

  function compiledOnce(name: string, compile: () => ValidateFunction): ValidateFunction {
    const known = compiled.get(name) ?? compile();
    compiled.set(name, known);
    return known;
  }

  /** What is wrong with a value, or undefined. */
  function wrong(document: 'openapi' | 'asyncapi', pointer: string, value: unknown): string | undefined {
    const name = `${document}#${pointer}`;
    const by = document === 'openapi' ? ajv : live;
    const validate = compiledOnce(name, () => by.compile({ $ref: name }));
    if (validate(value)) return undefined;
    const [error] = validate.errors ?? [];
    return `${error?.instancePath || 'the whole'} ${error?.message} ${JSON.stringify(error?.params)}`;
  }

  const routes = Object.entries(openapi.paths).map(([path, item]) => ({
    path,
    item,
    pattern: new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
  }));
  routes.sort((a, b) => a.path.split('{').length - b.path.split('{').length);
  const toolsByName = new Map(tools.map((tool) => [tool.name, tool.inputSchema]));

  function resolve(part: Json | undefined): [Json | undefined, string | undefined] {
    const { $ref: ref = '' } = (part ?? {}) as { $ref?: string };
    const [, section = '', name = ''] = /^#\/components\/(\w+)\/(.+)$/.exec(ref) ?? [];
    return section === '' ? [part, undefined] : [openapi.components[section]?.[name], ref.slice(1)];
  }

  function checkAnswer(operation: Operation, at: string, exchange: SeenExchange): string[] {
    const { status, type, answered, encoded } = exchange;
    const [response, pointer = `${at}/responses/${status}`] = resolve(operation.responses[status]);
    if (response === undefined) return [`status ${status} is not described`];
    if (encoded || status === 304 || answered === '') return [];
    const media = type.split(';')[0] ?? '';
    if ((response['content'] as Json | undefined)?.[media] === undefined)
      return [`content type ${media} is not described for ${status}`];
    const schema = `${pointer}/content/${media.replaceAll('/', '~1')}/schema`;
    return valuesOf(media, answered).flatMap((value) => {
      const problem = wrong('openapi', schema, value) ?? unknownDetail(value);
      return problem === undefined
        ? []
        : [`answer ${status}: ${problem} in ${JSON.stringify(value).slice(0, SHOWN)}`];
    });
  }

  /** Answers may gain fields, but what a refusal says beside its code is described. */
  function unknownDetail(value: unknown): string | undefined {
    const { ok, error } = (value ?? {}) as { ok?: boolean; error?: { code?: string; details?: Json } };
    const { code, details } = error ?? {};
    // The envelope has words of its own.
    if (ok !== undefined) return undefined;
    const described = openapi.components['schemas']?.[`${pascal(code?.toLowerCase() ?? '')}Error`];
    // What an agent itself has said of its failure is its own.
    const isOfAgent = LIVE_CODES.some((word) => word.toLowerCase() === details?.['reason']);
    if (details === undefined || described === undefined || isOfAgent) return undefined;
    const pointer = ['properties', 'error', 'properties', 'details', 'properties'];
    const known = pointer.reduce<Json>((part, key) => part[key] as Json, described);
    const unknown = Object.keys(details).find((name) => !Object.hasOwn(known, name));
    return unknown === undefined ? undefined : `${code} does not describe details.${unknown}`;
  }

  function checkRequest(operation: Operation, at: string, { url, asked }: SeenExchange): string[] {
    const problems: string[] = [];
    if (operation.requestBody?.content?.['application/json'] !== undefined) {
      const schema = `${at}/requestBody/content/application~1json/schema`;
      const problem = wrong('openapi', schema, JSON.parse(asked.replace(/^\uFEFF/, '')));
      if (problem !== undefined)
        problems.push(`request that was taken: ${problem} in ${asked.slice(0, SHOWN)}`);
    }
    const query = new URLSearchParams(url.split('?')[1] ?? '');
    (operation.parameters ?? []).forEach((parameter, i) => {
      if (parameter.in !== 'query') return;
      const text = query.get(parameter.name);
      if (text === null) {
        if (parameter.required) problems.push(`request that was taken: lacks ${parameter.name}`);
        return;
      }
      const { type } = parameter.schema;
      const value =
        type === 'integer' || type === 'number' ? Number(text) : type === 'boolean' ? text === 'true' : text;
      const problem = wrong('openapi', `${at}/parameters/${i}/schema`, value);
      if (problem !== undefined) problems.push(`request that was taken: ${parameter.name} ${problem}`);
    });
    return problems;
  }

  function checkTool({ asked, type, answered }: SeenExchange): string[] {
    const call = readJson(asked) as { id?: unknown; method?: string; params?: Json } | undefined;
    if (call?.method !== 'tools/call') return [];
    const name = String(call.params?.['name']);
    const input = call.params?.['arguments'] ?? {};
    const inputSchema = toolsByName.get(name);
    return (valuesOf(type.split(';')[0] ?? '', answered) as (Reply | undefined)[])
      .filter((reply) => reply?.id === call.id && reply?.result?.['isError'] !== true)
      .flatMap((reply) => {
        const result = reply?.result;
        if (result === undefined) return [];
        if (inputSchema === undefined) return [`the tool ${name} is not listed`];
        const problems: string[] = [];
        const takes = compiledOnce(`tool ${name}`, () => ajv.compile(inputSchema));
        if (!takes(input))
          problems.push(`tool ${name} took what its schema refuses: ${takes.errors?.[0]?.message}`);
        if (result['structuredContent'] === undefined) return problems;
        const schema = `/components/schemas/${pascal(name)}Result`;
        const problem = wrong('openapi', schema, result['structuredContent']);
        return problem === undefined ? problems : [...problems, `tool ${name} answered: ${problem}`];
      });
  }

  function checkEnvelope({ asked, answered, status }: SeenExchange): string[] {
    const operation = actions[String((readJson(asked) as Json | undefined)?.['action'])];
    const { ok, data } = (readJson(answered) ?? {}) as { ok?: boolean; data?: Json };
    if (status !== 200 || ok !== true || operation === undefined || data?.['ignored'] === true) return [];
    const problem = wrong('openapi', `/components/schemas/${pascal(operation)}Result`, data);
    return problem === undefined ? [] : [`data of the envelope: ${problem}`];
  }

  return {
    exchange(exchange) {
      const { method, url, status } = exchange;
      const path = url.split('?')[0] ?? '';
      const same = SAME[path] ?? path;
      const found = routes.find(({ pattern }) => pattern.test(same));
      const way = method === 'HEAD' ? 'get' : method.toLowerCase();
      const operation = found?.item[way];
      const problems: string[] = [];
      if (operation !== undefined) {
        const at = `/paths/${found?.path.replaceAll('/', '~1')}/${way}`;
        problems.push(
          ...checkAnswer(operation, at, method === 'HEAD' ? { ...exchange, answered: '' } : exchange),
        );
        if (status < 300 && exchange.withoutBody !== true)
          problems.push(...checkRequest(operation, at, exchange));
      } else if (path.startsWith('/v1/') && status < 300 && method !== 'OPTIONS')
        problems.push('is not described');
      if (path === '/mcp' && status === 200) problems.push(...checkTool(exchange));
      if (same === '/v1/envelope') problems.push(...checkEnvelope(exchange));
      return problems.map((problem) => `${method} ${path} ${status}: ${problem}`);
    },
    frame: createFrameCheck((value) =>
      wrong('asyncapi', `/components/messages/${String(value?.type)}/payload`, value),
    ),
  };
}

interface Reply {
  id?: unknown;
  result?: Json;
}

interface LiveMessage {
  id?: unknown;
  type?: unknown;
  payload?: { requestId?: string; success?: boolean; details?: { requestId?: string } };
}

/** What the hub says must be described; what it is told, unless it refuses it. */
function createFrameCheck(
  check: (message: LiveMessage | undefined) => string | undefined,
): SurfaceChecks['frame'] {
  const pending = new WeakMap<object, Map<string, string>>();
  return (socket, way, text) => {
    const message = readJson(text) as LiveMessage | undefined;
    const known = pending.get(socket) ?? new Map<string, string>();
    pending.set(socket, known);
    if (way === 'in') {
      if (typeof message?.type !== 'string' || typeof message.id !== 'string') return [];
      let problem: string | undefined;
      try {
        problem = check(message);
      } catch {
        // A type that nobody described; the hub refuses it.
        return [];
      }
      if (problem !== undefined) known.set(message.id, `/ws took a ${message.type}: ${problem}`);
      return [];
    }
    const answers = message?.payload?.details?.requestId ?? message?.payload?.requestId;
    const failed = message?.type === 'error' || message?.payload?.success === false;
    const taken = answers === undefined ? undefined : known.get(answers);
    if (answers !== undefined && taken !== undefined) {
      known.delete(answers);
      if (!failed) return [taken];
    }
    const problem = check(message);
    return problem === undefined ? [] : [`/ws sent: ${problem} in ${text.slice(0, SHOWN)}`];
  };
}

/** The values of an answer: one, or the data of each server-sent event that is whole. */
function valuesOf(media: string, text: string): unknown[] {
  if (media !== 'text/event-stream') return [readJson(text)];
  return text
    .split('\n\n')
    .slice(0, -1)
    .filter((frame) => !/^event: (?!message)/m.test(frame))
    .flatMap((frame) => /^data: (.*)$/m.exec(frame)?.[1] ?? [])
    .map(readJson);
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function pascal(name: string): string {
  return name.replace(/(?:^|_)(\w)/g, (_all, letter: string) => letter.toUpperCase());
}
