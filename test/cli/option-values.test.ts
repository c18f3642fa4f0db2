import { describe, expect, it } from 'vitest';
import { GLOBALS } from '../../src/app/globals.ts';
import { type Command, commandsOf } from '../../src/cli/parsing/declaration.ts';
import { readLine } from '../../src/cli/parsing/tree.ts';
import { REGISTRY } from '../../src/commands/registry.ts';
import { CliError } from '../../src/core/errors.ts';
import { runWords } from './line.ts';

const commands: readonly Command[] = (await Promise.all(REGISTRY.map(commandsOf))).flat();
const globals = GLOBALS.filter(({ value }) => value !== undefined);

/** An empty shell variable leaves such a line: `--label $LABEL --dry-run`. */
describe('an option without its value never takes the next option', () => {
  it('says which one stands there, and how to write what is meant', async () => {
    const { code, err } = await runWords([...'cards create --bin auto --amount 5 --label --dry-run'.split(' ')]);
    expect(code).toBe(2);
    expect(err).toContain('--label needs a value; --dry-run is an option (write --label=--dry-run if you mean it)');
  });

  it('whatever the option, of every command', async () => {
    const refused = async (argv: readonly string[]) => {
      const said: unknown = await readLine(argv, REGISTRY).catch((thrown: unknown) => thrown);
      expect(`${argv.join(' ')}: ${said instanceof CliError ? `${said.exitCode} ${said.message}` : 'taken'}`).toMatch(
        /: 2 --\S+ needs a value/,
      );
    };
    for (const command of commands) {
      const path = command.path.split(' ');
      for (const { name, short, placeholder } of command.flags) {
        await refused([...path, '--timeout', name]);
        if (placeholder === '') continue;
        for (const each of [name, ...(short === undefined ? [] : [short])]) await refused([...path, each, '--dry-run']);
      }
    }
  });

  it.each(['--sandbox', '--help', '-h', '-q', '-qy', '-qojson', '--output=json', '--amount', '--'])(
    'whatever stands there: %s',
    async next => {
      for (const { name } of globals) {
        const { code, err } = await runWords(['cards', 'create', `--${name}`, next]);
        expect({ code, err: err.includes('needs a value') }, name).toEqual({ code: 2, err: true });
      }
    },
  );

  it('before the command and in its group as well', async () => {
    for (const line of ['-p --sandbox cards list', 'cards --profile --sandbox list', '-o -q cards list']) {
      const { code, err } = await runWords(line.split(' '));
      expect(`${line}: ${code}`).toBe(`${line}: 2`);
      expect(err).toContain('needs a value');
    }
  });
});
