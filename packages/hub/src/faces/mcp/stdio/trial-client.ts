/** What `parley init` calls itself when it tries the server: it is nobody's session. */
export const TRIAL_CLIENT = 'parley-init';
