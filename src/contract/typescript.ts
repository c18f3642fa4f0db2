/** The contract as TypeScript declarations, for programs that use the client: every object and every operation. */
import { membersOf, type TypeStyle } from './member-types.ts';
import { NAMED_SHAPES } from './named-shapes.ts';
import type { Operation } from './operation.ts';
import { OPERATIONS } from './operations.ts';

/** Words the service may add are shown as they are. */
const ANSWER: TypeStyle = { side: 'answer', openWords: true };
const ASKED: TypeStyle = { side: 'asked', openWords: true };

/** Interfaces of the answers, and `Operations` with the input and the result of each operation. */
export function contractTypes(): string {
  const named = NAMED_SHAPES.filter(({ use, title }) => use === 'answer' && title !== undefined);
  const answers = named.map(
    ({ title = '', shape, section }) =>
      `/** Interface ${section}. Fields the service adds are kept beside these. */\nexport interface ${title} {\n${membersOf(shape, ANSWER, 1)}}\n`,
  );
  const operations = Object.entries(OPERATIONS).map(([name, row]) => operationType(name, row as Operation));
  return `${answers.join('\n')}\n/** Amounts are USD with at most two decimals, times ISO 8601 UTC. */\nexport interface Operations {\n${operations.join('')}}\n`;
}

function operationType(name: string, row: Operation): string {
  const asked = [row.params, row.query, row.body].map(shape => membersOf(shape ?? {}, ASKED, 3)).join('');
  const input = asked === '' ? '{}' : `{\n${asked}    }`;
  return `  /** ${row.summary}. */\n  '${name}': {\n    input: ${input};\n    result: ${resultType(row)};\n  };\n`;
}

function resultType({ returns: { kind, shape } }: Operation): string {
  if (kind === 'none') return 'undefined';
  const title = NAMED_SHAPES.find(each => each.shape === shape && each.use === 'answer')?.title;
  const item = title ?? `{\n${membersOf(shape, ANSWER, 3)}    }`;
  return kind === 'one' ? item : `List<${item}>`;
}
