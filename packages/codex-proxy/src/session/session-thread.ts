import {
  type Codex,
  type ContextBlock,
  RuntimeError,
  type ThreadOptions,
  type TurnInput,
  type TurnResult,
} from '@parley/runtimes';

import { CONTEXT_NAME, contextLines, withContext } from '../context/describe-context.ts';
import { readContext } from '../context/read-context.ts';
import type { Log } from '../logger.ts';
import type { SessionRecord } from '../registry/session-record.ts';
import { resumeWhenFree } from './resume-when-free.ts';

/** How a thread is started, and again when it is resumed. */
export interface Launch {
  thread: Omit<ThreadOptions, 'cwd' | 'developerInstructions'>;
  /** What a new thread is told. */
  developerInstructions: string | undefined;
  /** The part of it that a thread which exists has not heard yet. */
  newInstructions: string | undefined;
}

/** What a session left behind, for its first turn: a message of the developer, or the beginning of the prompt. */
export interface Preface {
  text: string;
  goes: 'with_instructions' | 'before_prompt';
}

export interface SessionThreadDeps {
  /** The child, started if it was not; throws when it is gone. */
  awake: () => Promise<Codex>;
  /** How the session reaches the mail tools. */
  mailTools: () => Promise<ThreadOptions['mcpServers']>;
  /** The thread's id is known: from now on its events are this session's. */
  threadKnown: (threadId: string) => void;
  log: Log;
}

/** A turn's own part of its input. */
export interface TurnRequest extends Pick<TurnInput, 'prompt' | 'untrusted' | 'signal' | 'onTaken'> {
  /** Told as a message of the developer. */
  instructions?: string | undefined;
}

/** The Codex thread of a session: started by its first turn, taken up again when its child is another. */
export interface SessionThread {
  id(): string | undefined;
  /** True once the child has it. */
  isLoaded(): boolean;
  /** Settles anew how it is loaded; only before it is. */
  prepare(launch: Launch): void;
  run(request: TurnRequest): Promise<TurnResult>;
  /** Which of these marks stand in Codex's own record of the thread. */
  find(marks: readonly string[]): Promise<ReadonlySet<string>>;
}

/** No Codex outlives its proxy by so much. */
const LET_GO_MS = 5_000;

/** Drives one thread; `record` and `update` are the session's own. */
export function createSessionThread(
  deps: SessionThreadDeps,
  launched: Launch,
  session: { record: () => SessionRecord; update: (change: Partial<SessionRecord>) => void },
  leftBehind: Preface | undefined,
): SessionThread {
  let threadId = session.record().backend_id ?? undefined;
  let isLoaded = false;
  let launch = launched;
  let preface = leftBehind;

  const options = async (): Promise<Omit<ThreadOptions, 'developerInstructions'>> => {
    const mcpServers = await deps.mailTools();
    return {
      ...launch.thread,
      cwd: session.record().cwd,
      ...(mcpServers === undefined ? {} : { mcpServers }),
    };
  };

  /** What a new thread is told: what was left behind stands there too, as instructions outlive a compaction. */
  const firstInstructions = (): string | undefined => joined(preface?.text, launch.developerInstructions);

  /** What a thread that exists is told with its next turn. */
  const news = (): ContextBlock[] => [
    ...(preface?.goes === 'with_instructions' ? [{ name: 'session-summary', text: preface.text }] : []),
    ...(launch.newInstructions === undefined ? [] : [instructed(launch.newInstructions)]),
  ];
  const allTold = (): void => {
    preface = undefined;
    launch = { ...launch, newInstructions: undefined };
  };

  /** A thread of an earlier child; where the backend cannot take it up, the session goes on in a new one. */
  const load = async (codex: Codex, id: string): Promise<void> => {
    deps.threadKnown(id);
    try {
      await resumeWhenFree(codex, id, await options(), AbortSignal.timeout(LET_GO_MS));
      isLoaded = true;
    } catch (error) {
      if (!(error instanceof RuntimeError) || error.code !== 'NOT_RESUMABLE') throw error;
      deps.log('warn', 'the thread cannot be taken up again: the session goes on in a new one', {
        agent_id: session.record().agent_id,
        reason: error.message,
      });
      threadId = undefined;
    }
  };

  /** The child, with the thread loaded where there is one. */
  const ready = async (): Promise<Codex> => {
    const codex = await deps.awake();
    if (threadId !== undefined && !isLoaded) await load(codex, threadId);
    return codex;
  };

  return {
    id: () => threadId,
    isLoaded: () => isLoaded,
    prepare: (another) => void (launch = another),
    async run({ instructions, ...input }) {
      const { cwd, identity, team, branch, repo_root } = session.record();
      const work = await readContext(cwd);
      if (work.branch !== branch || work.repo_root !== repo_root) session.update({ ...work });
      const context = { ...work, identity, team };
      const codex = await ready();
      const prompt =
        preface?.goes === 'before_prompt' ? `${preface.text}\n\n---\n\n${input.prompt}` : input.prompt;
      if (threadId === undefined) {
        const developerInstructions = withContext(joined(firstInstructions(), instructions), context);
        const first = { ...input, prompt };
        const started = await codex.startThread({ ...(await options()), developerInstructions }, first);
        isLoaded = true;
        threadId = started.threadId;
        session.update({ backend_id: threadId });
        deps.threadKnown(threadId);
        allTold();
        if (started.turn !== undefined) return started.turn;
      }
      const blocks = [
        ...news(),
        ...(instructions === undefined ? [] : [instructed(instructions)]),
        { name: CONTEXT_NAME, text: contextLines(context) },
      ];
      allTold();
      return codex.runTurn(threadId, { ...input, prompt, context: blocks });
    },
    async find(marks) {
      const codex = await ready();
      return threadId === undefined ? new Set() : codex.findInThread(threadId, marks);
    },
  };
}

function joined(...parts: (string | undefined)[]): string | undefined {
  return parts.filter((part) => part !== undefined).join('\n\n') || undefined;
}

function instructed(text: string): ContextBlock {
  return { name: 'developer-instructions', text };
}
