import { createPrompt, isDownKey, isEnterKey, isUpKey, useKeypress, usePagination, useState } from '@inquirer/core';

/** Home of @inquirer/prompts: the questions that are asked, by name, so that the build leaves out all others. */
export { confirm, input, password, rawlist } from '@inquirer/prompts';

// One of many, found by typing. Home of @inquirer/core: the library's own search filters a moment after the key, so that Enter in
// the same burst of keys (a paste, a slow line) takes a choice of the list before. Here what is shown and what Enter takes are one list.

/** A choice in one line of the screen. */
interface Listed {
  /** Its place among all choices, from 0. */
  readonly place: number;
  readonly name: string;
}

interface PickConfig {
  readonly message: string;
  /** The choices for what was typed, the best first; all of them for an empty text. */
  readonly find: (typed: string) => readonly Listed[];
}

/** Choices on the screen at once. */
const SHOWN = 7;

/** Enter where nothing matches chooses nothing, and this says so. */
const NO_MATCH = '> Nothing matches: Enter chooses nothing. Change the text.';

/** Resolves with the place of the choice under the cursor. */
export const pick = createPrompt<number, PickConfig>(({ message, find }, done) => {
  const [typed, setTyped] = useState('');
  const [active, setActive] = useState(0);
  const [chosen, setChosen] = useState<Listed | undefined>(undefined);
  const found = find(typed);
  useKeypress((key, line) => {
    if (isEnterKey(key)) {
      const choice = found[active];
      if (choice === undefined) {
        // Enter emptied the line; the text stays to be changed.
        line.write(typed);
        return;
      }
      setChosen(choice);
      done(choice.place);
    } else if (isUpKey(key) || isDownKey(key)) {
      line.clearLine(0);
      line.write(typed);
      setActive(Math.min(Math.max(0, active + (isUpKey(key) ? -1 : 1)), Math.max(0, found.length - 1)));
    } else if (line.line !== typed) {
      setTyped(line.line);
      setActive(0);
    }
  });
  const page = usePagination({
    items: found,
    active: Math.min(active, Math.max(0, found.length - 1)),
    renderItem: ({ item, isActive }) => `${isActive ? '>' : ' '} ${item.name}`,
    pageSize: SHOWN,
    loop: false,
  });
  if (chosen !== undefined) return `? ${message} ${chosen.name}`;
  return [`? ${message} ${typed}`.trimEnd(), found.length === 0 ? NO_MATCH : page];
});
