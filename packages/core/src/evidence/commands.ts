import type { Base } from '../command.ts';
import type { Offer } from '../records.ts';

export type NoteOffers = Base<'note_offers', { offers: Offer[] }, { ok: true }>;

/** What changes who was given what. */
export type EvidenceCommands = NoteOffers;
