/** How card details are asked for. */

export interface RevealOptions {
  readonly reveal: boolean;
  readonly print: boolean;
  readonly out: string | undefined;
  readonly copy: CardPart | undefined;
  readonly field: CardPart | undefined;
}

export type CardPart = 'number' | 'cvv' | 'expiry';

export interface RunWithCard {
  readonly program: readonly string[];
  readonly reveal: boolean;
  /** Number and CVV are hidden in the log of the CI job first. */
  readonly mask: boolean;
}
