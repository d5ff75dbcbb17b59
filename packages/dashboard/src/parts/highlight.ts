/** A piece of code and what it is; plain where there is no word for it. */
export interface Token {
  text: string;
  kind?: 'comment' | 'string' | 'number' | 'keyword' | 'name';
}

const KEYWORDS = new Set(
  `abstract and as assert async await begin bool boolean break case catch char class const continue crate def default
   defer del delete do double echo elif else elsif end enum esac except exec export extends extern false fi final finally
   float fn for from func function global go goto if impl implements import in instanceof int interface is lambda let
   local long loop match mod module move mut namespace new nil none None not null of or override package pass private
   protected pub public raise readonly record return select self Self short static string struct super switch then this
   throw throws trait true True False try type typeof undefined union unsafe until use using val var virtual void when
   where while with yield SELECT FROM WHERE INSERT INTO UPDATE DELETE CREATE TABLE INDEX JOIN LEFT ON AND OR NOT NULL
   VALUES SET ORDER BY GROUP LIMIT PRIMARY KEY`.split(/\s+/),
);

const HASHES = new Set([
  'sh',
  'bash',
  'zsh',
  'shell',
  'py',
  'python',
  'rb',
  'ruby',
  'yaml',
  'yml',
  'toml',
  'ini',
  'make',
  'makefile',
  'dockerfile',
  'perl',
  'r',
  'nix',
  'elixir',
  'conf',
]);
const DASHES = new Set(['sql', 'lua', 'haskell', 'hs', 'elm', 'ada']);
const PLAIN = new Set(['text', 'txt', 'plain', 'log', 'output', 'console']);
const MARKUP = new Set(['html', 'xml', 'svg', 'vue']);

/** Longer code is shown as it is. */
const LONGEST = 40_000;

/** Code in its parts, by rules that most languages share; what the language does not say is not guessed at. */
export function tokensOf(code: string, language: string): Token[] {
  if (code.length > LONGEST || PLAIN.has(language)) return [{ text: code }];
  const comment = HASHES.has(language)
    ? '#[^\\n]*'
    : DASHES.has(language)
      ? '--[^\\n]*'
      : MARKUP.has(language)
        ? '<!--[\\s\\S]*?(?:-->|$)'
        : '\\/\\/[^\\n]*|\\/\\*[\\s\\S]*?(?:\\*\\/|$)';
  const parts = new RegExp(
    `(?<comment>${comment})|(?<string>"(?:\\\\.|[^"\\\\\\n])*"?|'(?:\\\\.|[^'\\\\\\n])*'?|\`(?:\\\\.|[^\`\\\\])*\`?)|(?<number>\\b(?:0x[\\da-fA-F_]+|\\d[\\d_]*(?:\\.\\d+)?(?:[eE][+-]?\\d+)?)\\b)|(?<word>[A-Za-z_$][\\w$]*)`,
    'g',
  );
  const tokens: Token[] = [];
  let at = 0;
  for (const match of code.matchAll(parts)) {
    const { comment: said, string, number, word } = match.groups ?? {};
    const kind =
      said !== undefined
        ? 'comment'
        : string !== undefined
          ? 'string'
          : number !== undefined
            ? 'number'
            : word !== undefined && KEYWORDS.has(word)
              ? 'keyword'
              : code[match.index + match[0].length] === '('
                ? 'name'
                : undefined;
    if (kind === undefined) continue;
    if (match.index > at) tokens.push({ text: code.slice(at, match.index) });
    tokens.push({ text: match[0], kind });
    at = match.index + match[0].length;
  }
  if (at < code.length) tokens.push({ text: code.slice(at) });
  return tokens;
}
