/** Writes Python classes of what some operations take and give, out of the components of an OpenAPI document. */
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [core, document, out, ...names] = process.argv.slice(2);
const { InputData, JSONSchemaInput, quicktype } = (await import(pathToFileURL(core).href)).default;
const { components } = JSON.parse(readFileSync(document, 'utf8'));
const definitions = JSON.parse(
  JSON.stringify(components.schemas).replaceAll('#/components/schemas/', '#/definitions/'),
);
const schemas = new JSONSchemaInput(undefined);
for (const name of names)
  await schemas.addSource({
    name,
    schema: JSON.stringify({ $ref: `#/definitions/${name}`, definitions }),
  });
const inputData = new InputData();
inputData.addInput(schemas);
const { lines } = await quicktype({
  inputData,
  lang: 'python',
  // Times and ids stay texts: what parses times is no part of Python.
  inferDateTimes: false,
  inferUuids: false,
  rendererOptions: { 'python-version': '3.7' },
});
writeFileSync(out, lines.join('\n'));
