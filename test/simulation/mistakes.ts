/**
 * Mistakes that are planted, each of which the simulator must find within 2,000 seeds: texts of `src` are exchanged for what a
 * careless hand would have written. Where such a text is changed, its mistake is pointed at the new one.
 */

/** A text that stands exactly once in a file of `src`, and what it becomes. */
export type Exchange = readonly [file: string, is: string, becomes: string];

export interface Mistake {
  readonly name: string;
  /** One that finds it; 0: none is known. */
  readonly seed: number;
  readonly exchanges: readonly Exchange[];
}

const OUTCOME = 'journal/outcome.ts';
const CHANGES = 'journal/changes.ts';
const CLAIM = 'journal/claim.ts';
const LOOK = 'journal/look.ts';

const planted = (name: string, seed: number, ...exchanges: readonly Exchange[]): Mistake => ({ name, seed, exchanges });

export const MISTAKES: readonly Mistake[] = [
  planted('a new key each time something is sent', 1778, [
    OUTCOME,
    'idempotencyKey: key };',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text
    'idempotencyKey: key && `${key}.${change.attempts}` };',
  ]),
  planted('nothing is looked for before it is sent again', 0, [
    OUTCOME,
    'if (left > 0) await rest(left, work.clock, work.stop);\n  const seen = await look(work, change);',
    "if (left > 0) await rest(left, work.clock, work.stop);\n  const seen: Look = { found: 'not there', text: '' };",
  ]),
  planted('a change that was sent before is sent at once when it is resumed', 156, [
    OUTCOME,
    "isAmbiguous ? 'look' : 'send'",
    "'send'",
  ]),
  planted('an op is acknowledged before its answer is written', 177, [CHANGES, 'isAcknowledged ? now : null,', 'now,']),
  planted(
    '"sent" is written after the send',
    32,
    [OUTCOME, '  await markSent(work, change);\n', ''],
    [
      OUTCOME,
      'return work.service.attempt(planned, input,',
      'const answered = await work.service.attempt(planned, input,',
    ],
    [OUTCOME, 'signal: work.cut });', 'signal: work.cut });\n  await markSent(work, change);\n  return answered;'],
  ),
  planted('a change that is marked as sent is kept as planned', 32, [
    CHANGES,
    "update change set state = 'sent', attempts",
    'update change set attempts',
  ]),
  planted('an op is taken over from a living holder', 1016, [
    CHANGES,
    "if (whoWorks(op, self, now) !== 'nobody' && op.finished === undefined) throw",
    'if (false) throw',
  ]),
  planted('the same change is not looked for in ops that are not settled', 147, [
    CLAIM,
    'if (others.length === 0) return undefined;',
    'return undefined;',
  ]),
  planted('a cap is counted after the send', 183, [
    CLAIM,
    'await reserve(tx, op, 1);\n  await insertIntents',
    'await reserve(tx, { ...op, total: 0 }, 1);\n  await insertIntents',
  ]),
  planted('an intent is not kept', 4, [CLAIM, '  await insertIntents(tx, claimed);\n', '']),
  planted('an intent is looked up without its digest', 29, [
    CLAIM,
    'used.digest !== intentDigest(row, givenKey)',
    'false',
  ]),
  planted('a file may be run again and again', 35, [CLAIM, 'if (!bulk || !movesMoney || again ||', 'if (true ||']),
  planted('the same change is judged without its amount', 139, [
    'journal/digest.ts',
    '(wantedChange(operation, wanted))',
    '({ ...(wantedChange(operation, wanted) as object), amount: 0 })',
  ]),
  planted('a key that nobody has proved is trusted', 195, [
    OUTCOME,
    'return (await isKeyUsable(work, change)) && ',
    'return ',
  ]),
  planted('a key is trusted for ever', 0, ['journal/work.ts', 'age >= 0 && age < life', 'true']),
  planted('a refusal is believed after an ambiguous answer', 0, [
    OUTCOME,
    '!isAmbiguous && attempt.plausible !== true && sending.throttled === 0',
    'attempt.plausible !== true',
  ]),
  planted('too many requests is taken for "not done"', 1160, [
    OUTCOME,
    "if (isAmbiguous || seen.found !== 'not there') return",
    'if (false) return',
  ]),
  planted('the answer of a transfer is not read back', 255, [
    OUTCOME,
    'const why = await denied(work, change, attempt);',
    'const why = undefined as string | undefined;',
  ]),
  planted(
    'the wallet is not compared',
    244,
    [
      LOOK,
      "const found = wallet === undefined || wallet.change === 0 ? 'not there' : 'cannot tell';",
      "const found = 'not there';",
    ],
    [LOOK, "found: card === 0 && (!isAlone || wallet === 0) ? 'not there'", "found: card === 0 ? 'not there'"],
  ),
  planted('a list that is behind is believed at once', 133, [
    LOOK,
    'exact || work.lookOnly ? []',
    'exact || true ? []',
  ]),
  planted('the marker of the first row is looked for', 121, [
    LOOK,
    'const marker = change.marker;',
    'const marker = change.marker?.replace(/\\d+$/, "1");',
  ]),
  planted('a card is not held while it is moved', 471, [
    OUTCOME,
    'isTransfer ? await holdCard(',
    'false ? await holdCard(',
  ]),
  planted('an unknown transfer lets its card go', 56, [CHANGES, "if (state !== 'unknown') await", 'await']),
  planted('a lease of another machine is not waited for', 519, [
    'journal/holder.ts',
    "return 'elsewhere';",
    "return 'nobody';",
  ]),
  planted('a commit whose answer was lost is done again', 1549, [
    'journal/postgres.ts',
    "if (status === 'committed') return;",
    "if (status === 'committed') throw new Lost(lost);",
  ]),
  planted('an answer is believed that names the card of another change', 598, [
    CHANGES,
    "settling.evidence.via === 'answer' ? await madeByOther(tx, change, settling) : undefined",
    'undefined as MadeBy | undefined',
  ]),
  planted('the epoch is not checked', 0, [CHANGES, 'if (held !== 1) throw taken(id);', '']),
  planted('what is held for approval is sent without one', 166, [
    'journal/rules.ts',
    'if (counted.persons.length < needed) throw',
    'if (false) throw',
  ]),
  planted(
    'an approval is not verified',
    166,
    ['journal/rules.ts', 'approval where op = ? order by at', 'approval where op <> ? or true'],
    ['approvals/request.ts', '!isSigned(text, signature, approver.key)', 'false'],
  ),
  planted('a probe of keys is fooled by 429', 1621, [
    'journal/probe.ts',
    "if (second.class !== 'done') return",
    "if (second.class === 'throttled') return { key: 'honoured', text: '' };\n  if (second.class !== 'done') return",
  ]),
  planted(
    'a resume begins with the first row',
    35,
    ['cli/bulk/results.ts', "state === 'open' || state === 'unknown' ? undefined : each.outcome", 'undefined'],
    [OUTCOME, "['done', 'refused', 'not_sent'].includes(change.state)", 'false'],
    [
      OUTCOME,
      "const isAmbiguous = change.state !== 'planned'",
      "const isAmbiguous = ['sent', 'unknown'].includes(change.state)",
    ],
    [CHANGES, "state in ('planned', 'sent', 'unknown')`", 'true`'],
  ),
];
