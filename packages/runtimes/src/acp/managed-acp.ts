import { basename } from 'node:path';

import type {
  ManagedOptions,
  ManagedServer,
  ManagedSession,
  ManagedTurn,
  OpenManaged,
} from '../managed/session.ts';
import type { ChildExit } from '../process/child-exit.ts';
import { findProgram } from '../process/find-program.ts';
import { isObject, type Loose, numberAt, objectAt, textAt } from '../process/rpc-peer.ts';
import { RuntimeError } from '../runtime-error.ts';
import { type AcpWire, openAcpWire } from './acp-wire.ts';
import { createAcpTurn, type AcpTurn } from './acp-turn.ts';
import { createPermissions } from './permissions.ts';
import { createToolCalls } from './tool-calls.ts';

/** The only version of the protocol that is spoken here; a later one is another driver. */
const PROTOCOL = 1;

/**
 * Agents that take a second prompt into their running turn, with the next result of a tool. The protocol (1) does not
 * say what becomes of one; whoever was not seen to do so is left alone.
 */
const STEERED: ReadonlySet<string> = new Set(['opencode']);

export interface AcpPatience {
  /** How long an agent may take for each step of its start. */
  startMs: number;
  /** How long it may take to give up a turn; one that does not is ended. */
  cancelMs: number;
}

const PATIENCE: AcpPatience = { startMs: 60_000, cancelMs: 10_000 };

/** Runs any agent that speaks the Agent Client Protocol on its input and output. */
export const openManagedAcp: OpenManaged = (options) => openAcpSession(options, PATIENCE);

/** The same with another patience. */
export async function openAcpSession(
  options: ManagedOptions,
  { startMs, cancelMs }: AcpPatience,
): Promise<ManagedSession> {
  const { on, cwd, env } = options;
  let sessionId: string | undefined;
  let turn: AcpTurn | undefined;
  let exit: ChildExit | undefined;
  /** Prompts that were sent into a running turn and are not answered yet. */
  let adding = 0;
  /** What the session has cost so far; of one that goes on nobody knows at first. */
  let cost = options.resume === undefined ? 0 : undefined;
  /** Updates of a session that is just being loaded tell of the past. */
  let isReady = false;
  let name = basename(options.bin);
  const calls = createToolCalls();
  const permissions = createPermissions({ on, calls, agent: () => name });

  const wire = await openAcpWire({
    command: findProgram(options.bin, env, cwd),
    args: options.args,
    env,
    cwd,
    onUpdate(params) {
      const update = objectAt(params, 'update');
      if (!isReady || params['sessionId'] !== sessionId) return;
      const kind = textAt(update, 'sessionUpdate');
      if (kind === 'tool_call' || kind === 'tool_call_update') {
        const { report } = calls.take(update);
        if (report !== undefined) on.report(report);
      }
      turn?.take(update);
    },
    async onPermission(asked, signal) {
      if (asked.sessionId !== sessionId) return { outcome: { outcome: 'cancelled' } };
      turn?.noteWork();
      return permissions.ask(asked, signal);
    },
    onExit(how) {
      exit = how;
      turn?.lose(goneBecause(how));
      permissions.closeAll('child_exited');
      on.exit(how);
    },
  });

  let facts: ManagedSession['facts'];
  try {
    const hello = await wire.request(
      'initialize',
      {
        protocolVersion: PROTOCOL,
        // Files and terminals are the agent's own business: it has them without us.
        clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
        clientInfo: options.clientInfo,
      },
      startMs,
    );
    const version = numberAt(hello, 'protocolVersion');
    if (version !== PROTOCOL)
      throw new RuntimeError(
        'START_FAILED',
        `the agent speaks version ${version ?? 'unknown'} of the protocol, not ${PROTOCOL}`,
      );
    const info = objectAt(hello, 'agentInfo');
    name = textAt(info, 'title') ?? textAt(info, 'name') ?? name;
    sessionId = await openSession(wire, hello, options, startMs);
    const publicText = textAt(info, 'version');
    facts = {
      runtime: runtimeName(textAt(info, 'name') ?? basename(options.bin)),
      version: publicText,
      pid: wire.pid,
      sessionId,
      can: { steer: STEERED.has(runtimeName(textAt(info, 'name') ?? '')) },
    };
    isReady = true;
  } catch (error) {
    const died = exit;
    await wire.close();
    throw startFailure(error, died, wire.stderr());
  }
  const id = facts.sessionId;

  return {
    facts,
    prompt(text): ManagedTurn {
      if (exit !== undefined) throw new RuntimeError('CHILD_EXITED', goneBecause(exit), { exit });
      if (turn !== undefined || adding > 0) throw new RuntimeError('BUSY', 'a turn is running');
      const own = createAcpTurn(cost);
      turn = own;
      calls.clear();
      wire.request('session/prompt', { sessionId: id, prompt: [{ type: 'text', text }] }).then(
        (answer) => own.end(answer),
        (error: unknown) => own.lose(exit === undefined ? reasonOf(error) : goneBecause(exit)),
      );
      void own.ended.then(() => {
        if (turn === own) turn = undefined;
        ({ cost } = own);
        permissions.closeAll('withdrawn');
      });
      return own;
    },
    async steer(text) {
      if (!facts.can.steer)
        throw new RuntimeError('UNSUPPORTED', 'nothing can be added to a turn in this protocol');
      if (turn === undefined) throw new RuntimeError('REFUSED', 'no turn runs');
      adding += 1;
      try {
        // Its answer is the first that shows it: it comes with the end of the turn that took it up.
        await wire.request('session/prompt', { sessionId: id, prompt: [{ type: 'text', text }] });
        return 'runtime_status';
      } catch (error) {
        throw exit === undefined ? error : new RuntimeError('CHILD_EXITED', goneBecause(exit), { exit });
      } finally {
        adding -= 1;
      }
    },
    async cancel() {
      const running = turn;
      if (running === undefined) return false;
      running.interrupt();
      permissions.closeAll('withdrawn');
      wire.cancel(id);
      const timer = setTimeout(() => void wire.close(), cancelMs);
      await running.ended;
      clearTimeout(timer);
      return true;
    },
    async close() {
      await wire.close();
    },
  };
}

