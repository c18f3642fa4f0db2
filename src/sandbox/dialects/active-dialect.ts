/** The dialect a server speaks: chosen when it starts, changed by its control surface, gone with it. */
import { DIALECT_NAMES, type DialectName } from '../../contract/sandbox/faults.ts';
import { CliError } from '../../core/errors.ts';
import type { Answer } from '../http/answer.ts';
import type { Dialect, Spoken } from './dialect.ts';
import { DIALECTS } from './table.ts';

export class ActiveDialect {
  #name: DialectName;

  constructor(name: DialectName = 'default') {
    this.#name = name;
  }

  get name(): DialectName {
    return this.#name;
  }

  get dialect(): Dialect {
    return DIALECTS[this.#name];
  }

  use(name: DialectName): void {
    this.#name = name;
  }

  get facts() {
    const { changes, ignoresKeys } = this.dialect;
    return { dialect: this.#name, changes, honours_keys: ignoresKeys !== true };
  }

  /** An answer of the service as this dialect has it. */
  async spoken(said: Omit<Spoken, 'body'>): Promise<Answer> {
    const { speak, bareHeaders } = this.dialect;
    const { answer } = said;
    const body: unknown = speak === undefined || answer.body === '' ? undefined : JSON.parse(answer.body);
    const changed = speak === undefined ? answer : await speak({ ...said, body });
    return bareHeaders ? { ...changed, headers: needed(changed.headers) } : changed;
  }
}

/** Headers that HTTP asks for with a status. */
const NEEDED: readonly string[] = ['www-authenticate', 'allow'];

function needed(headers: Answer['headers']): Answer['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => NEEDED.includes(name.toLowerCase())));
}

/** Throws `usage` naming all dialects. */
export function dialectNamed(text: string): DialectName {
  const found = DIALECT_NAMES.find(name => name === text);
  if (found !== undefined) return found;
  throw new CliError('usage', {
    message: `there is no dialect ${JSON.stringify(text)}; there are ${DIALECT_NAMES.join(', ')}`,
    outcome: 'not_sent',
  });
}
