/** The folder of shared libraries under the root of an unpacked system. */
export function librariesOf(root: string): string;
