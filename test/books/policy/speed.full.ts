import { expect, it } from 'vitest';
import { Activities } from '../../../src/books/activity.ts';
import { evaluatePolicy } from '../../../src/books/policy.ts';
import { readPolicy } from '../../../src/books/policy-file.ts';
import { readYaml } from '../../../src/terminal/yaml-text.ts';
import { card, DAY, NOW, record } from '../rows.ts';

/** docs BOOKS, section F: 100,000 cards and 20 rules within two seconds, the activity counted before. */
it('holds 100,000 cards against 20 rules within two seconds', () => {
  const rules = Array.from({ length: 20 }, (_, nth) => {
    const tests = ['unused_days: ">= 85"', 'limit_use: ">= 10%"', 'metadata.owner: empty', 'label: "saas-1*"'];
    return `  - { name: rule-${nth}, when: { ${tests[nth % 4]}, balance: "> ${nth}.00", age_days: ">= ${nth}" } }`;
  });
  const policy = readPolicy(readYaml(`version: 1\nrules:\n${rules.join('\n')}\n`), 'policy.yaml');
  const activities = new Activities(NOW);
  const cards = Array.from({ length: 100_000 }, (_, nth) => {
    const card_id = `card_${nth}`;
    activities.add(record({ tx_id: `txn_${nth}`, card_id, at_ms: NOW - (nth % 90) * DAY, cents: nth }));
    return card({ card_id, label: `saas-${nth % 20}`, metadata: '{"owner":"a","team":"b"}' });
  });
  const begun = process.cpuUsage();
  const { findings } = evaluatePolicy(policy, cards, { activities, wholeSince: 0 });
  const { user, system } = process.cpuUsage(begun);
  process.stdout.write(
    `100,000 cards, 20 rules, ${findings.length} findings: ${Math.round((user + system) / 1_000)} ms\n`,
  );
  expect(findings.length).toBeGreaterThan(100_000);
  expect(user + system).toBeLessThan(2_000_000);
});
