import type { NoteFollower, Rule } from './commands.ts';
import { placeKey } from './records.ts';

/** How far one who follows the logs of all workspaces has come in each; the hub's own workspace has the record. */
const noteFollower: Rule<NoteFollower> = {
  needs: () => ({}),
  decide: (_loaded, { caller: { workspace_id }, input: { name, places } }) => ({
    changes: [],
    records: places.map((place) => ({
      kind: 'follower',
      workspace_id,
      key: placeKey(name, place.workspace_id),
      mark: '',
      owner: name,
      value: { name, ...place },
    })),
    result: { ok: true },
  }),
};

export const followerRules = { note_follower: noteFollower };