/** A new session, or the old one: without its past where the agent can, else with all of it told again. */
async function openSession(
  wire: AcpWire,
  hello: Loose,
  options: ManagedOptions,
  startMs: number,
): Promise<string> {
  const { cwd, resume, server } = options;
  const mcpServers = server === undefined ? [] : [stdioServer(server)];
  try {
    if (resume === undefined) {
      const { sessionId } = await wire.request('session/new', { cwd, mcpServers }, startMs);
      if (typeof sessionId !== 'string' || sessionId === '')
        throw new RuntimeError('START_FAILED', 'the agent made a session without an id');
      return sessionId;
    }
    const can = objectAt(hello, 'agentCapabilities');
    const old = { sessionId: resume, cwd, mcpServers };
    if (isObject(objectAt(can, 'sessionCapabilities')['resume']))
      await wire.request('session/resume', old, startMs);
    else if (can['loadSession'] === true) await wire.request('session/load', old, startMs);
    else throw new RuntimeError('NOT_RESUMABLE', 'this agent cannot go on with an old session');
    return resume;
  } catch (error) {
    throw needsLogin(error, hello) ?? (resume === undefined ? error : notFound(error)) ?? error;
  }
}

function stdioServer({ name, command, args, env }: ManagedServer) {
  const variables = Object.entries(env).map(([key, value]) => ({ name: key, value }));
  return { name, command, args: [...args], env: variables };
}

const AUTH_REQUIRED = -32_000;

/** Whoever is not logged in is told by which ways they can be. */
function needsLogin(error: unknown, hello: Loose): RuntimeError | undefined {
  const said = error instanceof RuntimeError ? error.facts.childError : undefined;
  if (!isObject(said) || said['code'] !== AUTH_REQUIRED) return undefined;
  const ways = Array.isArray(hello['authMethods']) ? hello['authMethods'].filter(isObject) : [];
  const named = ways.flatMap((way) => textAt(way, 'description') ?? textAt(way, 'name') ?? []).join('; ');
  return new RuntimeError(
    'START_FAILED',
    `the agent wants a login first${named === '' ? '' : `: ${named}`}`.slice(0, 500),
  );
}

/** An agent that refuses the old session may still begin a new one. */
function notFound(error: unknown): RuntimeError | undefined {
  if (!(error instanceof RuntimeError) || error.code !== 'REFUSED') return undefined;
  return new RuntimeError('THREAD_NOT_FOUND', error.message, error.facts);
}

function startFailure(error: unknown, exit: ChildExit | undefined, stderr: string): RuntimeError {
  if (exit !== undefined && !(error instanceof RuntimeError && error.code === 'START_FAILED'))
    return new RuntimeError('START_FAILED', goneBecause(exit), { exit });
  if (error instanceof RuntimeError && TELLING.has(error.code)) return error;
  const said = stderr.trim().split('\n').at(-1)?.slice(0, 300) ?? '';
  return new RuntimeError('START_FAILED', said === '' ? reasonOf(error) : `${reasonOf(error)} (${said})`);
}

/** What says by itself why there is no session. */
const TELLING: ReadonlySet<string> = new Set(['START_FAILED', 'NOT_RESUMABLE', 'THREAD_NOT_FOUND']);

function goneBecause({ code, signal, stderr }: ChildExit): string {
  const how = signal === null ? `the agent ended with exit ${code}` : `the agent was ended by ${signal}`;
  const said = stderr.trim().split('\n').at(-1)?.slice(0, 300) ?? '';
  return said === '' ? how : `${how}: ${said}`;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The agent's own name as a word that heartbeats can carry. */
function runtimeName(name: string): string {
  return (
    name
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '_')
      .replaceAll(/^_+|_+$/g, '')
      .slice(0, 64) || 'acp'
  );
}
