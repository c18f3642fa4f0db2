/** A text as a QR code to be photographed from a screen. Home of uqr. */
import { encode } from 'uqr';

/** Modules of white around a code; a reader looks for them. */
const QUIET_ZONE = 4;

/**
 * Lines of the code. Light modules are drawn and dark ones left out, for most terminals are dark; half blocks make a
 * module about square, where the terminal has them. Undefined when the screen is narrower than the code.
 */
export function qrLines(
  text: string,
  { columns, unicode }: { readonly columns: number; readonly unicode: boolean },
): readonly string[] | undefined {
  const { data } = encode(text, { border: QUIET_ZONE, ecc: 'M' });
  const wide = unicode ? 1 : 2;
  if (data.length * wide > columns) return undefined;
  if (!unicode) return data.map(row => row.map(dark => (dark ? '  ' : '##')).join(''));
  const lines: string[] = [];
  for (let at = 0; at < data.length; at += 2) {
    const [upper = [], lower = []] = [data[at], data[at + 1]];
    lines.push(upper.map((dark, column) => halves(!dark, lower[column] === false)).join(''));
  }
  return lines;
}

function halves(upper: boolean, lower: boolean): string {
  if (upper) return lower ? '█' : '▀';
  return lower ? '▄' : ' ';
}
