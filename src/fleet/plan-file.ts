/** A plan file read back: its form is checked here, what it says is checked against the account. */
import { CliError } from '../core/errors.ts';
import { isObject } from '../core/objects.ts';
import { shellWord } from '../core/shell-quote.ts';
import { type PlanDocument, planIdOf } from './plan-document.ts';
import { GUARDED_CLASSES, PHASES } from './step.ts';

type Values = Readonly<Record<string, unknown>>;

/** `file` is what the user called it, `fleet` the fleet file as a word of a command. Throws `usage` for what is no plan, `guarded` for a plan that was edited. */
export function readPlanFile(text: string, file: string, fleet?: string): PlanDocument {
  const document = parsed(text);
  const out = shellWord(nextPlanName(file));
  const hint =
    fleet === undefined ? `cardwright fleet plan --out ${out}` : `cardwright fleet plan ${fleet} --out ${out}`;
  const fault = document === undefined ? 'it is no JSON object' : formFault(document);
  if (document === undefined || fault !== undefined) {
    throw new CliError('usage', {
      message: `${file} is no plan: ${fault}`,
      hint,
      outcome: 'not_sent',
    });
  }
  const plan = document as unknown as PlanDocument;
  if (planIdOf(plan) === plan.id) return plan;
  throw new CliError('guarded', {
    reason: 'plan_edited',
    message: `${file} was edited: it is not what its id says. Nothing was sent`,
    hint,
    outcome: 'not_sent',
  });
}

/** `plan.json` leads to `plan-2.json`, `plan-2.json` to `plan-3.json`: a plan file is never overwritten. */
export function nextPlanName(path: string): string {
  const [, stem = 'plan', number = '1'] = /^(.*?)(?:-(\d{1,4}))?(?:\.json)?$/s.exec(path) ?? [];
  return `${stem}-${Number(number) + 1}.json`;
}

function parsed(text: string): Values | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const TEXT = (value: unknown) => typeof value === 'string';
const USD = (value: unknown) => typeof value === 'number' && Number.isFinite(value);
const COUNT = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;
const TIME = (value: unknown) => typeof value === 'string' && !Number.isNaN(Date.parse(value));
const TEXTS = (value: unknown) => Array.isArray(value) && value.every(TEXT);
const MANY = (form: Form) => (value: unknown) => Array.isArray(value) && value.every(each => isOf(each, form));
const ONE = (form: Form) => (value: unknown) => isOf(value, form);
const ANY = () => true;

type Form = Readonly<Record<string, (value: unknown) => boolean>>;

/** Members that are there may not be another; each must be of its form. */
const DOCUMENT: Form = {
  plan: value => value === 1,
  id: TEXT,
  fleet: TEXT,
  created_at: TIME,
  expires_at: TIME,
  bound: ONE({ origin: TEXT, mode: TEXT, contract: TEXT, file: TEXT, witness: TEXTS, version: TEXT }),
  caps: ONE({ per_apply: USD, cards: COUNT, wallet_reserve: USD }),
  totals: ONE({
    ...Object.fromEntries(Object.keys(PHASES).map(deed => [deed, COUNT])),
    spend: USD,
    returns: USD,
    wallet: USD,
    wallet_after: USD,
  }),
  allowed: value =>
    isObject(value) &&
    Object.entries(value).every(([name, count]) => GUARDED_CLASSES.some(each => each === name) && COUNT(count)),
  steps: value => Array.isArray(value) && value.every(isStep),
  differences: MANY({ name: TEXT, card: ANY, field: TEXT, class: TEXT, is: ANY, wanted: ANY }),
  blocked: TEXTS,
  held_back: MANY({ class: TEXT, count: COUNT, names: TEXTS }),
  unknown: MANY({ name: TEXT, op: TEXT }),
  to_retire: MANY({ card: TEXT, name: TEXT, balance: USD }),
  notes: TEXTS,
  cards_after: COUNT,
  as_wanted: COUNT,
  strangers: COUNT,
};

const NUMBERED: Form = { row: COUNT, phase: COUNT, do: TEXT, name: TEXT, why: TEXT };
const ON_CARD: Form = { ...NUMBERED, card: TEXT, last4: TEXT };
const STATE_STEP: Form = { ...ON_CARD, seen: TEXT };
const MONEY_STEP: Form = { ...ON_CARD, amount: USD, key: TEXT, seen: ONE({ balance: USD, transaction: TEXT }) };
const LAST_STEP: Form = { ...STATE_STEP, returns: USD };
const CREATE_STEP: Form = { ...NUMBERED, generation: COUNT, key: TEXT, body: isBody };

function isStep(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { do: deed, instead, ...rest } = value;
  if (deed === 'create') return isOf({ do: deed, ...rest }, CREATE_STEP) && (instead === undefined || TEXT(instead));
  if (deed === 'fund' || deed === 'withdraw') return isOf(value, MONEY_STEP);
  if (deed === 'terminate') return isOf(value, LAST_STEP);
  return (deed === 'freeze' || deed === 'unfreeze') && isOf(value, STATE_STEP);
}

function isBody(value: unknown): boolean {
  return isObject(value) && TEXT(value['bin_id']) && USD(value['amount']) && isObject(value['metadata']);
}

function isOf(value: unknown, form: Form): boolean {
  if (!isObject(value)) return false;
  const names = Object.keys(form);
  return Object.keys(value).length === names.length && names.every(name => form[name]?.(value[name]) === true);
}

/** The first member that is not of its form. */
function formFault(document: Values): string | undefined {
  const foreign = Object.keys(document).find(name => !Object.hasOwn(DOCUMENT, name));
  if (foreign !== undefined) return `${JSON.stringify(foreign)} is no member of one`;
  const wrong = Object.keys(DOCUMENT).find(name => DOCUMENT[name]?.(document[name]) !== true);
  return wrong === undefined ? undefined : `its ${wrong} is not of the form`;
}
