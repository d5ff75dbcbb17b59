import type { NoteOffers, Rule } from '../commands.ts';

const noteOffers: Rule<NoteOffers> = {
  needs: () => ({}),
  decide: (_loaded, { caller: { workspace_id }, input: { offers } }) => ({
    changes: [],
    records: offers.map((value) => ({
      kind: 'offer',
      workspace_id,
      key: `${value.thread_id} ${value.agent_id} ${value.how}`,
      mark: '',
      owner: value.agent_id,
      value,
    })),
    result: { ok: true },
  }),
};

export const offerRules = { note_offers: noteOffers };
