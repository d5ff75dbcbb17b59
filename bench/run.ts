import { benchPosts } from './posts.ts';

const BENCHES: Record<string, () => Promise<void>> = { posts: benchPosts };

const wanted = process.argv.slice(2);
for (const [name, bench] of Object.entries(BENCHES)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  process.stdout.write(`\n# ${name}\n`);
  await bench();
}
