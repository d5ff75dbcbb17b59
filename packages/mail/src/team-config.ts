import { ParleyError, fieldsOf } from '@parley/protocol';

import { readJson } from './files/read-json.ts';
import { type ReplaceOptions, replaceShared } from './files/replace-shared.ts';
import { takeOwnLock } from './locks/own-lock.ts';
import type { TeamFolder } from './team-folder.ts';

/** One member of a team, as far as mail needs to know. */
export interface Member {
  name: string;
  agent_type: string | null;
  is_lead: boolean;
  /** True for a member that this program made. */
  is_ours: boolean;
}

/** What a member of ours says of itself. */
export interface NewMember {
  agentType: string;
  model?: string;
  cwd: string;
}

type Json = Record<string, unknown>;

/** The name that every lead has. */
export const LEAD = 'team-lead';

/** The mark of a member that this program made; Claude Code keeps what it does not know. */
const OURS = { madeBy: 'parley' };

/** The members of a team; without config.json there is no team. */
export async function readMembers(folder: TeamFolder): Promise<Member[]> {
  const file = await readJson(folder.config);
  await file.close();
  if (file.value === undefined) throw folder.missing();
  const { config, members } = parse(folder, file.value);
  return members.flatMap((member) => {
    const { name, agentType, agentId } = asObject(member);
    if (typeof name !== 'string') return [];
    const is_lead = name === LEAD || (agentId !== undefined && agentId === config['leadAgentId']);
    const agent_type = typeof agentType === 'string' ? agentType : null;
    return [{ name, agent_type, is_lead, is_ours: isOurs(member) }];
  });
}

/** Where a team's config is written, and how its locks are waited for. */
export interface ConfigWriting {
  folder: TeamFolder;
  /** The lock among our own processes. */
  lock: string;
  options: Omit<ReplaceOptions, 'mayWrite'>;
}

/** Adds a member; false when one of that name is there. Everything else in the file is kept. */
export function addMember(at: ConfigWriting, name: string, more: NewMember, now: Date): Promise<boolean> {
  return changeMembers(at, (members) => {
    if (members.some((member) => asObject(member)['name'] === name)) return undefined;
    const { model = 'unknown', agentType, cwd } = more;
    const agentId = `${name}@${at.folder.team}`;
    const joined = { joinedAt: now.getTime(), tmuxPaneId: '', cwd, subscriptions: [], isActive: true };
    return [...members, { agentId, name, agentType, model, ...joined, ...OURS }];
  });
}

/** Removes a member that this program made; false when there is none of that name. */
export function removeMember(at: ConfigWriting, name: string): Promise<boolean> {
  return changeMembers(at, (members) => {
    const isMeant = (member: unknown): boolean => asObject(member)['name'] === name && isOurs(member);
    return members.some(isMeant) ? members.filter((member) => !isMeant(member)) : undefined;
  });
}

async function changeMembers(
  { folder, lock, options }: ConfigWriting,
  change: (members: unknown[]) => unknown[] | undefined,
): Promise<boolean> {
  const mayWrite = (): void => folder.checkWritable();
  mayWrite();
  const own = await takeOwnLock(lock, options.waitMs);
  try {
    return await replaceShared(
      folder.config,
      (value) => {
        const { config, members } = parse(folder, value);
        const changed = change(members);
        if (changed === undefined) return { outcome: false };
        return { outcome: true, value: { ...config, members: changed } };
      },
      { ...options, mayWrite },
    );
  } finally {
    own.release();
  }
}

function isOurs(member: unknown): boolean {
  return asObject(member)['madeBy'] === OURS.madeBy;
}

function parse({ config: path }: TeamFolder, value: unknown): { config: Json; members: unknown[] } {
  const config = asObject(value);
  const { members } = config;
  if (Array.isArray(members)) return { config, members };
  throw new ParleyError('CONFLICT', `${path} lists no members and is left as it is`, { path });
}

function asObject(value: unknown): Json {
  return fieldsOf(value);
}
