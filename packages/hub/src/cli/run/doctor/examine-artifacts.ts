import { checkBlobs } from '../../../artifacts/check-blobs.ts';
import type { Config } from '../../../config/schema.ts';
import type { RecordPlace } from '../../../record/record-place.ts';
import type { Check } from './check.ts';

/** Every artifact must have its bytes, whole and private. */
export async function checkArtifacts(
  { data, artifacts: { bucket } }: Config,
  place: RecordPlace,
): Promise<Check> {
  const name = 'artifacts';
  if (bucket !== '') return { name, ok: true, detail: `their bytes are in the bucket ${bucket}` };
  try {
    const { artifacts, bytes, wrong } = checkBlobs(data, await place.artifacts());
    if (wrong.length === 0)
      return { name, ok: true, detail: `${artifacts}, ${bytes} bytes, every hash right` };
    return { name, ok: false, detail: `${wrong.length} wrong: ${wrong.slice(0, 3).join('; ')}` };
  } catch (error) {
    return { name, ok: false, detail: error instanceof Error ? error.message : String(error) };
  }
}
