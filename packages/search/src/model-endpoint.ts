/** Where an OpenAI-compatible model is asked. */
export interface ModelEndpoint {
  endpoint: string;
  model: string;
  key: string | undefined;
}

/** Asks a model for what a path of its endpoint gives; the endpoint is told the key, and nobody it might name instead. */
export async function askEndpoint(
  { endpoint, model, key }: ModelEndpoint,
  path: string,
  asked: object,
  signal: AbortSignal,
): Promise<unknown> {
  const response = await fetch(`${endpoint.replace(/\/+$/, '')}/${path}`, {
    method: 'POST',
    redirect: 'error',
    signal,
    headers: {
      'content-type': 'application/json',
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify({ model, ...asked }),
  });
  if (!response.ok) throw new Error(`the endpoint answered ${response.status}`);
  return response.json();
}
