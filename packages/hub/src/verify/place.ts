import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import {
  CLAUDE_KEY,
  pastFirstQuestions,
  QUIET_CLAUDE,
  scriptedModelConfig,
  startAnthropicMessages,
  startOpenaiResponses,
} from '@parley/runtimes';

export type Runtime = 'codex' | 'claude';

/** A home of its own for one runtime, before a scripted model: nothing of the person's settings or keys is used. */
export interface Place {
  root: string;
  work: string;
  /** CODEX_HOME or CLAUDE_CONFIG_DIR. */
  home: string;
  env: Record<string, string>;
  /** When the model was first shown a word, on the monotonic clock. */
  seenAt(word: string): number | undefined;
  close(): Promise<void>;
}

/** Makes the folders, starts the model, and tells the runtime of it. */
export async function openPlace(runtime: Runtime, path: string): Promise<Place> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'parley-verify-')));
  const [person, work, tmp] = ['home', 'work', 'tmp'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  const home = join(person, runtime === 'codex' ? '.codex' : '.claude');
  for (const folder of [work, tmp, home]) await mkdir(folder, { recursive: true });
  const shown: { at: number; text: string }[] = [];
  const note = (text: string): void => void shown.push({ at: performance.now(), text });
  const model =
    runtime === 'codex'
      ? await startOpenaiResponses(({ body }) => (note(JSON.stringify(body.input)), [{ text: 'understood' }]))
      : await startAnthropicMessages(
          ({ body }) => (note(JSON.stringify(body.messages)), [{ text: 'understood' }]),
        );
  if (runtime === 'codex') {
    const trusted = `[projects.${JSON.stringify(work)}]\ntrust_level = "trusted"\n`;
    // A daemon would outlive the trial.
    const config = scriptedModelConfig(model.url, { daemon_auto_start: false });
    await writeFile(join(home, 'config.toml'), `${config}\n${trusted}`);
  } else await writeFile(join(home, '.claude.json'), JSON.stringify(pastFirstQuestions(work)));
  const own =
    runtime === 'codex'
      ? { CODEX_HOME: home }
      : {
          ...QUIET_CLAUDE,
          CLAUDE_CONFIG_DIR: home,
          ANTHROPIC_BASE_URL: model.url,
          ANTHROPIC_API_KEY: CLAUDE_KEY,
        };
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
