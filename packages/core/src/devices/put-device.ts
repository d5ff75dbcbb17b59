import type { DeviceRecord, PutRecord } from '../records.ts';

/** A device as it is kept: those that were sent away stand apart. */
export function putDevice(value: DeviceRecord): PutRecord {
  const { workspace_id, device_id: key, agent_id: owner, revoked_at } = value;
  const mark = revoked_at === undefined ? 'active' : 'revoked';
  return { kind: 'device', workspace_id, key, mark, owner, value };
}
