/** The version of this Parley; equal to the package's. */
export const VERSION = '0.1.0';
