import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Family, WakeTarget } from '@parley/core';

import { childEnv } from '../config/child-env.ts';
import type { WakeAgent } from '../config/agent-settings.ts';
import type { Config } from '../config/schema.ts';

/** How one agent's sessions are reached and started, as the operator set it up. */
export interface RuntimeProfile {
  workspace_id: string;
  agent_id: string;
  family: Family;
  quiet: boolean;
  doors: ReadonlySet<WakeAgent['doors'][number]>;
  bin: string;
  cwd: string;
  /** CODEX_HOME or CLAUDE_CONFIG_DIR. */
  home: string;
  args: readonly string[];
  env: Record<string, string>;
}

const HOME = { codex: ['CODEX_HOME', '.codex'], claude: ['CLAUDE_CONFIG_DIR', '.claude'] } as const;

/** Reads the operator's words; what an agent says of itself never decides what is started. */
export function runtimeProfiles({ wake, workspace }: Config): RuntimeProfile[] {
  return wake.agents.map((agent) => {
    const { runtime } = agent;
    const [variable, folder] = runtime === 'other' ? [undefined, ''] : HOME[runtime];
    const names = variable === undefined ? agent.env : [...agent.env, variable];
    const set = variable === undefined || agent.home === undefined ? {} : { [variable]: agent.home };
    const env = childEnv(names, set);
    const ambient = variable === undefined ? undefined : env[variable];
    return {
      workspace_id: agent.workspace ?? workspace,
      agent_id: agent.agent,
      family: runtime,
      quiet: agent.quiet,
      doors: new Set(agent.doors),
      bin: agent.bin ?? runtime,
      cwd: agent.cwd ?? env['HOME'] ?? tmpdir(),
      home: ambient ?? join(env['HOME'] ?? tmpdir(), folder),
      args: agent.args,
      env,
    };
  });
}

/** The profile of a target, where it has one for this runtime and this kind of door. */
export function createProfileFinder(profiles: readonly RuntimeProfile[]) {
  return (
    { workspace_id, agent_id }: WakeTarget,
    family: Family,
    door: WakeAgent['doors'][number],
  ): RuntimeProfile | undefined =>
    profiles.find(
      (profile) =>
        profile.workspace_id === workspace_id &&
        profile.agent_id === agent_id &&
        profile.family === family &&
        profile.doors.has(door),
    );
}

export type FindProfile = ReturnType<typeof createProfileFinder>;
