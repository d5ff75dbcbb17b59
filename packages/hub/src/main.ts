import { loadConfig } from './config/load.ts';
import { createLogger } from './logger.ts';
import { start } from './start.ts';
import { issueToken } from './auth/issue-token.ts';

const { config } = loadConfig({ data: process.argv[2], port: 0 }, process.env);
const { log } = createLogger(config.log.level);
const hub = await start(config, log);
const token = await issueToken(config, { agent_id: 'alice', workspace_id: 'w', role: 'worker', session_id: 's1', ttl_ms: 3600_000 }, Date.now());
process.stdout.write(`${JSON.stringify({ ready: true, url: hub.url, pid: process.pid, token: token.token })}\n`);
