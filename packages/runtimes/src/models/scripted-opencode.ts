import { join } from 'node:path';

/** What keeps an opencode before a scripted model off the network, and within its home. */
export function quietOpencode(home: string): Record<string, string> {
  return {
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_DATA_HOME: join(home, '.local', 'share'),
    XDG_CACHE_HOME: join(home, '.cache'),
    XDG_STATE_HOME: join(home, '.local', 'state'),
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    // It would fetch its plugin kit from the registry, into the folder of its configuration.
    npm_config_offline: 'true',
  };
}

/** Where opencode looks for what `opencodeConfig` gives. */
export function opencodeConfigFile(home: string): string {
  return join(home, '.config', 'opencode', 'opencode.json');
}

/** An opencode.json with the scripted model alone, which asks before it runs or changes anything. */
export function opencodeConfig(modelUrl: string) {
  const options = { baseURL: modelUrl, apiKey: 'scripted' };
  return {
    autoupdate: false,
    share: 'disabled',
    model: 'scripted/m',
    small_model: 'scripted/m',
    enabled_providers: ['scripted'],
    permission: { bash: 'ask', edit: 'ask' },
    provider: {
      scripted: {
        npm: '@ai-sdk/openai-compatible',
        name: 'Scripted',
        options,
        models: { m: { name: 'M' } },
      },
    },
  };
}
