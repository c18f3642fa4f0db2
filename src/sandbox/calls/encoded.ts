/** An object of the service that is stored as the exact text it is sent as. */
import type { CARD } from '../../contract/card.ts';
import type { CompleteOf } from '../../contract/field.ts';

/** Stands where an object of the service does; `JSON.parse` of its text is the object itself. */
export class Encoded {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** For whoever encodes it like any object. */
  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

const TEXTS = new WeakMap<object, string>();

/** Remembers the text an object was encoded to, which must not be changed then: it is stored, told and answered. */
export function encodedAs<T extends object>(value: T, text: string): T {
  TEXTS.set(value, text);
  return value;
}

/** The exact text of an object where it was encoded before. */
export function encodedText(value: object): string | undefined {
  return value instanceof Encoded ? value.text : TEXTS.get(value);
}

/** A stored card among the objects handlers give; `answer.ts` sends its text as it is. */
export function encodedCard(document: string): CompleteOf<typeof CARD> {
  return new Encoded(document) as unknown as CompleteOf<typeof CARD>;
}
