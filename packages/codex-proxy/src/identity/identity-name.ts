/** What identities and teams may be called: one folder name and one inbox name, the same on every file system. */
export const NAME_PATTERN = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;

export const NAME_RULE = '1 to 64 letters, digits, - and _, not beginning with -';
