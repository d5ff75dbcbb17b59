import { askEndpoint, type ModelEndpoint } from '@parley/search';

const MOST = 4_000;

/** Asks a model one thing; undefined when it says nothing. */
export async function askModel(
  model: ModelEndpoint,
  instructions: string,
  question: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const messages = [
    { role: 'system', content: instructions },
    { role: 'user', content: question },
  ];
  // What is wanted of it is checked below.
  const answer = (await askEndpoint(model, 'chat/completions', { messages }, signal)) as {
    choices?: { message?: { content?: unknown } }[];
  };
  const content = answer.choices?.[0]?.message?.content;
  return typeof content === 'string' && content.trim() !== '' ? content.trim().slice(0, MOST) : undefined;
}
