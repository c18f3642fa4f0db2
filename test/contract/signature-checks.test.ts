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

/** What a program says about a signature, true or false. */
function judged(language: 'Node' | 'Python', text: string, signature: string): string {
  const [secret, body, given] = [SECRET, BODY, signature].map(value => JSON.stringify(value));
  if (language === 'Node') {
    const program = `const [secret, body, signature] = [${secret}, Buffer.from(${body}), ${given}];\n${text}\nconsole.log(holds)`;
    return execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' }).trim();
  }
  const program = `secret, body, signature = ${secret}, ${body}.encode(), ${given}\n${text}\nprint(str(holds).lower())`;
  return execFileSync('python3', ['-c', program], { encoding: 'utf8' }).trim();
}

for (const { language, text } of SIGNATURE_CHECKS)
  it.skipIf(language === 'Python' && requires('python3-yaml') !== undefined)(
    `${language}: the right one holds, another one and a short one do not`,
    () => {
      const other = createHmac('sha256', 'another secret').update(BODY).digest('hex');
      expect([right, other, right.slice(1), 'é'.repeat(64)].map(each => judged(language, text, each))).toEqual([
        'true',
        'false',
        'false',
        'false',
      ]);
    },
  );
