import * as z from 'zod';

import { Role } from './entities.ts';
import { Name, storableText } from './text.ts';

const Moment = z.iso.datetime();

/** What a device calls itself, for people to tell it from the others. */
export const DeviceName = storableText({ maxBytes: 100 });

/** A browser from which a person looks and steers; it signs in once and stays until it is revoked or long unused. */
export const Device = z
  .object({
    device_id: Name.describe('also the session of what is said from it'),
    name: z.string(),
    agent_id: Name.describe('the person'),
    role: Role,
    read_only: z.boolean().describe('it may look and change nothing'),
    created_at: Moment,
    last_seen_at: Moment,
    expires_at: Moment.describe('unless it is used again before'),
    revoked_at: Moment.optional(),
    this_one: z.boolean().optional().describe('the device that asks'),
  })
  .meta({ id: 'Device' });
export type Device = z.infer<typeof Device>;
