import type { Base } from '../command.ts';
import type { DeviceRecord, PersonRecord } from '../records.ts';

export type AddDevice = Base<'add_device', { device: DeviceRecord }, { device: DeviceRecord }>;
/** A device was used: it stays for another while. */
export type TouchDevice = Base<
  'touch_device',
  { device_id: string; expires_at: string },
  { device: DeviceRecord }
>;
export type RevokeDevice = Base<'revoke_device', { device_id: string }, { device: DeviceRecord }>;
/** A name for an account of an issuer; `named` when the configuration itself gives it. */
export type BindPerson = Base<
  'bind_person',
  Pick<PersonRecord, 'agent_id' | 'issuer' | 'subject'> & { named: boolean },
  { person: PersonRecord }
>;
/** An account of an issuer was signed out: its devices and tokens end. */
export type EndPerson = Base<'end_person', Pick<PersonRecord, 'issuer' | 'subject'>, { ended: number }>;

/** What changes devices and the people whose they are. */
export type DeviceCommands = AddDevice | TouchDevice | RevokeDevice | BindPerson | EndPerson;
