import { type Caller, type Device, LIMITS, ParleyError } from '@parley/protocol';

import { operation, stamp } from '../operation.ts';
import type { KeptDevice } from '../records.ts';

/** How long a code or a link by which a device signs in is good. */
const INVITATION_MS = 600_000;

export const listDevices = operation('list_devices', {
  authority: 'look',
  async run(deps, caller, { revoked }) {
    requirePerson(caller);
    const { workspace_id } = caller;
    const query = { kind: 'device', workspace_id, limit: LIMITS.records } as const;
    const devices = await deps.store.records(revoked ? query : { ...query, marks: ['active'] });
    const now = deps.clock.now();
    return {
      devices: devices
        .filter(({ expires_at, revoked_at }) => revoked_at !== undefined || Date.parse(expires_at) > now)
        .map((device) => toDevice(device, caller)),
    };
  },
});

export const pairDevice = operation('pair_device', {
  authority: 'act',
  async run(deps, caller, { name, read_only, idempotency_key }) {
    requirePerson(caller);
    const { agent_id, workspace_id } = caller;
    const person = { agent_id, workspace_id, name, read_only };
    const { code, key, until } = deps.invitations.issue(person, INVITATION_MS, idempotency_key);
    const { address } = deps.about();
    return { code, key, address, read_only, expires_at: new Date(until).toISOString() };
  },
});

export const revokeDevice = operation('revoke_device', {
  authority: 'act',
  async run(deps, caller, { device_id, idempotency_key }) {
    requirePerson(caller);
    const head = stamp(deps, caller, 'revoke_device', idempotency_key);
    const { result } = await deps.log.append({ type: 'revoke_device', ...head, input: { device_id } });
    return { device: toDevice(result['device'] as KeptDevice, caller) };
  },
});

/** Devices are a person's: only the role operator lets them in and sends them away. */
export function requirePerson({ role }: Pick<Caller, 'role'>): void {
  if (role !== 'operator')
    throw new ParleyError('INSUFFICIENT_AUTHORITY', 'this is for a person (role operator)');
}

function toDevice(kept: KeptDevice, { session_id }: Caller): Device {
  const { secret_hash: _hash, workspace_id: _workspace, ...device } = kept;
  return device.device_id === session_id ? { ...device, this_one: true } : device;
}
