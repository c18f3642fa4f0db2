/** Commands that a page shows in a sentence, a table or a shell block: each is one, with the options it is shown with. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { problemOf } from '../support/copied-hints.ts';
import { GUIDE_PAGES } from '../support/guide-pages.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const PAGES = [...GUIDE_PAGES, join('docs', 'testing.md'), join('docs', 'CI.md'), 'SECURITY.md'];

interface ShownCommand {
  readonly page: string;
  readonly command: string;
  /** A sentence may name a command without its values; a block to copy may not. */
  readonly whole: boolean;
}

/** The commands of a page without their comments, once each. */
function commandsOf(page: string): readonly ShownCommand[] {
  const markdown = readFileSync(join(ROOT, page), 'utf8');
  const blocks = [...markdown.matchAll(/^```(?:sh|yaml)\n(.*?)^```$/gms)].flatMap(([, text = '']) =>
    text
      .split('\n')
      .map(line => line.replace(/^ *(?:- )?(?:run: )?(?:\w+=\$\()?/, '').replace(/^(cardwright [^()]*)\)$/, '$1')),
  );
  const prose = markdown.replace(/^```.*?^```$/gms, '');
  const spans = [...prose.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text.replaceAll(/\s+/g, ' '));
  const cleaned = (lines: readonly string[]) =>
    [
      ...new Set(
        // Each side of a pipe is a command of its own.
        lines.flatMap(line =>
          line
            .replace(/\s+#.*$/, '')
            .replaceAll('\\|', '|')
            .split(' | ')
            .map(part => part.trim()),
        ),
      ),
    ].filter(line => line.startsWith('cardwright ') && !line.includes('<'));
  return [
    ...cleaned(blocks).map(command => ({ page, command, whole: true })),
    ...cleaned(spans).map(command => ({ page, command, whole: false })),
  ];
}

/** With an id where the page has one cut short. */
function copied(command: string): string {
  return command.replace(/card_\w*…/g, 'card_1').replace(/op_\w*…/g, `op_${'0'.repeat(26)}`);
}

const shown = PAGES.flatMap(commandsOf);

describe('a page shows a command that there is', () => {
  it.each(shown)('$page: $command', async ({ command, whole }) => {
    const problem = await problemOf(copied(command), []);
    expect(!whole && problem?.startsWith('lacks ') ? undefined : problem).toBeUndefined();
  });

  it('and the pages have many', () => expect(shown.length).toBeGreaterThanOrEqual(50));
});
