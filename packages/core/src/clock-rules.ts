import type { NoteClock, Rule } from './commands.ts';

/** What is known of the clock: one for the whole hub. */
const noteClock: Rule<NoteClock> = {
  needs: () => ({}),
  decide: (_loaded, { caller: { workspace_id }, input }) => ({
    changes: [],
    records: [{ kind: 'clock', workspace_id, key: 'clock', mark: '', owner: '', value: input }],
    result: { ok: true },
  }),
};

export const clockRules = { note_clock: noteClock };
