/**
 * Draws the picture of the README: runs a few real commands of the built program on a pseudo terminal of 80 columns,
 * against a sandbox with a fixed seed and a stopped clock, and writes what they printed as text into an SVG. With
 * --check nothing is written; the exit code is 1 when the program prints something else today. The id and the digits of
 * the new card are different in every run and are not compared.
 *
 * Needs script(1) of util-linux, and `npm run build` before it.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const picture = join(root, 'docs', 'images', 'recording.svg');
const COLUMNS = 80;

const BEFORE = ['sandbox clock set frozen --at 2026-11-20T14:00:00Z', 'sandbox reset --seed 7 --yes'];
const SHOWN = [
  'cards create --bin auto --amount 25 --label "ads: search"',
  'cards list --limit 3',
  'tx summary --by merchant --type settlement',
];

/** Runs one command on a pseudo terminal; returns what came, as a terminal gets it. */
function run(words, home) {
  const program = `'${process.execPath}' '${join(root, 'bin', 'cardwright.js')}'`;
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    CARDWRIGHT_CONFIG_DIR: home,
    CARDWRIGHT_PROFILE: 'sandbox',
  };
  const line = `stty cols ${COLUMNS} rows 40; ${program} ${words}`;
  const ran = spawnSync('script', ['--quiet', '--return', '--command', line, '/dev/null'], { env, encoding: 'utf8' });
  if (ran.error) throw new Error(`script(1) of util-linux is needed: ${ran.error.message}`);
  if (ran.status !== 0) throw new Error(`cardwright ${words} ended with ${ran.status}:\n${ran.stdout}`);
  // A line of progress that was erased is not on the screen at the end; a slow machine has one.
  return ran.stdout
    .replaceAll('\r\n', '\n')
    .replaceAll(/[^\n]*\x1b\[2K\r?/g, '')
    .trimEnd();
}

