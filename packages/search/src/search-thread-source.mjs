/** The search's thread in development: a run of tests has bundled it, else it registers tsx by itself to run TypeScript. */
const { BUNDLED_THREADS: folder } = process.env;
if (folder === undefined) {
  const { register } = await import('tsx/esm/api');
  register();
}
await import(folder === undefined ? './search-thread.ts' : `file://${folder}/search-thread.js`);
