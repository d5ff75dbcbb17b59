import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';

import type { Role, Settings } from '../config/schema.ts';
import type { SettingPaths } from '../config/setting-paths.ts';
import { proxyError } from '../errors.ts';
import type { Launch } from '../session/session-thread.ts';
import { readText } from './read-text.ts';
import type { CodexArguments } from './schemas.ts';

/** What decides how Codex is launched, beside the call itself. */
export interface LaunchDeps {
  settings: Settings;
  roles: ReadonlyMap<string, Role>;
  paths: Pick<SettingPaths, 'base_prompt_file' | 'extra_instructions_file'>;
}

type Given = Partial<Omit<CodexArguments, 'prompt' | 'agent_file' | 'agent_id'>>;

/** The call's own words before its role's, those before the configuration's; what nobody names is left to Codex. */
export async function launchOf(
  { settings, roles, paths }: LaunchDeps,
  given: Given,
  roleName: string | null,
): Promise<Launch> {
  const role = roleName === null ? {} : roles.get(roleName);
  if (role === undefined)
    throw proxyError('INVALID_SESSION_PARAMS', `There is no role '${roleName}'`, {
      roles: [...roles.keys()],
    });
  const fromFile = async (key: keyof LaunchDeps['paths']): Promise<string | undefined> => {
    const path = paths[key];
    if (path === null) return undefined;
    return readText(path).catch((error: Error) => {
      throw proxyError('INVALID_SESSION_PARAMS', `${key}: ${path} ${error.message}`, { [key]: path });
    });
  };
  const model = given.model ?? role.model ?? settings.model;
  const effort = role.reasoning_effort ?? settings.reasoning_effort;
  const approvalPolicy = given['approval-policy'] ?? role.approval_policy ?? settings.approval_policy;
  const baseInstructions = given['base-instructions'] ?? (await fromFile('base_prompt_file'));
  const extra = await fromFile('extra_instructions_file');
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
    newInstructions: given['developer-instructions'],
  };
}

/** The caller's folder, else the repository, else where the proxy was started. */
export async function folderOf(given: string | undefined, fallback: string, base: string): Promise<string> {
  const cwd = given === undefined ? fallback : resolve(base, given);
  const found = await stat(cwd).catch(() => undefined);
  if (found?.isDirectory() === true) return cwd;
  throw proxyError('INVALID_SESSION_PARAMS', `cwd is no folder: ${cwd}`, { cwd });
}
