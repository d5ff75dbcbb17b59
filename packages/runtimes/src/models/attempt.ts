/** Asks a script for its answer; what it throws is kept aside, since clients retry on a server's error. */
export async function attempt<Request, Steps>(
  script: (request: Request, index: number) => Steps | Promise<Steps>,
  request: Request,
  index: number,
  errors: unknown[],
): Promise<Steps | undefined> {
  try {
    return await script(request, index);
  } catch (error) {
    errors.push(error);
    return undefined;
  }
}
