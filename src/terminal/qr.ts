/** A text as a QR code to be photographed from a screen. Home of uqr. */
import { renderUnicode, renderUnicodeCompact } from 'uqr';

/** White around a code, in modules; a reader looks for it. */
const QUIET_ZONE = 4;

/**
 * Lines of the code. Light modules are drawn and dark ones left out, for most terminals are dark; half blocks make a
 * module about square, where the terminal has them. Undefined when the screen is narrower than the code.
 */
export function qrLines(
  text: string,
  { columns, unicode }: { readonly columns: number; readonly unicode: boolean },
): readonly string[] | undefined {
  const code = { border: QUIET_ZONE, ecc: 'M' } as const;
  const drawn = unicode
    ? renderUnicodeCompact(text, code)
    : renderUnicode(text, { ...code, whiteChar: '##', blackChar: '  ' });
  const lines = drawn.split('\n');
  return (lines[0]?.length ?? 0) > columns ? undefined : lines;
}
