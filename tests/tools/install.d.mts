/** Installs the tools of the tests that are not there yet; where each is, or why it is missing. */
export function installTestTools(): Promise<Record<string, { path?: string; missing?: string } | undefined>>;
