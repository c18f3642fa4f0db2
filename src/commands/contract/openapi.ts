import { command } from '../../cli/parsing/command.ts';
import { openApiDocument } from '../../contract/openapi/document.ts';
import type { Row } from '../../terminal/view.ts';

/** Prints the contract as an OpenAPI document, for other tools. */
export const printOpenApi = command({
  path: 'contract openapi',
  summary: 'Print the contract as an OpenAPI 3.1 document',
  answers: { any: 'An OpenAPI 3.1 document.' },
  about: [
    'Prints JSON unless you choose another format. Every node has x-stated (the section of the documentation) or x-assumed (the assumption made instead). Overrides of a profile are not included.',
  ],
  examples: [
    { does: 'For a file that other tools read', run: 'contract openapi' },
    { does: 'As YAML', run: 'contract openapi -o yaml' },
    { does: 'What its GET routes do', run: "contract openapi --jq '.paths[].get.summary? // empty'" },
  ],
  run: async () => openApiDocument(),
  show: document => ({
    noun: 'document',
    columns: [],
    data: document as Row,
    prose: `${JSON.stringify(document, undefined, 2)}\n`,
  }),
});
