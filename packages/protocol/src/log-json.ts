import { hideSecrets, hideSecretsIn } from './secrets.ts';
import { seenJson, showUnseenLine } from './unseen.ts';

/** A value as one line of JSON for a log or a record on disk: no secret in any field, nothing that is not seen. */
export function logJson(value: unknown): string {
  const json = seenJson(value);
  // Almost every line holds no secret, and one look at it is cheaper than one at each of its fields.
  return hideSecrets(json) === json ? json : seenJson(hideSecretsIn<unknown>(JSON.parse(json)));
}

/** A text from outside for one line of a log or a terminal: no secret, nothing that acts on it. */
export function redact(text: string): string {
  return showUnseenLine(hideSecrets(text));
}
