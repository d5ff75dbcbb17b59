/** Where an OpenAI-compatible model is asked. */
export interface ChatEndpoint {
  endpoint: string;
  model: string;
  key: string | undefined;
}

const MOST = 4_000;

/** Asks a model one thing; undefined when it says nothing. */
export async function askModel(
  { endpoint, model, key }: ChatEndpoint,
  instructions: string,
  question: string,
  signal: AbortSignal,
): Promise<string | undefined> {
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
  // What is wanted of it is checked below.
  const answer = (await response.json()) as { choices?: { message?: { content?: unknown } }[] };
  const content = answer.choices?.[0]?.message?.content;
  return typeof content === 'string' && content.trim() !== '' ? content.trim().slice(0, MOST) : undefined;
}
