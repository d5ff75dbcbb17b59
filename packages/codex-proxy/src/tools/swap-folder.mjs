/** For tests: makes a folder a link to another place and a folder again, as fast as it can, until its input ends. */
import { renameSync, symlinkSync, unlinkSync } from 'node:fs';

const [folder, elsewhere] = process.argv.slice(2);
process.stdin.on('end', () => process.exit()).resume();
const swap = () => {
  for (let n = 0; n < 50; n++) {
    renameSync(folder, `${folder}.kept`);
    symlinkSync(elsewhere, folder);
    unlinkSync(folder);
    renameSync(`${folder}.kept`, folder);
  }
  setImmediate(swap);
};
swap();