function record() {
  const home = mkdtempSync(join(tmpdir(), 'cardwright-record-'));
  try {
    for (const words of BEFORE) run(words, home);
    return SHOWN.map(words => ({ words, output: run(words, home) }));
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Classes by the numbers of SGR that the program uses; another one is an error, so that none is lost. */
const STYLES = { 1: 'b', 2: 'd', 31: 'r', 32: 'g', 33: 'y', 36: 'c' };
const ENDS = { 0: 'bdrgyc', 22: 'bd', 39: 'rgyc' };

/** The runs of a line that look alike: `{ column, text, styles }`. */
function runsOf(line) {
  const runs = [];
  let styles = '';
  let column = 0;
  for (const part of line.split(/(\x1b\[[\d;]*m)/)) {
    const sgr = /^\x1b\[([\d;]*)m$/.exec(part)?.[1];
    if (sgr === undefined) {
      if (part !== '') runs.push({ column, text: part, styles });
      column += [...part].length;
    } else styles = sgr.split(';').reduce(styled, styles);
  }
  if (column > COLUMNS) throw new Error(`wider than ${COLUMNS} columns: ${line}`);
  return runs;
}

function styled(styles, number) {
  if (STYLES[number] !== undefined) return styles + STYLES[number];
  if (ENDS[number] === undefined) throw new Error(`SGR ${number} has no style`);
  return [...styles].filter(style => !ENDS[number].includes(style)).join('');
}

const CHARACTER = 8.4;
const LINE = 19;
const LEFT = 20;
const TOP = 62;

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

const LIGHT = {
  ink: '#1f2328',
  paper: '#ffffff',
  bar: '#f6f8fa',
  edge: '#d1d9e0',
  d: '#59636e',
  r: '#cf222e',
  g: '#1a7f37',
  y: '#8a5a00',
  c: '#0b6a73',
};
const DARK = {
  ink: '#e6edf3',
  paper: '#0d1117',
  bar: '#151b23',
  edge: '#3d444d',
  d: '#9198a1',
  r: '#ff7b72',
  g: '#3fb950',
  y: '#d29922',
  c: '#39c5cf',
};

/** Rules without custom properties: not every program that draws an SVG knows them. */
function colours({ ink, paper, bar, edge, ...styles }) {
  const rules = Object.entries(styles).map(([name, fill]) => `.${name} { fill: ${fill} }`);
  const window = `.paper { fill: ${paper}; stroke: ${edge} } .bar { fill: ${bar}; stroke: ${edge} } .dot { fill: ${edge} }`;
  return [`text { fill: ${ink} }`, window, rules.join(' ')].join('\n');
}

/** One line as text. Each run has its place and its length, so that columns stand below each other in any font. */
function drawn(line, row) {
  const spans = runsOf(line).map(({ column, text, styles }) => {
    const place = `x="${(LEFT + column * CHARACTER).toFixed(1)}" textLength="${([...text].length * CHARACTER).toFixed(1)}"`;
    return `<tspan ${place}${styles === '' ? '' : ` class="${[...styles].join(' ')}"`}>${escaped(text)}</tspan>`;
  });
  return `<text y="${TOP + row * LINE}">${spans.join('')}</text>`;
}

/** The whole picture. Commands and answers appear one after the other where motion is welcome; at once elsewhere. */
function svg(steps) {
  const groups = [];
  let row = 0;
  let seconds = 0.3;
  const group = lines => {
    const style = `style="animation-delay:${seconds.toFixed(1)}s"`;
    groups.push(`<g ${style}>\n${lines.map(line => drawn(line, row++)).join('\n')}\n</g>`);
  };
  for (const { words, output } of steps) {
    group([`\x1b[32m$\x1b[39m \x1b[1mcardwright ${words}\x1b[22m`]);
    seconds += 0.6;
    group(output.split('\n'));
    seconds += 1.4;
    row++;
  }
  const [width, height] = [Math.ceil(2 * LEFT + COLUMNS * CHARACTER), TOP + row * LINE - 10];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" xml:space="preserve" role="img" aria-label="cardwright in a terminal">
<style>
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre }
.b { font-weight: 600 }
${colours(LIGHT)}
@media (prefers-color-scheme: dark) {
${colours(DARK)}
}
g { animation: appear 0.25s ease-out backwards }
@keyframes appear { from { opacity: 0 } }
@media (prefers-reduced-motion: reduce) { g { animation: none } }
</style>
<rect class="paper" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
<path class="bar" d="M0.5 34V8.5a8 8 0 0 1 8-8H${width - 8.5}a8 8 0 0 1 8 8V34Z"/>
<circle class="dot" cx="20" cy="17" r="6"/><circle class="dot" cx="40" cy="17" r="6"/><circle class="dot" cx="60" cy="17" r="6"/>
${groups.join('\n')}
</svg>
`;
}

/** The picture without what is different in every run: the id of the new card and its last four digits. */
function compared(text) {
  const id = /Created (card_\w+)/.exec(text)?.[1] ?? '';
  const digits = /visa ending (\d{4})/.exec(text)?.[1] ?? '';
  return text.replaceAll(id, 'card_new').replaceAll(new RegExp(`(?<=ending |\\s)${digits}(?=\\D)`, 'g'), '0000');
}

const now = svg(record());
let before = '';
try {
  before = readFileSync(picture, 'utf8');
} catch (error) {
  if (error.code !== 'ENOENT') throw error;
}
if (compared(now) !== compared(before)) {
  if (process.argv.includes('--check')) {
    const old = new Set(compared(before).split('\n'));
    const other = compared(now)
      .split('\n')
      .filter(line => !old.has(line));
    process.stderr.write(`docs/images/recording.svg shows something else than the program prints today:\n`);
    for (const line of other) process.stderr.write(`  ${line.replace(/<[^>]*>/g, '')}\n`);
    process.stderr.write('npm run build && npm run record\n');
    process.exitCode = 1;
  } else {
    mkdirSync(dirname(picture), { recursive: true });
    writeFileSync(picture, now);
    process.stdout.write(`wrote docs/images/recording.svg, ${now.length} bytes\n`);
  }
}
