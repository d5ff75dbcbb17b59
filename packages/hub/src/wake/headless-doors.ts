import { randomUUID } from 'node:crypto';

import type { Delivery, Door, DoorName, DoorRequest, Look, WakeTarget } from '@parley/core';
import { type HeadlessTurn, liveClaudeSessions, startClaudePrint, startCodexExec } from '@parley/runtimes';

import type { FindProfile, RuntimeProfile } from './profile.ts';
import { type createPrograms, untried } from './versions.ts';

export interface HeadlessDeps {
  find: FindProfile;
  programs: ReturnType<typeof createPrograms>;
  anyVersion: boolean;
}

interface Kind {
  name: DoorName;
  family: 'codex' | 'claude';
  setting: 'resume' | 'new';
  /** Why this must not be done beside what is open already. */
  refuse(target: WakeTarget, profile: RuntimeProfile): Promise<string | undefined>;
  start(target: WakeTarget, profile: RuntimeProfile, prompt: string): Promise<HeadlessTurn>;
  describe(target: WakeTarget): string;
}

/** Codex locks a thread itself, and refuses a second writer. */
const KINDS: readonly Kind[] = [
  {
    name: 'codex_resume',
    family: 'codex',
    setting: 'resume',
    refuse: async () => undefined,
    start: ({ native_id = '' }, { bin, env, cwd, args }, prompt) =>
      startCodexExec({ bin, env, cwd, args, prompt, threadId: native_id }),
    describe: ({ native_id = '' }) => `codex exec resume ${native_id}`,
  },
  {
    name: 'codex_new',
    family: 'codex',
    setting: 'new',
    refuse: async (target) => ifConnected(target),
    start: (_target, { bin, env, cwd, args }, prompt) => startCodexExec({ bin, env, cwd, args, prompt }),
    describe: () => 'codex exec',
  },
  {
    name: 'claude_resume',
    family: 'claude',
    setting: 'resume',
    refuse: (target, profile) => ifLive(target, profile),
    start: ({ native_id = '' }, { bin, env, cwd, args }, prompt) =>
      startClaudePrint({ bin, env, cwd, args, prompt, resume: native_id }),
    describe: ({ native_id = '' }) => `claude -p --resume ${native_id}`,
  },
  {
    name: 'claude_new',
    family: 'claude',
    setting: 'new',
    refuse: async (target, profile) => ifConnected(target) ?? (await ifLive(target, profile)),
    start: (_target, { bin, env, cwd, args }, prompt) =>
      startClaudePrint({ bin, env, cwd, args, prompt, sessionId: randomUUID() }),
    describe: () => 'claude -p',
  },
];

/** The doors that start a process for one turn: back into a session that nobody has open, or into a new one. */
export function createHeadlessDoors({ find, programs, anyVersion }: HeadlessDeps): Door[] {
  return KINDS.map((kind) => {
    const { name, family, setting } = kind;
    const turns = new Set<HeadlessTurn>();

    function profileOf(target: WakeTarget): RuntimeProfile {
      const profile = find(target, family, setting);
      if (profile === undefined) throw new Error('not configured');
      return profile;
    }

    return {
      name,
      endsWithHub: true,
      serves: (target) => find(target, family, setting) !== undefined,
      async look(target): Promise<Look> {
        const profile = profileOf(target);
        const { version } = await programs(profile.bin, profile.env, profile.cwd);
        const shut = anyVersion ? undefined : untried(name, version);
        const reason = shut ?? (await kind.refuse(target, profile));
        return reason === undefined ? { can: 'now' } : { can: 'no', reason };
      },
      async deliver(target, { prompt }, signal): Promise<Delivery> {
        const turn = await kind.start(target, profileOf(target), prompt);
        turns.add(turn);
        const ended = turn.ended.finally(() => turns.delete(turn));
        const giveUp = (): void => void turn.stop();
        signal.addEventListener('abort', giveUp);
        if (signal.aborted) giveUp();
        try {
          const { sessionId } = await turn.started;
          return { came: 'delivered', proof: 'runtime_status', session: sessionId, ended };
        } finally {
          // The bound is for the proof; the turn itself may take its time.
          signal.removeEventListener('abort', giveUp);
        }
      },
      describe: (target, doorRequest) => `${kind.describe(target)} ${quoted(doorRequest)}`,
      close: async () => void (await Promise.all([...turns].map((turn) => turn.stop()))),
    };
  });
}

/** For people to read: the first line of the prompt, which is the hub's own, as a shell would take it. */
function quoted({ prompt }: DoorRequest): string {
  const line = prompt.split('\n', 1)[0] ?? '';
  return `'${line.replaceAll("'", `'\\''`)}…'`;
}

function ifConnected({ commands }: WakeTarget): string | undefined {
  return commands.length > 0 ? 'session_is_live' : undefined;
}

async function ifLive({ native_id }: WakeTarget, { home }: RuntimeProfile): Promise<string | undefined> {
  if (native_id === undefined) return undefined;
  const live = await liveClaudeSessions(home);
  return live.some(({ sessionId }) => sessionId === native_id) ? 'session_is_live' : undefined;
}
