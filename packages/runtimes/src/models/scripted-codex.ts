/** The part of a config.toml that every isolated Codex has: the scripted model, nothing on the network. */
export function scriptedModelConfig(modelUrl: string, features: Record<string, boolean> = {}): string {
  return [
    'model = "gpt-5.2-codex"',
    'model_provider = "scripted"',
    'check_for_update_on_startup = false',
    '[analytics]',
    'enabled = false',
    '[features]',
    // Plugins and apps would be looked up on the network at each start.
    ...pairs({ plugins: false, apps: false, ...features }),
    '[model_providers.scripted]',
    'name = "scripted"',
    `base_url = ${toml(modelUrl)}`,
    'wire_api = "responses"',
    'request_max_retries = 0',
    'stream_max_retries = 0',
    '',
  ].join('\n');
}

function pairs(table: Record<string, boolean>): string[] {
  return Object.entries(table).map(([key, value]) => `${key} = ${toml(value)}`);
}

// Strings and booleans are written alike in JSON and TOML.
function toml(value: string | boolean): string {
  return JSON.stringify(value);
}
