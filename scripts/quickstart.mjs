/**
 * A tour of the real commands against the embedded sandbox, in a folder of its own that is removed at the end. Each
 * command is printed before its output; the first that fails ends the tour with its exit code.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const program = join(dirname(dirname(fileURLToPath(import.meta.url))), 'bin', 'cardwright.js');
const folder = mkdtempSync(join(tmpdir(), 'cardwright-tour-'));
const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('CARDWRIGHT_'));
const env = { ...Object.fromEntries(inherited), CARDWRIGHT_CONFIG_DIR: folder, CARDWRIGHT_TEST_ONLY: '1' };

/** Runs one command and shows it; with `keep` its output is returned as well. */
function show(words, { keep = false } = {}) {
  const quoted = words.map(word => (/^[\w.:@/=+,*-]+$/.test(word) ? word : `'${word}'`));
  process.stdout.write(`\n$ cardwright --sandbox ${quoted.join(' ')}\n`);
  const stdio = ['ignore', keep ? 'pipe' : 'inherit', 'inherit'];
  const child = spawnSync(process.execPath, [program, '--sandbox', ...words], { env, stdio, encoding: 'utf8' });
  if (child.status !== 0)
    throw Object.assign(new Error(`that command ended with ${child.status ?? child.signal}`), child);
  if (!keep) return '';
  process.stdout.write(child.stdout);
  return child.stdout.trim();
}

function say(text) {
  process.stdout.write(`\n# ${text}\n`);
}

function tour() {
  say('What cards can be issued from, and what there is to spend');
  show(['bins', 'list']);
  show(['wallet', '--json']);

  say('Issue a card, keep its id, look at it');
  const card = show(['cards', 'create', '--bin', 'auto', '--amount', '25', '--label', 'quickstart', '-q'], {
    keep: true,
  });
  show(['cards', 'get', card, '--json']);

  say('Fund it, freeze it, let it go on');
  show(['cards', 'fund', card, '--amount', '10', '--json']);
  show(['cards', 'freeze', card, '--json', '--fields', 'id,status,changed']);
  show(['cards', 'unfreeze', card, '--json', '--fields', 'id,status,changed']);

  say('A merchant asks for money, and settles');
  const purchase = show(['sandbox', 'simulate', 'authorize', '--card', card, '--amount', '4.50', '-q'], { keep: true });
  show(['sandbox', 'simulate', 'settle', purchase, '--json', '--fields', 'outcome,card_balance,events']);
  show(['tx', 'list', '--card', card]);

  say('Number and CVV leave this program only when asked for by name; this one is a sandbox card');
  show(['cards', 'details', card, '--reveal', '--print', '--field', 'expiry']);

  say('End the card; what is left returns to the wallet');
  show(['cards', 'terminate', card, '--yes', '--json', '--fields', 'id,status,balance,changed']);
  show(['sandbox', 'status', '--json', '--fields', 'cards,wallet_balance,ledger_ok']);

  say('Yours now: node bin/cardwright.js --sandbox --help');
}

try {
  tour();
} catch (error) {
  process.stderr.write(`\nquickstart: ${error.message}\n`);
  process.exitCode = error.status > 0 ? error.status : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
