/** Where an OpenAI-compatible model is asked. */
export interface ChatEndpoint {
  endpoint: string;
  model: string;
  api_key_env: string;
}

const MOST = 4_000;

/** Asks a model one thing; undefined when it says nothing. The key comes from the variable that the configuration names. */
export async function askModel(
  { endpoint, model, api_key_env }: ChatEndpoint,
  instructions: string,
  question: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const key = api_key_env === '' ? undefined : process.env[api_key_env];
  const response = await fetch(`${endpoint.replace(/\/$/, '')}/chat/completions`, {
    method: 'POST',
    redirect: 'error',
    signal,
    headers: {
      'content-type': 'application/json',
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify({
      model,
      messages: [
        { role: 'system', content: instructions },
        { role: 'user', content: question },
      ],
    }),
  });
  if (!response.ok) throw new Error(`the endpoint answered ${response.status}`);
  const answer = (await response.json()) as { choices?: { message?: { content?: unknown } }[] };
  const content = answer.choices?.[0]?.message?.content;
  return typeof content === 'string' && content.trim() !== '' ? content.trim().slice(0, MOST) : undefined;
}
