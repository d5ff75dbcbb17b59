import { createBareProgram } from './cli/bare-program.ts';
import { fail } from './cli/output.ts';
import { guardOutput } from './cli/standard-output.ts';
import { nameProgram, runAtTerminal } from './cli/run/run-at-terminal.ts';
import { addRunCommand, flagsOf, type RunOptions } from './cli/run/run-options.ts';
import { quickSettings, type RunSettings } from './config/run-settings.ts';

/** One line of `parley run` that needs no more than this file holds. */
interface QuickRun {
  settings: RunSettings;
  words: string[];
  options: RunOptions;
}

interface Places {
  data?: string;
  store?: string;
  config?: string;
}

/** Reads the command line; undefined for whatever else it is, mistakes and help among it. */
async function readQuickRun(argv: string[]): Promise<QuickRun | undefined> {
  let quick: QuickRun | undefined;
  const program = createBareProgram();
  addRunCommand(program, async (words, options, command) => {
    const { data, store, config } = command.optsWithGlobals<Places>();
    const isWhole = options.managed === true || options.acp === true || config !== undefined;
    const role = options.role ?? process.env['PARLEY_ROLE'] ?? 'worker';
    const settings = isWhole ? undefined : quickSettings({ data, store, ...flagsOf(options) }, process.env);
    if (settings !== undefined && role === 'worker') quick = { settings, words, options };
  });
  for (const command of [program, ...program.commands])
    command.exitOverride().configureOutput({ writeOut: () => {}, writeErr: () => {} });
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch {
    return undefined;
  }
  return quick;
}

/** Where the hub is too old to give tokens, only the whole program could make one. */
const noTokens = () => ({
  get: () => Promise.reject(new Error('the hub gives no tokens to programs of its user; start it anew')),
  refused: () => true,
});

const quick = await readQuickRun(process.argv.slice(2));
if (quick === undefined) {
  // Named so that no bundler sees it: the whole program stands beside this one.
  const whole = new URL('./parley.js', import.meta.url).href;
  await import(whole);
} else {
  guardOutput();
  try {
    const { settings, words, options } = quick;
    await runAtTerminal(settings, nameProgram(settings, words, options), options, noTokens);
  } catch (error) {
    fail(error, false);
  }
}
