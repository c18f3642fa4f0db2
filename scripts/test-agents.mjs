/**
 * Plays a scripted agent, with no model in it, through each task of examples/agents: the commands of its `plan`, in a sandbox of its own
 * that loses answers, and each of them once more as an agent does that was started anew. What must be true at the end is held against
 * the sandbox. Says how many purchases were made.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';

const root = resolve(import.meta.dirname, '..');
const folder = join(root, 'examples', 'agents');
/** Done, and the answer lost: the first change and the third. */
const LOST = [1, 3].map(nth => ({
  match: { method: 'POST', nth },
  phase: 'after_commit',
  action: { kind: 'reset' },
  times: 1,
}));
const WALLET = 500;

/** One home for each task; every command is a process of its own, as agents start them. */
function shell(home) {
  const variables = Object.entries(process.env).filter(([name]) => !name.startsWith('CARDWRIGHT_'));
  const env = {
    ...Object.fromEntries(variables),
    HOME: home,
    CARDWRIGHT_CONFIG_DIR: home,
    CARDWRIGHT_PROFILE: 'sandbox',
  };
  return (line, input = '') => {
    const words = [join(root, 'bin', 'cardwright.js'), '--json', ...line.split(' ')];
    const { status, stdout, stderr } = spawnSync(process.execPath, words, { input, env, cwd: home, encoding: 'utf8' });
    return { status, out: stdout, err: stderr.trim(), answer: stdout.startsWith('{') ? JSON.parse(stdout) : {} };
  };
}

let purchases = 0;
for (const name of readdirSync(folder).filter(each => each.endsWith('.json'))) {
  const { task, plan, must, faults = LOST } = JSON.parse(readFileSync(join(folder, name), 'utf8'));
  const home = mkdtempSync(join(tmpdir(), 'cardwright-agents-'));
  const run = shell(home);
  const wrong = [];
  try {
    run('sandbox reset --data empty --yes');
    run(`sandbox simulate deposit --currency usdt --amount ${WALLET}`);
    const { now } = run('sandbox clock advance 2h').answer;
    // What a plan names in braces: the month, the first card and the first transaction.
    const known = { month: now.slice(0, 7) };
    run('sandbox faults add -', JSON.stringify(faults));
    for (const { run: planned, ends = 0, says = '', again = true } of plan) {
      const line = planned.replace(/\{(\w+)\}/g, (_, name) => known[name]);
      for (let turn = again ? 2 : 1; turn > 0; turn -= 1) {
        const { status, out, err, answer } = run(line);
        if (line.startsWith('cards create')) known.card ??= answer.id;
        known.transaction ??= answer.transaction_id;
        if (![ends].flat().includes(status)) wrong.push(`${line} ended with ${status}: ${err}`);
        if (!out.includes(says)) wrong.push(`${line} does not say ${says}`);
      }
    }
    run('sandbox faults clear --yes');
    const ops = run('ops list').answer.data;
    const items = ops.flatMap(({ op }) => run(`ops show ${op}`).answer.items);
    const bought = items.filter(({ outcome, operation }) => outcome === 'done' && /create|fund/.test(operation));
    purchases += bought.length;
    const is = {
      purchases: bought.length,
      cards: run('cards list --all').answer.data.length,
      spent: WALLET - run('wallet').answer.balance,
      purposes: bought.map(({ purpose }) => purpose).sort(),
      unsettled: ops.filter(({ state }) => state !== 'finished').length,
    };
    for (const [what, wanted] of Object.entries(must))
      if (JSON.stringify(is[what]) !== JSON.stringify(wanted))
        wrong.push(`${what} must be ${JSON.stringify(wanted)}, and is ${JSON.stringify(is[what])}`);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
  process.stdout.write([`${wrong.length === 0 ? 'ok' : 'WRONG'}  ${name}: ${task}`, ...wrong, ''].join('\n'));
  if (wrong.length > 0) process.exitCode = 1;
}
process.stdout.write(`${purchases} purchases were made\n`);
