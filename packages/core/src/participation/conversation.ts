import type { Control, Profile } from '@parley/protocol';

import type { Entry } from '../entry.ts';

/** What the controls of a thread have made of it: who may speak, who is asked to, and until when. */
export interface Conversation {
  muted: readonly string[];
  /** When whose mute ends by itself. */
  muted_until?: Readonly<Record<string, string>>;
  paused: boolean;
  done: boolean;
  /** From this moment on agents are told not to respond. */
  expires_at?: string;
  discussion: { on: boolean; allow_agent_mentions: boolean };
  invited_auto: boolean;
  policy: { mode: 'auto' | 'permissive' | 'conservative'; threshold?: number | undefined };
  /** Prodded and not heard since. */
  prodded: readonly string[];
  profiles: Readonly<Record<string, Profile>>;
}

/** A thread in which nobody has turned any knob. */
export const PLAIN: Conversation = {
  muted: [],
  paused: false,
  done: false,
  discussion: { on: false, allow_agent_mentions: false },
  invited_auto: false,
  policy: { mode: 'auto' },
  prodded: [],
  profiles: {},
};

/** The conversation after a control was given. */
export function foldControl(before: Conversation, control: Control, entry: Entry): Conversation {
  if ('mute' in control) {
    const { targets, for_seconds } = control.mute;
    const muted = [...new Set([...before.muted, ...targets])];
    const until = for_seconds === undefined ? undefined : later(entry, for_seconds);
    return endingAt({ ...before, muted }, targets, until);
  }
  if ('unmute' in control) {
    const { targets } = control.unmute;
    const muted = before.muted.filter((name) => !targets.includes(name));
    return endingAt({ ...before, muted }, targets, undefined);
  }
  if ('pause' in control) return { ...before, paused: control.pause.on };
  if ('prod' in control) return { ...before, prodded: [...new Set([...before.prodded, ...control.prod])] };
  if ('done' in control) return control.done ? { ...before, done: true } : goingOn(before);
  if ('ttl_seconds' in control) return { ...before, expires_at: later(entry, control.ttl_seconds) };
  if ('discussion' in control) {
    const { on, allow_agent_mentions = on } = control.discussion;
    return { ...before, discussion: { on, allow_agent_mentions } };
  }
  if ('invited_auto' in control) return { ...before, invited_auto: control.invited_auto.on };
  if ('policy' in control) return { ...before, policy: control.policy };
  if ('profile' in control) return withProfile(before, entry.sender_agent_id, control.profile);
  if ('leave' in control) return without(before, entry.sender_agent_id);
  if ('remove' in control) return without(before, control.remove.participant_id);
  const { participant_id, profile } = control.invite;
  return profile === undefined ? before : withProfile(before, participant_id, profile);
}

/** Who takes part no more is asked for nothing and bears no name here; a mute would hold again. */
function without(before: Conversation, agent: string): Conversation {
  const { [agent]: _gone, ...profiles } = before.profiles;
  return { ...before, profiles, prodded: before.prodded.filter((name) => name !== agent) };
}

/** Who takes part no more after a control. */
export function leaverOf(control: Control, { sender_agent_id }: Entry): string | undefined {
  if ('leave' in control) return sender_agent_id;
  return 'remove' in control ? control.remove.participant_id : undefined;
}

/** The profile that is on record of a participant. */
export function profileOf({ profiles }: Conversation, agent: string): Profile | undefined {
  return Object.hasOwn(profiles, agent) ? profiles[agent] : undefined;
}

/** Who speaks has answered the prod. */
export function foldSpeech(before: Conversation, speaker: string): Conversation {
  if (!before.prodded.includes(speaker)) return before;
  return { ...before, prodded: before.prodded.filter((name) => name !== speaker) };
}

/** True once the conversation was declared done or its time has run out. */
export function hasEnded({ done, expires_at }: Conversation, now: number): boolean {
  return done || (expires_at !== undefined && Date.parse(expires_at) <= now);
}

/** Whose mutes have run out. */
export function mutesOver({ muted_until = {} }: Conversation, now: number): string[] {
  return Object.entries(muted_until).flatMap(([name, until]) => (Date.parse(until) <= now ? [name] : []));
}

function later({ created_at }: Entry, seconds: number): string {
  return new Date(Date.parse(created_at) + seconds * 1_000).toISOString();
}

/** The last word counts: a mute without an end takes the end of an earlier one away. */
function endingAt(
  { muted_until = {}, ...before }: Conversation,
  targets: readonly string[],
  until: string | undefined,
): Conversation {
  const kept = Object.entries(muted_until).filter(([name]) => !targets.includes(name));
  const set = until === undefined ? [] : targets.map((name) => [name, until] as const);
  const all = Object.fromEntries([...kept, ...set]);
  return Object.keys(all).length === 0 ? before : { ...before, muted_until: all };
}

/** Not done after all: neither the word nor the time that was set ends it. */
function goingOn({ expires_at: _ended, ...before }: Conversation): Conversation {
  return { ...before, done: false };
}

function withProfile(before: Conversation, agent: string, profile: Profile): Conversation {
  return { ...before, profiles: { ...before.profiles, [agent]: profile } };
}
