import { type Caller, type Device, ParleyError } from '@parley/protocol';

import { operation, stamp } from '../operation.ts';
import type { AboutPorts, DevicePorts, RecordPorts } from '../ports.ts';
import { readPage } from '../record-pages.ts';
import type { DeviceRecord } from '../records.ts';
import { whySignedOut, withElders } from './authority.ts';

/** How long a code or a link by which a device signs in is good. */
const INVITATION_MS = 600_000;

const listDevices = operation('list_devices', {
  authority: 'look',
  async run(deps: RecordPorts & DevicePorts, caller, { revoked, ...page }) {
    requirePerson(caller);
    const { workspace_id } = caller;
    const query = { kind: 'device', workspace_id } as const;
    const found = await readPage(
      deps.store,
      revoked ? query : { ...query, marks: ['active'] },
      page,
      ({ device_id }) => device_id,
    );
    const granted = await withElders(deps, found.values);
    const shown = granted.filter(
      (one) =>
        one.value.revoked_at !== undefined || whySignedOut(one, deps.authority, deps.clock) === undefined,
    );
    return { devices: shown.map(({ value }) => toDevice(value, caller)), next_after: found.next_after };
  },
});

const pairDevice = operation('pair_device', {
  authority: 'act',
  async run(deps: RecordPorts & DevicePorts & AboutPorts, caller, { name, read_only, idempotency_key }) {
    requirePerson(caller);
    const { agent_id, workspace_id } = caller;
    const grant = deps.authority.of(caller);
    if (grant === undefined)
      throw new ParleyError('FORBIDDEN', 'a device is let in by a token or by another device');
    const person = { agent_id, workspace_id, name, read_only, grant };
    const { code, key, until } = await deps.invitations.issue(person, INVITATION_MS, idempotency_key);
    const { address } = deps.about();
    return { code, key, address, read_only, expires_at: new Date(until).toISOString() };
  },
});

const revokeDevice = operation('revoke_device', {
  authority: 'act',
  async run(deps: RecordPorts, caller, { device_id, idempotency_key }) {
    requirePerson(caller);
    const head = stamp(deps, caller, 'revoke_device', idempotency_key);
    const { result } = await deps.log.append({ type: 'revoke_device', ...head, input: { device_id } });
    return { device: toDevice(result.device, caller) };
  },
});

/** Devices are a person's: only the role operator lets them in and sends them away. */
export function requirePerson({ role }: Pick<Caller, 'role'>): void {
  if (role !== 'operator')
    throw new ParleyError('INSUFFICIENT_AUTHORITY', 'this is for a person (role operator)');
}

function toDevice(kept: DeviceRecord, { session_id }: Caller): Device {
  const { secret_hash: _hash, workspace_id: _workspace, grant: _grant, left: _left, ...device } = kept;
  return device.device_id === session_id ? { ...device, this_one: true } : device;
}

/** By name: the table of operations takes them from here. */
export const deviceOperations = {
  list_devices: listDevices,
  pair_device: pairDevice,
  revoke_device: revokeDevice,
};
