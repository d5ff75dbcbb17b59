import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';

import type { Role, Settings } from '../config/schema.ts';
import { proxyError } from '../errors.ts';
import type { Launch } from '../session/session-thread.ts';
import type { CodexArguments } from './schemas.ts';

/** What decides how Codex is launched, beside the call itself. */
export interface LaunchDeps {
  settings: Settings;
  roles: ReadonlyMap<string, Role>;
  /** The folder against which paths of the configuration are meant. */
  configFolder: string;
}

type Given = Partial<Omit<CodexArguments, 'prompt' | 'agent_file' | 'agent_id'>>;

/** The call's own words before its role's, those before the configuration's; what nobody names is left to Codex. */
export async function launchOf(
  { settings, roles, configFolder }: LaunchDeps,
  given: Given,
  roleName: string | null,
): Promise<Launch> {
  const role = roleName === null ? {} : roles.get(roleName);
  if (role === undefined)
    throw proxyError('INVALID_SESSION_PARAMS', `There is no role '${roleName}'`, {
      roles: [...roles.keys()],
    });
  const fromFile = async (path: string | null): Promise<string | undefined> =>
    path === null ? undefined : readFile(resolve(configFolder, path), 'utf8');
  const model = given.model ?? role.model ?? settings.model;
  const effort = role.reasoning_effort ?? settings.reasoning_effort;
  const approvalPolicy = given['approval-policy'] ?? role.approval_policy ?? settings.approval_policy;
  const baseInstructions = given['base-instructions'] ?? (await fromFile(settings.base_prompt_file));
  const extra = await fromFile(settings.extra_instructions_file);
  const config = {
    ...(effort === null ? {} : { model_reasoning_effort: effort }),
    ...(settings.subagents ? { 'features.multi_agent': true } : {}),
    ...(given['compact-prompt'] === undefined ? {} : { compact_prompt: given['compact-prompt'] }),
    ...(given.profile === undefined ? {} : { profile: given.profile }),
    ...given.config,
  };
  return {
    thread: {
      sandbox: given.sandbox ?? role.sandbox ?? settings.sandbox,
      ...(model === null ? {} : { model }),
      ...(approvalPolicy === null ? {} : { approvalPolicy }),
      ...(baseInstructions === undefined ? {} : { baseInstructions }),
      ...(Object.keys(config).length === 0 ? {} : { config }),
    },
    developerInstructions:
      [given['developer-instructions'], extra].filter((part) => part !== undefined).join('\n\n') || undefined,
  };
}

/** The caller's folder, else the repository, else where the proxy was started. */
export async function folderOf(given: string | undefined, fallback: string, base: string): Promise<string> {
  const cwd = given === undefined ? fallback : resolve(base, given);
  const found = await stat(cwd).catch(() => undefined);
  if (found?.isDirectory() === true) return cwd;
  throw proxyError('INVALID_SESSION_PARAMS', `cwd is no folder: ${cwd}`, { cwd });
}
