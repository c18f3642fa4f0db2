/** Mistakes in the rules, each of which the model must see: a suite that lets one through is no proof. */
import { expect, test } from 'vitest';
import { runModel } from '../support/model/run.ts';
import { type Mistake, mutantOf, SANDBOX, type Sandbox } from '../support/mutant.ts';

/** `seed`: of a run that comes to what is rare soon; any run gets there in `MOST_STEPS`, most later than one would wait. */
type Planted = Mistake & { readonly seed?: number };

const MISTAKES: readonly Planted[] = [
  {
    name: 'a hold is released to a terminated card',
    file: 'account/authorizations.ts',
    is: 'const moves = { hold: -amount, [destinationOf(card.status)]: amount };',
    becomes: 'const moves = { hold: -amount, card: amount };',
  },
  {
    name: 'a hold is kept after the final settlement',
    file: 'rules/money.ts',
    is: 'rest: cents(final ? held - fromHold : 0)',
    becomes: 'rest: cents(0)',
  },
  {
    name: 'more can be refunded than settled',
    file: 'handlers/simulate.ts',
    is: 'if (asked === 0 || asked > left) {',
    becomes: 'if (asked === 0) {',
  },
  {
    name: 'automatic freezing is left out',
    file: 'rules/money.ts',
    is: "return card.status === 'active' && card.auto_freeze_at",
    becomes: 'return false && card.auto_freeze_at',
  },
  {
    name: 'a card freezes at its line, not below it',
    file: 'rules/money.ts',
    is: 'card.balance < card.auto_freeze_at',
    becomes: 'card.balance <= card.auto_freeze_at',
  },
  {
    name: 'a terminated card can be unfrozen',
    file: 'handlers/cards.ts',
    is: "'cards.unfreeze': call => {\n    const card = livingCard(",
    becomes: "'cards.unfreeze': call => {\n    const card = cardOf(",
  },
  {
    name: 'the monthly limit forgets what was used',
    file: 'rules/declines.ts',
    is: 'usedThisMonth + amount > card.spending_limit',
    becomes: 'amount > card.spending_limit',
  },
  {
    name: 'an expiry keeps the hold',
    file: 'account/challenges.ts',
    is: "release(call, row, { amount: row.held, ending: 'expired' });",
    becomes: 'void release;',
  },
  {
    name: 'a deposit is credited twice',
    file: 'handlers/simulate.ts',
    is: "if (deposit.status !== 'pending') throw",
    becomes: "if (deposit.status === 'failed') throw",
  },
  {
    name: 'a settlement takes more from the hold than there is',
    file: 'rules/money.ts',
    is: 'const fromHold = cents(Math.min(held, amount));',
    becomes: 'const fromHold = amount;',
  },
  {
    name: 'a refund goes to the balance of a terminated card',
    file: 'account/authorizations.ts',
    is: 'const moves = { network: -amount, [destinationOf(card.status)]: amount };',
    becomes: 'const moves = { network: -amount, card: amount };',
  },
  {
    name: 'a fourth code may be typed',
    file: 'account/challenges.ts',
    is: 'if (attempts >= CHALLENGE_ATTEMPTS) return',
    becomes: 'if (attempts > CHALLENGE_ATTEMPTS) return',
  },
  {
    name: 'an increment is not measured with what was authorized before',
    file: 'rules/declines.ts',
    is: 'already + amount > maxTransaction',
    becomes: 'amount > maxTransaction',
    seed: 14,
  },
  {
    name: 'a reversed authorization still counts as pending',
    file: 'rules/money.ts',
    is: "if (sums.held > 0) return 'pending';",
    becomes: "if (sums.held >= 0) return 'pending';",
  },
];

/** Of the runs of most mistakes. */
const SEED = 1;
const MOST_STEPS = 6_000;

async function expectAgreement(seed: number): Promise<void> {
  await using sandbox = await mutantOf<Sandbox>(SANDBOX);
  await runModel({ seed, steps: 150, start: sandbox.module.startSandbox });
}

async function expectSeen({ seed = SEED, ...mistake }: Planted): Promise<void> {
  await using mutant = await mutantOf<Sandbox>(SANDBOX, mistake);
  await expect(runModel({ seed, steps: MOST_STEPS, lanes: 1, start: mutant.module.startSandbox })).rejects.toThrow(
    new RegExp(`^seed ${seed}, step`),
  );
}

test.each([SEED, 14])('without a mistake the run of seed %i agrees', expectAgreement);

test.each(MISTAKES)('$name', expectSeen);
