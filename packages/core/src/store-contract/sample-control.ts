import type { Control } from '@parley/protocol';
import * as fc from 'fast-check';

const profile = fc.record({
  client: fc.constantFrom('codex', 'claude'),
  roles: fc.constant<string[]>(['tester']),
});
const targets = fc.uniqueArray(fc.constantFrom('alice', 'bob', 'ghost'), { minLength: 1 });
const on = fc.record({ on: fc.boolean() });
/** Any control, of people that are there and one that is not. */
export const control: fc.Arbitrary<Control> = fc.oneof(
  fc.record({ mute: fc.record({ targets, mode: fc.constant('hard' as const) }) }),
  fc.record({ unmute: fc.record({ targets }) }),
  fc.record({ pause: on }),
  fc.record({ prod: targets }),
  fc.record({ done: fc.boolean() }),
  fc.record({ ttl_seconds: fc.integer({ min: 1, max: 60 }) }),
  fc.record({ discussion: on }),
  fc.record({ invited_auto: on }),
  fc.record({ policy: fc.record({ mode: fc.constantFrom('auto', 'permissive', 'conservative') }) }),
  fc.record({ profile }),
  fc.record({ invite: fc.record({ participant_id: fc.constantFrom('dora', 'bob'), profile }) }),
);
