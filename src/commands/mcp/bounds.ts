/**
 * The bound of one server, under all other limits. What a call may spend is reserved before its command runs, so that calls beside
 * each other never pass the bound together, and given back only when nothing was spent for certain.
 */
import { type Cents, cents, dollars } from '../../core/money.ts';

/** What came of a call; `isNothing`: for certain it spent nothing, and nothing of it waits. */
interface Spent<Result> {
  readonly result: Result;
  readonly isNothing: boolean;
}

export class RunBound {
  readonly #most: Cents | undefined;
  /** What each intent may have spent, or may spend when it is approved. */
  readonly #reserved = new Map<string, Cents>();
  /** Calls with one intent come one after the other: only then it is clear what each of them left. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(most: Cents | undefined) {
    this.#most = most;
  }

  /** Runs a call in its turn. Resolves to a refusal in words where the bound does not allow it. */
  spend<Result>(
    intent: string,
    amount: Cents,
    call: () => Promise<Spent<Result>>,
  ): Promise<{ readonly result: Result } | { readonly refused: string }> {
    const turn = (this.#turns.get(intent) ?? Promise.resolve()).then(async () => {
      const before = this.#reserved.get(intent);
      const used = [...this.#reserved.values()].reduce((sum, each) => sum + each, 0);
      // An intent is one purchase: it spends what it has reserved, and nothing more.
      if (before !== undefined && amount > before)
        return {
          refused: `the intent ${intent} was asked for ${dollars(before)} before; another purchase needs another intent`,
        };
      if (before === undefined && this.#most !== undefined && used + amount > this.#most) {
        const state = `${dollars(cents(used))} of it are used, and ${dollars(amount)} asked`;
        return { refused: `--max-total of this server is ${dollars(this.#most)}; ${state}` };
      }
      if (before === undefined) this.#reserved.set(intent, amount);
      const { result, isNothing } = await call();
      if (isNothing && before === undefined) this.#reserved.delete(intent);
      return { result };
    });
    this.#turns.set(
      intent,
      turn.catch(() => undefined),
    );
    return turn;
  }
}
