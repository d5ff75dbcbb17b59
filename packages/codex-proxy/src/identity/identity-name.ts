/** What teams and roles may be called: one folder name, the same on every file system. */
export const NAME_PATTERN = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;

export const NAME_RULE = '1 to 64 letters, digits, - and _, not beginning with -';

/** What identities may be called: dots too, but nothing that is the name of another file of the team. */
export const IDENTITY_PATTERN = /^(?!.*(?:\.\.|\.$|\.(?:lock|jsonl?)$))[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/;

export const IDENTITY_RULE = `${NAME_RULE}; dots inside it, unless it ends like a file (.lock, .json, .jsonl)`;
