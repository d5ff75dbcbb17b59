import type { Role } from '@parley/protocol';

/** What the right of a device to be signed in rests on: the token or the key that let it in, and the devices between. */
export interface Grant {
  /** The token; none where the hub itself gave out the link. */
  jti?: string;
  /** The key that signed it; nothing is known of it for devices from before this was kept. */
  kid?: string;
  /** Whose key it is, where it is none of the hub's own file. */
  issuer?: string;
  /** The person whom an issuer signed in, where it rests on that. */
  person?: PersonGrant;
  /** Devices that let one another in, the first one first. */
  devices: readonly string[];
}

/** A right that rests on an issuer's word about one of its accounts. */
export interface PersonGrant {
  issuer: string;
  /** The account at the issuer: its `sub`. */
  subject: string;
  /** The name it bears in the workspace. */
  name: string;
  workspace_id: string;
  /** When the issuer gave its word: a sign-out ends what it said before. */
  since: string;
  /** After this the issuer is asked again. */
  until: string;
  /** Where else this person may go, as the issuer's word was read. */
  places: readonly PersonPlace[];
}

/** A workspace that a person may enter, and as what. */
export interface PersonPlace {
  workspace_id: string;
  role: Role;
  read_only: boolean;
}
