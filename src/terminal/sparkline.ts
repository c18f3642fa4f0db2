/** Numbers over time as one line: one character a bucket, its height in proportion, from zero. */

export interface Point {
  /** Cents. */
  readonly spent: number;
  /** Something was settled or refunded. */
  readonly moved: boolean;
}

const MOST_POINTS = 30;
const LEVELS = { unicode: '▁▂▃▄▅▆▇█', ascii: '_.-=+*#@' } as const;
/** Nothing moved; more was refunded than spent. */
const SIGNS = { unicode: ['·', '▿'], ascii: [' ', 'v'] } as const;

export interface Sparkline {
  readonly text: string;
  /** Buckets that each character stands for; 1 when every one has its own. */
  readonly joined: number;
}

/** At most thirty characters: more buckets are joined with their neighbours, as many in each as are needed. */
export function sparkline(points: readonly Point[], { unicode }: { readonly unicode: boolean }): Sparkline {
  const joined = Math.max(1, Math.ceil(points.length / MOST_POINTS));
  const shown: Point[] = [];
  for (let from = 0; from < points.length; from += joined) shown.push(sumOf(points.slice(from, from + joined)));
  const largest = Math.max(1, ...shown.map(({ spent }) => spent));
  const levels = [...LEVELS[unicode ? 'unicode' : 'ascii']];
  const [still, back] = SIGNS[unicode ? 'unicode' : 'ascii'];
  const draw = ({ spent, moved }: Point): string => {
    if (!moved) return still;
    if (spent < 0) return back;
    return levels[Math.max(0, Math.ceil((spent * levels.length) / largest) - 1)] ?? still;
  };
  return { text: shown.map(draw).join(''), joined };
}

function sumOf(points: readonly Point[]): Point {
  return {
    spent: points.reduce((sum, { spent }) => sum + spent, 0),
    moved: points.some(({ moved }) => moved),
  };
}
