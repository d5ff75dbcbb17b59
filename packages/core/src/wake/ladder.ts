import type { DoorName, Family, WakeTarget } from './door.ts';

/** What a wake does to the target, in the words of `trigger_participant`. */
export type WakeAction = 'trigger_runtime' | 'resume_session' | 'spawn_session';

/** What must be known of a target before a door is worth a look. */
type Need = 'managed' | 'native_session';

export interface Rung {
  door: DoorName;
  action: WakeAction;
  needs?: Need;
}

/** The doors of each runtime in the order they are tried: into the live session, then back into the old one, then a new one. */
export const LADDERS: Readonly<Record<Family, readonly Rung[]>> = {
  codex: [
    { door: 'managed', action: 'trigger_runtime', needs: 'managed' },
    { door: 'supervisor', action: 'trigger_runtime', needs: 'managed' },
    { door: 'codex_socket', action: 'trigger_runtime', needs: 'native_session' },
    { door: 'command', action: 'trigger_runtime' },
    { door: 'codex_resume', action: 'resume_session', needs: 'native_session' },
    { door: 'codex_new', action: 'spawn_session' },
  ],
  claude: [
    { door: 'managed', action: 'trigger_runtime', needs: 'managed' },
    { door: 'supervisor', action: 'trigger_runtime', needs: 'managed' },
    { door: 'command', action: 'trigger_runtime' },
    { door: 'claude_hook', action: 'trigger_runtime' },
    { door: 'claude_resume', action: 'resume_session', needs: 'native_session' },
    { door: 'claude_new', action: 'spawn_session' },
  ],
  other: [
    { door: 'managed', action: 'trigger_runtime', needs: 'managed' },
    { door: 'supervisor', action: 'trigger_runtime', needs: 'managed' },
    { door: 'command', action: 'trigger_runtime' },
  ],
};

/** Why a rung is left out for this target whatever its door says; undefined where it is not. */
export function unfit({ needs }: Rung, target: WakeTarget): string | undefined {
  if (needs === 'managed' && !target.managed) return 'unmanaged_runtime';
  if (needs === 'native_session' && target.native_id === undefined) return 'no_resumable_session';
  return undefined;
}

/** The family of a runtime by the name it gives itself. */
export function familyOf(runtime: string | undefined): Family {
  const name = runtime?.toLowerCase() ?? '';
  return name.includes('codex') ? 'codex' : name.includes('claude') ? 'claude' : 'other';
}
