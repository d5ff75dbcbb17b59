/** Where a word may begin: also after an escaped character, one of a URL, a change of colour. */
const BEGINS = String.raw`(?:^|[^A-Za-z0-9]|\\[nrtbf]|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2}|\[[0-9;]{0,9}m)`;

/** Keys that are known by how they begin, and what follows that. */
const KEYS: readonly (readonly [beginning: string, rest: string])[] = [
  ['sk-', '[A-Za-z0-9_-]{8,}'],
  ['(?:sk|rk|pk)_(?:live|test)_', '[A-Za-z0-9]{8,}'],
  ['gh[oprsu]_', '[A-Za-z0-9]{8,}'],
  ['github_pat_', '[A-Za-z0-9_]{8,}'],
  ['glpat-', '[A-Za-z0-9_-]{8,}'],
  ['xox[a-z]-', '[A-Za-z0-9-]{8,}'],
  ['xapp-', '[A-Za-z0-9-]{8,}'],
  ['npm_', '[A-Za-z0-9]{20,}'],
  ['hf_', '[A-Za-z0-9]{20,}'],
  ['whsec_', '[A-Za-z0-9+/=]{16,}'],
  ['AIza', '[A-Za-z0-9_-]{20,}'],
  ['ya29\\.', '[A-Za-z0-9_-]{16,}'],
  ['hvs\\.', '[A-Za-z0-9_-]{16,}'],
  ['dop_v1_', '[a-f0-9]{16,}'],
  ['pypi-', '[A-Za-z0-9_-]{16,}'],
  ['xai-', '[A-Za-z0-9]{16,}'],
  ['gsk_', '[A-Za-z0-9]{16,}'],
  ['shp(?:at|ca|pa|ss)_', '[a-fA-F0-9]{16,}'],
  ['SG\\.', '[A-Za-z0-9_-]{16,}\\.[A-Za-z0-9_-]{16,}'],
  // An address that is a key itself.
  ['hooks\\.slack\\.com/services/', '[A-Za-z0-9/]{16,}'],
  ['AGE-SECRET-KEY-1', '[A-Z0-9]{16,}'],
  // The id of a key, and the secret itself where it stands beside it.
  [
    'A(?:KIA|SIA|ROA|IDA|BIA|CCA)',
    String.raw`[A-Z0-9]{12,}(?:[\s:,;"'/|=]{1,4}[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+]))?`,
  ],
];

/** No key of the table is shorter. */
export const SHORTEST_KEY = 11;

/** Each part takes all that could belong to it, and is looked at afterwards: no text is gone through twice. */
export const KNOWN = new RegExp(
  [
    ...KEYS.map(([beginning, rest]) => `${beginning}(?<=${BEGINS}${beginning})${rest}`),
    String.raw`eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){0,4}`,
    String.raw`(?:Bearer|bearer|BEARER)(?:[ \t]+|\.|%20)[A-Za-z0-9._~+/=-]{6,}`,
    String.raw`(?:Basic|basic|BASIC)[ \t]+[A-Za-z0-9+/]{8,}={0,2}`,
  ].join('|'),
  'g',
);

/** Who is let in by an address: its password, or a long name that is a key itself. */
export const IN_ADDRESS = /(:\/\/)(?:([^\s/?#"'@:\\]*:)[^\s/?#"'\\]+|[^\s/?#"'@:\\]{16,})@/g;

/** A block with its end, or as much of it as there is. */
export const PEM_BLOCK =
  /-----BEGIN[A-Z0-9 %+]{2,64}-----(?:(?:[A-Za-z0-9+/=\s\\:,.%]|-(?!-))*-----END[A-Z0-9 %+]{2,64}-----|[A-Za-z0-9+/=\s\\%]*)/g;
export const PEM_END = /-----END[A-Z0-9 %+]{2,64}-----/g;
export const PEM_LETTER = /[A-Za-z0-9+/=\s\\%]/;

const HEADERS = 'authorization|set-cookie|cookie';
const NAMES = [
  'passw(?:or)?d|passphrase|pwd|[_?&-]pass',
  'secret(?:[_-]?(?:access[_-]?)?key)?|client[_-]?secret|token|credentials?',
  '(?:api|access|account|auth|private|signing|encryption)[_-]?key|x-amz-signature|[?&]sig',
  HEADERS,
].join('|');
/** A name that a secret is given to. */
export const SECRET_NAME = new RegExp(`(?:${NAMES})$`, 'i');
/** Such a name whose value goes to the end of the line. */
export const HEADER_NAME = new RegExp(`^(?:${HEADERS})$`, 'i');

const SPACES = String.raw`(?:[ \t+]|%20){0,8}`;
/** Names that a command is told a secret for by the next word. */
const TOLD = String.raw`(?:aws_secret_access_key|aws_session_token|sshpass[ \t]{1,4}-p)`;
/** A name and what gives it a value, in a shell, JSON, YAML, an address or a header, quoted any number of times. */
export const ASSIGNED = new RegExp(
  String.raw`(?:(${NAMES})\\{0,16}(?:["'\x60]|%2[27])?\]?${SPACES}(?:=>|:=|={1,3}|:|%3[AD])|(--(?:[a-z]{1,16}-){0,3}(?:${NAMES}|pass)(?=[ \t])|${TOLD}(?=[ \t]{1,8}[^\s=:])))${SPACES}`,
  'gi',
);
/** Without one of these nothing is given to a name. */
export const ASSIGNS = /[=:%]|--|aws_se|sshpass/i;
export const OPENING = /(\\{0,16})(["'\x60])/y;
export const LINE = /[^\r\n"\\]+/y;
export const VALUE = /(?:[^\s"'\x60&;<>\\,]|,(?![\s\w-]{0,40}[:=]|\s|$)|\\(?![nrtbfu"'\\/]))+/y;

/** What may stand behind such a name and is no secret: words of a sentence, types. */
export const PLAIN =
  /^(?:an?|any|and|are|as|at|async|await|be|been|boolean|but|by|bytes|can|cannot|could|do|does|empty|expired|failed|false|for|found|from|function|had|has|have|hidden|if|in|incorrect|int|into|invalid|is|it|its|may|missing|must|new|nil|no|none|not|null|number|of|on|only|optional|or|removed|required|revoked|set|should|so|str|string|that|the|then|there|this|to|true|undefined|unknown|unset|was|were|what|when|where|which|will|with|would|wrong|you|your)?[.,:;!?)\]}]*$/i;
/** What stands for a value: a variable of a shell, a gap to be filled, what was hidden before. */
export const STAND_IN = /^(?:\$[A-Z][A-Z0-9_]*|\$[{(].*|\{\{.*|<.*>|\*+|%s|…|\[redacted\])[.,:;!?)\]}]*$/;
export const CALL = /^[A-Za-z_$.]+\(/;
