/** Set by `parley run` for its program and all that this starts: the commands of the agent are taken above. */
export const SUPERVISED = 'PARLEY_SUPERVISED';
