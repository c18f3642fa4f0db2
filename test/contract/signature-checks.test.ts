/** The programs that the inspector offers to copy judge signatures as the contract says. */
import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import process from 'node:process';
import { expect, it } from 'vitest';
import { SIGNATURE_CHECKS } from '../../src/contract/signature/checks.ts';
import { requires } from '../support/programs.ts';

const SECRET = 'whsec_c2lnbmluZy1zZWNyZXQtb2YtdGhpcy10ZXN0';
const BODY = '{"label":"珈琲店"}\r\n';
const right = createHmac('sha256', SECRET).update(BODY).digest('hex');

/** What one program says about each of these signatures. */
function judged(language: 'Node' | 'Python', text: string, signatures: readonly string[]): readonly boolean[] {
  const [secret, body] = [SECRET, BODY].map(value => JSON.stringify(value));
  // Its first line imports.
  const [imports = '', ...rest] = text.split('\n');
  const each = signatures.map(signature => JSON.stringify(signature));
  const node = each.map(
    given =>
      `{ const [secret, body, signature] = [${secret}, Buffer.from(${body}), ${given}];\n${rest.join('\n')}\nsaid.push(holds) }\n`,
  );
  const python = each.map(
    given => `secret, body, signature = ${secret}, ${body}.encode(), ${given}\n${text}\nsaid.append(holds)\n`,
  );
  const said =
    language === 'Node'
      ? execFileSync(process.execPath, [
          ...['--input-type=module', '-e'],
          `${imports}\nconst said = [];\n${node.join('')}console.log(JSON.stringify(said))`,
        ])
      : execFileSync('python3', ['-c', `import json\nsaid = []\n${python.join('')}print(json.dumps(said))`]);
  return JSON.parse(String(said)) as boolean[];
}

for (const { language, text } of SIGNATURE_CHECKS)
  it.skipIf(language === 'Python' && requires('python3-yaml') !== undefined)(
    `${language}: the right one holds, another one and a short one do not`,
    () => {
      const other = createHmac('sha256', 'another secret').update(BODY).digest('hex');
      const signatures = [right, other, right.slice(1), 'é'.repeat(64)];
      expect(judged(language, text, signatures)).toEqual([true, false, false, false]);
    },
  );
