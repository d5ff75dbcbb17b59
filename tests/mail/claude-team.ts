import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { type MessagesRequest, type MessagesScript, startAnthropicMessages } from '@parley/runtimes';

import { onTestFinished } from 'vitest';

import { openIsolatedHome } from '../agents/isolated-home.ts';
import { carriers } from '../agents/run-process.ts';

/** The real Claude Code at a terminal, leading a team of its own, with a scripted model behind it. */
export interface ClaudeTeam {
  home: string;
  team: string;
  requests: MessagesRequest[];
  /** Types one word; settles when the model has been asked about it. */
  say(word: string): Promise<void>;
  /** What Claude Code writes about itself. */
  debugLog(): string;
  inbox(agent: string): string;
}

/** Teams exist only in a session at a terminal, so this gives it one; all ends with the test. */
export async function startClaudeTeam(claude: string, script: MessagesScript): Promise<ClaudeTeam> {
  const place = await openIsolatedHome();
  const model = await startAnthropicMessages(withTeammate(script));
  const claudeHome = join(place.home, '.claude');
  const debug = join(place.home, 'debug.log');
  mkdirSync(claudeHome);
  writeFileSync(join(claudeHome, '.claude.json'), JSON.stringify(firstRunIsOver(place.work)));
  const flags = `--permission-mode manual --debug-file '${debug}' --allowedTools Agent,Task,SendMessage`;
  const command = `stty cols 120 rows 40; exec '${claude}' ${flags}`;
  const child = spawn('script', ['-qfec', command, '/dev/null'], {
    cwd: place.work,
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
    env: {
      ...place.env,
      TERM: 'xterm-256color',
      CLAUDE_CONFIG_DIR: claudeHome,
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: 'sk-scripted',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_TELEMETRY: '1',
      DISABLE_AUTOUPDATER: '1',
      DISABLE_ERROR_REPORTING: '1',
      IS_SANDBOX: '1',
      CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: '1',
      CLAUDE_CODE_TEAMMATE_MODE: 'in-process',
      ENABLE_TOOL_SEARCH: 'false',
    },
  });
  onTestFinished(async () => {
    for (const { pid } of await carriers(place.root)) process.kill(pid, 'SIGKILL');
    await model.close();
    await place.remove();
  });
  let screen = '';
  child.stdin.on('error', () => {});
  child.stdout.setEncoding('utf8').on('data', (text: string) => (screen += text));
  const teams = join(claudeHome, 'teams');
  const waitFor = async (holds: () => boolean, what: string): Promise<void> => {
    while (!holds()) {
      if (child.exitCode !== null) throw new Error(`Claude Code ended before ${what}: ${screen.slice(-500)}`);
      await sleep(50);
    }
  };
  const teamsMade = (): string[] => (existsSync(teams) ? readdirSync(teams) : []);
  await waitFor(() => screen.includes('❯') && teamsMade().length > 0, 'its prompt');
  const team = teamsMade()[0] ?? '';
  const say = async (word: string): Promise<void> => {
    const asked = (): boolean =>
      model.requests.some(({ body }) => JSON.stringify(body.messages).includes(word));
    child.stdin.write(`\u001b[200~${word}\u001b[201~`);
    await waitFor(() => screen.includes(word), 'the word was on the screen');
    // Enter is lost when it comes while the screen is being built.
    while (!asked()) {
      child.stdin.write('\r');
      for (let i = 0; i < 20 && !asked(); i += 1) await sleep(100);
    }
  };
  await say(HIRE);
  await waitFor(
    () => readFileSync(join(teams, team, 'config.json'), 'utf8').includes(`bob@${team}`),
    'bob came',
  );
  return {
    home: place.home,
    team,
    requests: model.requests,
    say,
    debugLog: () => readFileSync(debug, 'utf8'),
    inbox: (agent) => join(teams, team, 'inboxes', `${agent}.json`),
  };
}

const HIRE = 'HIRE-BOB';
const HIRED = 'toolu_hire';
const TASK = 'WAIT-FOR-MAIL';

/** A lead looks into its inbox only while it has a teammate: this one hires one first, who does nothing. */
function withTeammate(script: MessagesScript): MessagesScript {
  return (request, index) => {
    const said = JSON.stringify(request.body.messages);
    if ((request.body.tools ?? []).length === 0) return [{ text: 'ok' }];
    if (said.includes(TASK) && !said.includes(HIRE)) return [{ text: 'waiting' }];
    if (!said.includes(HIRE) || said.includes(HIRED)) return script(request, index);
    const input = { description: 'hire bob', prompt: TASK, name: 'bob', subagent_type: 'general-purpose' };
    return [{ use: 'Agent', input: { ...input, run_in_background: true }, id: HIRED }];
  };
}

/** The questions of a first start, answered. */
function firstRunIsOver(folder: string) {
  return {
    hasCompletedOnboarding: true,
    theme: 'dark',
    customApiKeyResponses: { approved: ['sk-scripted'], rejected: [] },
    projects: { [folder]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
  };
}
