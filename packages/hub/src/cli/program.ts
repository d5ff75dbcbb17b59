import type { Command } from 'commander';

import { createBareProgram } from './bare-program.ts';

type AddCommand = (program: Command) => void;

/** Every command in its own file, in the order a newcomer meets them; a file is loaded when its command is asked for. */
const COMMANDS: Readonly<Record<string, Readonly<Record<string, () => Promise<AddCommand>>>>> = {
  'Run:': {
    serve: async () => (await import('./run/serve.ts')).addServeCommand,
    link: async () => (await import('./run/pair.ts')).addLinkCommand,
    pair: async () => (await import('./run/pair.ts')).addPairCommand,
    mcp: async () => (await import('./run/mcp.ts')).addMcpCommand,
    run: async () => (await import('./run/supervise.ts')).addRunCommand,
    init: async () => (await import('./run/init/commands.ts')).addInitCommands,
    demo: async () => (await import('./run/demo/demo.ts')).addDemoCommand,
    status: async () => (await import('./run/status.ts')).addStatusCommand,
    doctor: async () => (await import('./run/doctor/doctor.ts')).addDoctorCommand,
    'verify-runtime': async () => (await import('./run/verify-runtime.ts')).addVerifyRuntimeCommand,
  },
  'Talk:': {
    thread: async () => (await import('./talk/thread/commands.ts')).addThreadCommands,
    post: async () => (await import('./talk/post.ts')).addPostCommand,
    read: async () => (await import('./talk/read.ts')).addReadCommand,
    tail: async () => (await import('./talk/tail.ts')).addTailCommand,
    search: async () => (await import('./talk/search.ts')).addSearchCommand,
    why: async () => (await import('./talk/why.ts')).addWhyCommand,
    sessions: async () => (await import('./talk/sessions.ts')).addSessionsCommand,
  },
  'Know:': {
    know: async () => (await import('./know/commands.ts')).addKnowCommands,
    artifact: async () => (await import('./know/artifact/commands.ts')).addArtifactCommands,
  },
  'Steer:': {
    ask: async () => (await import('./steer/ask.ts')).addAskCommands,
    agent: async () => (await import('./steer/agent.ts')).addAgentCommands,
    wake: async () => (await import('./steer/wake.ts')).addWakeCommand,
    quiet: async () => (await import('./steer/quiet.ts')).addQuietCommand,
    notify: async () => (await import('./steer/notify.ts')).addNotifyCommands,
  },
  'Operate:': {
    usage: async () => (await import('./operate/usage.ts')).addUsageCommand,
    slo: async () => (await import('./operate/slo.ts')).addSloCommand,
    service: async () => (await import('./operate/service/commands.ts')).addServiceCommands,
    device: async () => (await import('./operate/device.ts')).addDeviceCommands,
    passkey: async () => (await import('./operate/passkey.ts')).addPasskeyCommands,
    queue: async () => (await import('./operate/queue.ts')).addQueueCommands,
    token: async () => (await import('./operate/token.ts')).addTokenCommands,
    key: async () => (await import('./operate/key.ts')).addKeyCommands,
    config: async () => (await import('./operate/config.ts')).addConfigCommands,
    export: async () => (await import('./operate/export.ts')).addExportCommand,
    import: async () => (await import('./operate/import.ts')).addImportCommand,
    backup: async () => (await import('./operate/backup.ts')).addBackupCommand,
    migrate: async () => (await import('./operate/migrate.ts')).addMigrateCommand,
    completion: async () => (await import('./operate/completion.ts')).addCompletionCommand,
    complete: async () => (await import('./operate/completion.ts')).addCompleteCommand,
    hook: async () => (await import('./operate/hook.ts')).addHookCommands,
    'exit-codes': async () => (await import('./operate/exit-codes.ts')).addExitCodesTopic,
  },
};

/** Every command there is. */
export const COMMAND_NAMES: readonly string[] = Object.values(COMMANDS).flatMap((group) =>
  Object.keys(group),
);

/** The command line with the command of this name; with all of them where there is none, as for help and misspellings. */
export async function createProgram(name = ''): Promise<Command> {
  const program = createBareProgram();
  const isKnown = Object.values(COMMANDS).some((group) => Object.hasOwn(group, name));
  for (const [title, group] of Object.entries(COMMANDS)) {
    program.commandsGroup(title);
    for (const [command, load] of Object.entries(group))
      if (!isKnown || command === name) (await load())(program);
  }
  return program;
}
