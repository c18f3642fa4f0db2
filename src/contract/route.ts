/** Paths of routes and of requests, compared as a service would take them. */

/** What is wrong with a path below the base address; undefined when a request may carry it. */
export function pathProblem(path: string): string | undefined {
  if (!/^\/[\x21-\x7e]*$/.test(path) || /[\\#?]/.test(path)) return 'must begin with / and hold no query';
  for (const segment of path.split('/')) {
    const text = decodedSegment(segment);
    if (text === undefined) return 'is not percent-encoded as it should be';
    if (text === '.' || text === '..' || /[/\\]/.test(text)) return 'leads out of the base address';
  }
  return undefined;
}

/** Undefined for a segment that is not percent-encoded as it should be. */
function decodedSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

/** The parameters that a template has and a path fills; undefined when the path is another one. */
export function paramsOf(
  template: string,
  path: string,
  fold: (text: string) => string = text => text,
): Record<string, string> | undefined {
  const wanted = segments(template);
  const given = segments(path);
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, segment] of wanted.entries()) {
    const written = given[index] ?? '';
    const value = decodedSegment(written) ?? written;
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    if (name !== undefined) params[name] = value;
    else if (fold(segment) !== fold(value)) return undefined;
  }
  return params;
}

/** Whether some request fits both templates; a parameter may stand for anything, and case does not tell them apart. */
export function mayMeet(one: string, other: string): boolean {
  const [mine, theirs] = [segments(one), segments(other)];
  if (mine.length !== theirs.length) return false;
  return mine.every((segment, index) => {
    const against = theirs[index] ?? '';
    return segment.includes('{') || against.includes('{') || folded(segment) === folded(against);
  });
}

function folded(segment: string): string {
  return (decodedSegment(segment) ?? segment).toLowerCase();
}

/** Empty ones do not count. */
function segments(path: string): string[] {
  return path.split('/').filter(part => part !== '');
}
