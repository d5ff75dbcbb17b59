import type { NoteOffers, Rule } from '../commands.ts';
import type { PutRecord } from '../records.ts';
import { joined, offerKey } from './offer-run.ts';

/** Joins what was handed out to what is on record: several processes may hand out to one agent. */
const noteOffers: Rule<NoteOffers> = {
  needs: ({ input }) => ({
    records: true,
    gets: input.offers.map((offer) => ({ kind: 'offer', key: offerKey(offer) })),
  }),
  decide({ records }, { caller: { workspace_id }, input: { offers } }) {
    const put = offers.flatMap((offer): PutRecord[] => {
      const key = offerKey(offer);
      const known = records?.get('offer', key);
      const value = joined(known, offer);
      if (value === known) return [];
      return [{ kind: 'offer', workspace_id, key, mark: '', owner: offer.agent_id, value }];
    });
    return { changes: [], records: put, result: { ok: true } };
  },
};

export const offerRules = { note_offers: noteOffers };
