import type { Door, DoorName, Look, WakeTarget } from './door.ts';
import { LADDERS, unfit } from './ladder.ts';
import { HUMAN_INPUT, type WakeSettings } from './policy.ts';
import type { Reach } from './ports.ts';

/** Looks through every door of a target, all at once; nothing is given to anybody. */
export function lookAround(
  target: WakeTarget,
  doors: ReadonlyMap<DoorName, Door>,
  { quietMs }: Pick<WakeSettings, 'quietMs'>,
): Promise<Reach['doors']> {
  return Promise.all(
    LADDERS[target.family].map(async (rung): Promise<Reach['doors'][number]> => {
      const door = doors.get(rung.door);
      const reason = unfit(rung, target);
      if (door?.serves(target) !== true || reason !== undefined)
        return { door: rung.door, open: 'no', reason: reason ?? 'not_configured' };
      const look = await door.look(target).catch((error: unknown): Look => ({
        can: 'no',
        reason: error instanceof Error ? error.message : String(error),
      }));
      if (look.can !== 'now')
        return { door: rung.door, open: look.can === 'later' ? 'later' : 'no', reason: look.reason };
      const isTyping = look.human_idle_ms !== undefined && look.human_idle_ms < quietMs;
      return isTyping
        ? { door: rung.door, open: 'later', reason: HUMAN_INPUT }
        : { door: rung.door, open: 'now' };
    }),
  );
}
