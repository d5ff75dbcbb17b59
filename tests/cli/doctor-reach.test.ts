import { openAgent } from '@parley/client';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';

import { startHub, temporaryFolder, tokenFor } from '../faults/crash-hub.ts';
import { clientOf, ok } from '../faults/hub-client.ts';
import { runCli } from '../harness/run-cli.ts';

interface Report {
  ok: boolean;
  problems: string[];
  reach: { agent_id: string; reachable: string; mend?: string; doors: { door: string; reason?: string }[] }[];
}

test(
  'parley doctor tries every door of each agent: what is open, what is missing and what mends it; it is well only where all can be called',
  { timeout: 120_000 },
  async () => {
    const folder = temporaryFolder();
    const hub = await startHub(folder);
    // What programs are installed is another matter.
    const at = { data: folder, env: { PARLEY_WORKSPACE: 'w', PATH: '' } };
    const agent = await openAgent({
      url: hub.url,
      token: await tokenFor(folder, 'sam'),
      name: 'sam',
      runtime: 'own',
      WebSocket,
      commands: { wake: () => ({ delivered: true, proof: 'runtime_status' }) },
    });
    onTestFinished(() => agent.close().catch(() => {}));
    const ann = clientOf(hub.url, 'ann', await tokenFor(folder, 'ann', { role: 'operator' }));
    const reachable = async () =>
      ok(await ann.call<{ reachable: string }>('check_reach', { of_agent: 'sam' })).reachable;
    await expect.poll(reachable, { timeout: 60_000 }).toBe('now');
    expect((await runCli(['doctor'], at)).stdout).toMatch(
      /ok +reach sam +now through command\n(.*\n)*All is well\./,
    );

    // It beats, and nothing leads to it: its version is none of what counts.
    const codex = clientOf(hub.url, 'codex', await tokenFor(folder, 'codex'));
    const beat = { runtime: 'codex_cli', status: 'idle' };
    ok(await codex.call('heartbeat_session', beat));
    const report = JSON.parse((await runCli(['doctor', '--json'], at)).stdout) as Report;
    expect(report.ok).toBe(false);
    expect(report.reach.find(({ agent_id }) => agent_id === 'codex')).toMatchObject({
      reachable: 'no',
      mend: 'parley init codex, then start codex anew',
    });
    expect(report.problems).toEqual([
      expect.stringMatching(/^reach codex: idle, and no door is open \(managed: .*command: /),
    ]);

    ok(await codex.call('heartbeat_session', { ...beat, status: 'offline' }));
    const { code, stdout } = await runCli(['doctor'], at);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(
        /reach codex +not open; start codex\n(.*\n)*No fault; a call would wait for codex/,
      ),
    });
    expect(await ann.call('check_reach', { of_agent: 'nobody' })).toMatchObject({ status: 404 });
  },
);
