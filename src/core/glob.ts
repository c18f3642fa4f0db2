/** A pattern a person writes for a whole text: `*` is any letters, also none; every other character is itself. */

/** A test for whole texts, large and small letters apart. Takes time in proportion to the text, whatever the pattern. */
export function glob(pattern: string): (text: string) => boolean {
  const [first = '', ...others] = pattern.split('*');
  const last = others.pop();
  if (last === undefined) return text => text === first;
  return text => {
    if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
    const end = text.length - last.length;
    let from = first.length;
    for (const part of others) {
      const at = text.indexOf(part, from);
      if (at < 0 || at + part.length > end) return false;
      from = at + part.length;
    }
    return true;
  };
}
