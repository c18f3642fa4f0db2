import { command } from '../cli/parsing/command.ts';
import { type Command, commandsOf } from '../cli/parsing/declaration.ts';
import { optionalArguments, takes } from '../cli/parsing/flag.ts';
import { quote } from '../cli/parsing/values.ts';
import { usage } from '../core/errors.ts';
import { didYouMean } from '../core/nearest.ts';
import type { Row } from '../terminal/view.ts';
import { REGISTRY } from './registry.ts';

const DIALECT = { $schema: 'https://json-schema.org/draft/2020-12/schema' };
const ERROR = 'error';
const MIRROR = 'mirror';

export const printSchema = command({
  path: 'schema',
  summary: 'Print the JSON Schema of the answer of a command',
  about: [
    'Names and types are a promise: they change only with a new major version. An answer can have more fields, because unknown fields of the service are kept. x-stated names the section of the documentation behind a field, x-assumed the assumption.',
    'Without a command it is one document with every command below $defs; the word error stands for the error object, the word mirror for the views that books query reads.',
  ],
  answers: { any: 'A JSON Schema, draft 2020-12; for mirror the views and their columns.' },
  args: { command: optionalArguments(takes.text('Words of a command, error, or mirror.')) },
  examples: {
    'What a list of cards holds': 'schema cards list',
    'The error object': 'schema error',
    'What SQL on the mirror may read': 'schema mirror',
    'Everything, for a generator of types': 'schema --json',
  },
  async run(_ctx, { command: words = [] }) {
    const commands = (await Promise.all(REGISTRY.map(commandsOf))).flat();
    const { commandSchema, errorSchema } = await import('../cli/docs/answers.ts');
    const path = words.join(' ');
    if (path === MIRROR) {
      const { VIEWS } = await import('../mirror/schema.ts');
      const views = VIEWS.map(({ name, says, columns }) => ({ name, says, columns }));
      return { title: 'Views of the mirror', views };
    }
    if (path === ERROR) return { ...DIALECT, ...errorSchema() };
    if (path !== '') return { ...DIALECT, ...commandSchema(named(path, commands)) };
    const all = commands.map(each => [each.path, commandSchema(each)] as const);
    return {
      ...DIALECT,
      title: 'Answers of cardwright',
      $defs: Object.fromEntries([...all, [ERROR, errorSchema()]]),
    };
  },
  noun: 'schema',
  idField: 'title',
  show: schema => ({ data: schema as Row, prose: `${JSON.stringify(schema, undefined, 2)}\n` }),
});

function named(path: string, commands: readonly Command[]): Command {
  const found = commands.find(each => each.path === path);
  if (found !== undefined) return found;
  const meant = didYouMean(path, [...commands.map(each => each.path), ERROR, MIRROR]);
  throw usage(`there is no command ${quote(path)}.${meant}`, 'cardwright commands');
}
