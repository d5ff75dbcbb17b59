import * as z from 'zod';

/** A time. */
export const ms = (value: number, text: string) =>
  z.number().int().min(0).default(value).describe(`${text}, in milliseconds`);
/** A whole number from a smallest one on. */
export const whole = (value: number, min: number, text: string) =>
  z.number().int().min(min).default(value).describe(text);
/** A table of settings; the cast is for an empty one, which all their defaults make whole. */
// Every setting of a group has a default of its own.
export const group = <S extends z.ZodRawShape>(shape: S) => z.strictObject(shape).prefault({} as never);

/** An address, or nothing. */
export const plainUrl = (text: string) =>
  z
    .string()
    .default('')
    .refine((url) => url === '' || isPlainUrl(url), {
      error: 'must be an http or https URL without a name, a key or a question in it',
    })
    .describe(text);
/** Where something stands on the web, as browsers write it, or nothing. */
export const origin = (text: string) =>
  z
    .string()
    .default('')
    .refine((url) => url === '' || isOrigin(url), {
      error: 'must be an origin such as https://desk.example.com, without a path or a slash at its end',
    })
    .describe(text);
/** The address of a server that is no web server, by its schemes, or nothing; it may hold a password, which is never shown. */
export const serverUrl = (schemes: readonly string[], text: string) =>
  z
    .string()
    .default('')
    .refine(
      (url) => url === '' || (URL.canParse(url) && schemes.includes(new URL(url).protocol.slice(0, -1))),
      { error: `must begin with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}` },
    )
    .describe(text);
/** Where a key is found, which itself stands in no configuration. */
export const secret = (whose: string) => ({
  api_key_env: z.string().default('').describe(`environment variable that holds the key for ${whose}`),
  api_key_file: z.string().default('').describe(`file that holds the key for ${whose}`),
});

function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

function isPlainUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === '';
}
