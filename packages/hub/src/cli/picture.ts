/** A link as a QR code for the camera of another device, as lines of a terminal. */
export async function pictureOf(link: string): Promise<string[]> {
  const { renderUnicodeCompact } = await import('uqr');
  return renderUnicodeCompact(link, { border: 2 }).split('\n');
}
