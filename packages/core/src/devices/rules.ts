import { ParleyError } from '@parley/protocol';

import type { AddDevice, Loaded, RevokeDevice, Rule, TouchDevice } from '../commands.ts';
import type { DeviceRecord } from '../records.ts';
import { endOf } from './person-rules.ts';
import { putDevice } from './put-device.ts';

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
    const device: DeviceRecord = { ...known, last_seen_at: new Date(now).toISOString(), expires_at };
    return { changes: [], records: [putDevice(device)], result: { device } };
  },
};

const revokeDevice: Rule<RevokeDevice> = {
  needs: ({ input }) => ({ record: { kind: 'device', key: input.device_id }, records: true }),
  decide(loaded, { now, caller }) {
    const { left, ...known } = requireDevice(loaded);
    if (known.grant?.person !== undefined) {
      const device: DeviceRecord = { ...known, revoked_at: known.revoked_at ?? new Date(now).toISOString() };
      return {
        changes: [],
        records: [...endOf(loaded, known.grant.person, now), putDevice(device)],
        result: { device },
      };
    }
    // Once it was sent away by another, it has not left by itself.
    const leaves = caller.session_id === known.device_id && (known.revoked_at === undefined || left === true);
    const device: DeviceRecord = {
      ...known,
      revoked_at: known.revoked_at ?? new Date(now).toISOString(),
      ...(leaves ? { left: true as const } : {}),
    };
    return { changes: [], records: [putDevice(device)], result: { device } };
  },
};

export const deviceRules = { add_device: addDevice, touch_device: touchDevice, revoke_device: revokeDevice };

function requireDevice({ record }: Loaded): DeviceRecord {
  if (record?.device === undefined) throw new ParleyError('NOT_FOUND', 'no such device');
  return record.device;
}
