export { makeFolderSync, syncFolder, syncFolderSync } from './folders.ts';
export { removeAbandoned, temporaryBeside } from './temporary-beside.ts';
export { inWords, writeNew, writeNewSync, writeWhole, writeWholeSync } from './write.ts';
export { keepOutputWhole } from './whole-output.ts';
