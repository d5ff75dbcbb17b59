/** The name under which the hub itself speaks, on every face and in the log. */
export const HUB_NAME = 'parley';
