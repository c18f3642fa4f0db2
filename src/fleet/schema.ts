/** The form of a fleet file as JSON Schema, for editors: made of the schema that the file is read by. */
import { toJsonSchema } from '@valibot/to-json-schema';
import { FLEET_FILE } from './fleet-file.ts';

/** A tree of plain JSON values, of JSON Schema draft 2020-12. */
export function fleetSchema(): Readonly<Record<string, unknown>> {
  const schema = toJsonSchema(FLEET_FILE, {
    typeMode: 'input',
    errorMode: 'ignore',
    target: 'draft-2020-12',
    // A text that a function reads says itself what it is.
    overrideAction: ({ valibotAction: action }) =>
      action.type === 'metadata' ? (action as unknown as { metadata: { json: object } }).metadata.json : undefined,
  });
  // An editor shows a map that takes no other members by a plain false.
  const closed: unknown = JSON.parse(JSON.stringify(schema).replaceAll('{"not":{}}', 'false'));
  const description = 'Which cards a team has. cardwright fleet plan shows how the account differs.';
  return { ...(closed as object), title: 'cardwright fleet 1', description };
}
