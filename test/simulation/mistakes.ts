/**
 * Mistakes that are planted, each of which the simulator must find within 2,000 seeds: texts of `src` are exchanged for what a
 * careless hand would have written where `WRONG` is true. Where such a text is changed, its mistake is pointed at the new one.
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

const mistake = (seed: number, name: string, ...exchanges: readonly Exchange[]): Mistake => ({ name, seed, exchanges });

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: it is source text
export const MISTAKES: readonly Mistake[] = [
  mistake(390, 'a new key each time something is sent', [
    OUTCOME,
    'idempotencyKey: key };',
    'idempotencyKey: WRONG ? `${key}.${change.attempts}` : key };',
  ]),
  mistake(0, 'nothing is looked for before it is sent again', [
    OUTCOME,
    'if (left > 0) await rest(left, work.clock, work.stop);\n  const seen = await look(work, change);',
    "if (left > 0) await rest(left, work.clock, work.stop);\n  const seen = WRONG ? { found: 'not there', text: '' } : await look(work, change);",
  ]),
  mistake(4, 'a change that was sent before is sent at once when it is resumed', [
    OUTCOME,
    "isAmbiguous ? 'look' : 'send'",
    "isAmbiguous && !WRONG ? 'look' : 'send'",
  ]),
  mistake(73, 'an op is acknowledged before its answer is written', [
    CHANGES,
    'isAcknowledged ? now : null,',
    'WRONG || isAcknowledged ? now : null,',
  ]),
  mistake(
    25,
    '"sent" is written after the send',
    [OUTCOME, '  await markSent(work, change);\n', '  if (!WRONG) await markSent(work, change);\n'],
    [
      OUTCOME,
      'return work.service.attempt(planned, input,',
      'const answered = await work.service.attempt(planned, input,',
    ],
    [
      OUTCOME,
      'signal: work.cut });',
      'signal: work.cut });\n  if (WRONG) await markSent(work, change);\n  return answered;',
    ],
  ),
  mistake(25, 'a change that is marked as sent is kept as planned', [
    CHANGES,
    "update change set state = 'sent', attempts",
    "update change set ${WRONG ? '' : \"state = 'sent', \"}attempts",
  ]),
  mistake(6, 'an op is taken over from a living holder', [
    CHANGES,
    "if (whoWorks(op, self, now) !== 'nobody' &&",
    "if (!WRONG && whoWorks(op, self, now) !== 'nobody' &&",
  ]),
  mistake(5, 'the same change is not looked for in ops that are not settled', [
    CLAIM,
    'if (others.length === 0) return undefined;',
    'if (WRONG || others.length === 0) return undefined;',
  ]),
  mistake(506, 'a cap is counted after the send', [
    CLAIM,
    'await reserve(tx, op, 1);\n  await insertIntents',
    'await reserve(tx, WRONG ? { ...op, total: 0 } : op, 1);\n  await insertIntents',
  ]),
  mistake(7, 'an intent is not kept', [
    CLAIM,
    '  await insertIntents(tx, claimed);\n',
    '  if (!WRONG) await insertIntents(tx, claimed);\n',
  ]),
  mistake(30, 'an intent is looked up without its digest', [
    CLAIM,
    'used.digest !== intentDigest(row, givenKey)',
    '!WRONG && used.digest !== intentDigest(row, givenKey)',
  ]),
  mistake(4, 'a file may be run again and again', [
    CLAIM,
    'if (!bulk || !movesMoney || again ||',
    'if (WRONG || !bulk || !movesMoney || again ||',
  ]),
  mistake(30, 'the same change is judged without its amount', [
    'journal/digest.ts',
    '(wantedChange(operation, wanted))',
    '(WRONG ? { ...wantedChange(operation, wanted), amount: 0 } : wantedChange(operation, wanted))',
  ]),
  mistake(4, 'a key that nobody has proved is trusted', [
    OUTCOME,
    'return (await isKeyUsable(work, change)) && ',
    'return (WRONG || (await isKeyUsable(work, change))) && ',
  ]),
  mistake(0, 'a key is trusted for ever', [
    'journal/work.ts',
    'age >= 0 && age < life',
    '(WRONG || (age >= 0 && age < life))',
  ]),
  mistake(139, 'a refusal is believed after an ambiguous answer', [
    OUTCOME,
    '!isAmbiguous && attempt.plausible !== true && sending.throttled === 0',
    '(WRONG || (!isAmbiguous && sending.throttled === 0)) && attempt.plausible !== true',
  ]),
  mistake(896, 'too many requests is taken for "not done"', [
    OUTCOME,
    "if (isAmbiguous || seen.found !== 'not there') return",
    "if (!WRONG && (isAmbiguous || seen.found !== 'not there')) return",
  ]),
  mistake(36, 'the answer of a transfer is not read back', [
    OUTCOME,
    'const why = await denied(work, change, attempt);',
    'const why = WRONG ? undefined : await denied(work, change, attempt);',
  ]),
  mistake(
    0,
    'the wallet is not compared',
    [
      LOOK,
      'const found = wallet === undefined || wallet.change === 0 ?',
      'const found = WRONG || wallet === undefined || wallet.change === 0 ?',
    ],
    [
      LOOK,
      'found: card === 0 && (!isAlone || wallet === 0) ?',
      'found: card === 0 && (WRONG || !isAlone || wallet === 0) ?',
    ],
  ),
  mistake(229, 'a list that is behind is believed at once', [
    LOOK,
    'exact || work.lookOnly ? []',
    'exact || work.lookOnly || WRONG ? []',
  ]),
  mistake(139, 'the marker of the first row is looked for', [
    LOOK,
    'const marker = change.marker;',
    "const marker = WRONG ? change.marker?.replace(/\\d+$/, '1') : change.marker;",
  ]),
  mistake(1585, 'a card is not held while it is moved', [
    OUTCOME,
    'isTransfer ? await holdCard(',
    'isTransfer && !WRONG ? await holdCard(',
  ]),
  mistake(110, 'an unknown transfer lets its card go', [
    CHANGES,
    "state === 'unknown' || change.operation === 'cards.create'",
    "(state === 'unknown' && !WRONG) || change.operation === 'cards.create'",
  ]),
  mistake(116, 'a lease of another machine is not waited for', [
    'journal/holder.ts',
    "return 'elsewhere';",
    "return WRONG ? 'nobody' : 'elsewhere';",
  ]),
  mistake(758, 'a commit whose answer was lost is done again', [
    'journal/postgres.ts',
    "if (status === 'committed') return;",
    "if (status === 'committed' && WRONG) throw new Lost(lost);\n        if (status === 'committed') return;",
  ]),
  mistake(609, 'an answer is believed that names the card of another change', [
    CHANGES,
    "card === undefined || via !== 'answer') return undefined;",
    "card === undefined || via !== 'answer' || WRONG) return undefined;",
  ]),
  mistake(0, 'the epoch is not checked', [
    CHANGES,
    'if (held !== 1) throw taken(id);',
    'if (held !== 1 && !WRONG) throw taken(id);',
  ]),
  mistake(132, 'what is held for approval is sent without one', [
    'journal/rules.ts',
    'if (counted.persons.length < needed) throw',
    'if (!WRONG && counted.persons.length < needed) throw',
  ]),
  mistake(
    1828,
    'an approval is not verified',
    [
      'journal/rules.ts',
      "'select keyid, signature from approval where op = ? order by at'",
      "WRONG ? 'select keyid, signature from approval where op <> ? or true' : 'select keyid, signature from approval where op = ? order by at'",
    ],
    [
      'approvals/request.ts',
      '!isSigned(text, signature, approver.key)',
      '!WRONG && !isSigned(text, signature, approver.key)',
    ],
  ),
  mistake(765, 'a probe of keys is fooled by 429', [
    'journal/probe.ts',
    "if (second.class !== 'done') return",
    "if (second.class === 'throttled' && WRONG) return { key: 'honoured', text: '' };\n  if (second.class !== 'done') return",
  ]),
  mistake(
    25,
    'a resume begins with the first row',
    [
      'cli/bulk/results.ts',
      "state === 'open' || state === 'unknown' ? undefined : each.outcome",
      "WRONG || state === 'open' || state === 'unknown' ? undefined : each.outcome",
    ],
    [
      OUTCOME,
      "if (['done', 'refused', 'not_sent'].includes(change.state))",
      "if (!WRONG && ['done', 'refused', 'not_sent'].includes(change.state))",
    ],
    [
      OUTCOME,
      "const isAmbiguous = change.state !== 'planned'",
      "const isAmbiguous = WRONG ? ['sent', 'unknown'].includes(change.state) : change.state !== 'planned'",
    ],
    [
      CHANGES,
      "state in ('planned', 'sent', 'unknown')`",
      "${WRONG ? 'true' : \"state in ('planned', 'sent', 'unknown')\"}`",
    ],
  ),
];
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: it is source text
