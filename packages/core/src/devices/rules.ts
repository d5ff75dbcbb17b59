import { ParleyError } from '@parley/protocol';

import type { AddDevice, Loaded, RevokeDevice, Rule, TouchDevice } from '../commands.ts';
import type { KeptDevice, PutRecord } from '../records.ts';

const addDevice: Rule<AddDevice> = {
  needs: () => ({}),
  decide: (_loaded, { input: { device } }) => ({
    changes: [],
    records: [putDevice(device)],
    result: { device },
  }),
};

const touchDevice: Rule<TouchDevice> = {
  needs: ({ input }) => ({ record: { kind: 'device', key: input.device_id } }),
  decide(loaded, { now, input: { expires_at } }) {
    const known = requireDevice(loaded);
    // One that was revoked or fell out of use meanwhile does not come back.
    if (known.revoked_at !== undefined || Date.parse(known.expires_at) <= now)
      return { changes: [], result: { device: known } };
    const device: KeptDevice = { ...known, last_seen_at: new Date(now).toISOString(), expires_at };
    return { changes: [], records: [putDevice(device)], result: { device } };
  },
};

const revokeDevice: Rule<RevokeDevice> = {
  needs: ({ input }) => ({ record: { kind: 'device', key: input.device_id } }),
  decide(loaded, { now, caller }) {
    const { left, ...known } = requireDevice(loaded);
    // Once it was sent away by another, it has not left by itself.
    const leaves = caller.session_id === known.device_id && (known.revoked_at === undefined || left === true);
    const device: KeptDevice = {
      ...known,
      revoked_at: known.revoked_at ?? new Date(now).toISOString(),
      ...(leaves ? { left: true as const } : {}),
    };
    return { changes: [], records: [putDevice(device)], result: { device } };
  },
};

export const deviceRules = { add_device: addDevice, touch_device: touchDevice, revoke_device: revokeDevice };

function requireDevice({ record }: Loaded): KeptDevice {
  if (record === undefined) throw new ParleyError('NOT_FOUND', 'no such device');
  return record as KeptDevice;
}

function putDevice(value: KeptDevice): PutRecord {
  const { workspace_id, device_id: key, agent_id: owner, revoked_at } = value;
  const mark = revoked_at === undefined ? 'active' : 'revoked';
  return { kind: 'device', workspace_id, key, mark, owner, value };
}
