import { readAll } from '@parley/protocol';
import type { Command } from 'commander';

import { addConnectOptions, connect } from '../connect.ts';
import { fittedTable } from '../fitted.ts';
import { oneLine } from '../harmless.ts';
import { print } from '../output.ts';
import { span } from '../span.ts';

/** `parley device`: who is signed in at the dashboard, and out with them. */
export function addDeviceCommands(program: Command): void {
  const device = program.command('device').description('list and revoke the devices that are signed in');
  addConnectOptions(device.command('ls').description('list the devices that are signed in'))
    .addHelpText('after', '\nExample:\n  parley device ls')
    .action(async (_options: unknown, command: Command) => {
      const { client, json, typed } = await connect(command);
      const devices = await readAll(
        (place) => client.list_devices(place),
        (page) => page.devices,
      );
      print({ json }, { devices }, () =>
        devices.length === 0
          ? [`No device is signed in. Sign one in with: ${typed('link')}`]
          : fittedTable(
              devices.map(({ device_id, name, agent_id, read_only, last_seen_at }) => [
                device_id,
                oneLine(name),
                agent_id,
                read_only ? 'may only look' : 'may steer',
                `seen ${span(Date.now() - Date.parse(last_seen_at))} ago`,
              ]),
              [{}, { most: 24 }, { most: 16, spare: true }],
            ),
      );
    });
  addConnectOptions(device.command('revoke <device>').description('sign a device out at once and for good'))
    .addHelpText('after', '\nExample:\n  parley device revoke ipad-1f0c22ab')
    .action(async (device_id: string, _options: unknown, command: Command) => {
      const { client, json } = await connect(command);
      const result = await client.revoke_device({ device_id });
      print({ json }, result, () => [`revoked ${device_id}`]);
    });
}
