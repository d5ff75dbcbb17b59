import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { writeNew } from '@parley/files';
import {
  CLAUDE_KEY,
  type LoopbackServer,
  opencodeConfig,
  opencodeConfigFile,
  pastFirstQuestions,
  QUIET_CLAUDE,
  quietOpencode,
  scriptedModelConfig,
  startAnthropicMessages,
  startOpenaiChat,
  startOpenaiResponses,
} from '@parley/runtimes';

export type Runtime = 'codex' | 'claude' | 'opencode';

/** A home of its own for one runtime, before a scripted model: nothing of the person's settings or keys is used. */
export interface TrialHome {
  root: string;
  work: string;
  /** CODEX_HOME, CLAUDE_CONFIG_DIR, or the folder of opencode's configuration. */
  home: string;
  env: Record<string, string>;
  /** When the model was first shown a word, on the monotonic clock. */
  seenAt(word: string): number | undefined;
  close(): Promise<void>;
}

/** Makes the folders, starts the model, and tells the runtime of it. */
export async function openTrialHome(runtime: Runtime, path: string): Promise<TrialHome> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'parley-verify-')));
  const [person, work, tmp] = [join(root, 'home'), join(root, 'work'), join(root, 'tmp')];
  const shown: { at: number; text: string }[] = [];
  const note = (text: string): void => void shown.push({ at: performance.now(), text });
  const { model, home, env: own } = await MAKERS[runtime]({ person, work, note });
  for (const folder of [work, tmp]) await mkdir(folder, { recursive: true });
  return {
    root,
    work,
    home,
    env: {
      PATH: path,
      HOME: person,
      TMPDIR: tmp,
      XDG_RUNTIME_DIR: tmp,
      LANG: 'C.UTF-8',
      TERM: 'xterm-256color',
      ...own,
    },
    seenAt: (word) => shown.find(({ text }) => text.includes(word))?.at,
    async close() {
      await model.close();
      await rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    },
  };
}

interface Making {
  person: string;
  work: string;
  /** Keeps what the model was shown. */
  note: (text: string) => void;
}

interface Made {
  model: LoopbackServer;
  home: string;
  env: Record<string, string>;
}

const UNDERSTOOD = [{ text: 'understood' }];

/** How each runtime is told of its scripted model. */
const MAKERS: Record<Runtime, (making: Making) => Promise<Made>> = {
  async codex({ person, work, note }) {
    const model = await startOpenaiResponses(({ body }) => (note(JSON.stringify(body.input)), UNDERSTOOD));
    const home = join(person, '.codex');
    const trusted = `[projects.${JSON.stringify(work)}]\ntrust_level = "trusted"\n`;
    // A daemon would outlive the trial.
    const config = scriptedModelConfig(model.url, { daemon_auto_start: false });
    await writeInto(join(home, 'config.toml'), `${config}\n${trusted}`);
    return { model, home, env: { CODEX_HOME: home } };
  },
  async claude({ person, work, note }) {
    const model = await startAnthropicMessages(
      ({ body }) => (note(JSON.stringify(body.messages)), UNDERSTOOD),
    );
    const home = join(person, '.claude');
    await writeInto(join(home, '.claude.json'), JSON.stringify(pastFirstQuestions(work)));
    const env = {
      ...QUIET_CLAUDE,
      CLAUDE_CONFIG_DIR: home,
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: CLAUDE_KEY,
    };
    return { model, home, env };
  },
  async opencode({ person, note }) {
    const model = await startOpenaiChat(({ messages }) => (note(JSON.stringify(messages)), UNDERSTOOD));
    const file = opencodeConfigFile(person);
    await writeInto(file, JSON.stringify(opencodeConfig(model.url)));
    return { model, home: dirname(file), env: quietOpencode(person) };
  },
};

async function writeInto(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeNew(file, text);
}
