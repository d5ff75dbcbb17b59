export function buildScan(text?: string): Promise<string>;
