/** How the signature of a delivery comes about, step by step, and where it goes wrong in the code of the receiver. */
import { SIGNATURE_CHECKS } from '../../contract/signature/checks.ts';
import { RowForm } from '../form.tsx';
import { Copy, Text } from '../parts.tsx';
import { laidOut } from '../printable.ts';

/** What a delivery says of its body and of the headers it went with. */
export interface SignedBody {
  readonly webhook_id: string;
  readonly body: string;
  readonly body_hidden: boolean;
  readonly body_bytes: number;
  readonly body_sha256: string;
  readonly attempts: readonly { readonly request_headers: Readonly<Record<string, string>> }[];
}

interface JudgedAnswer {
  readonly matches: boolean;
  readonly secret: string | null;
  readonly deviations: readonly string[];
  readonly mistakes: readonly { readonly mistake: string; readonly says: string }[];
}

function Judged({ answer: { matches, secret, deviations, mistakes } }: { readonly answer: JudgedAnswer }) {
  const otherwise = deviations.length === 0 ? '' : `; not as documented: ${deviations.join(', ')}`;
  if (matches) return <p>{`It matches, by the ${secret} secret${otherwise}.`}</p>;
  return (
    <div>
      <p class="problem">It does not match.</p>
      {mistakes.map(({ says }) => (
        <p>{says}</p>
      ))}
      {mistakes.length === 0 && <p>No usual mistake explains it: another secret, or another body.</p>}
    </div>
  );
}

/** The bytes of a body, sixteen a line, beside what they spell. */
function hexOf(text: string): string {
  const bytes = new TextEncoder().encode(text);
  const lines: string[] = [];
  for (let from = 0; from < bytes.length; from += 16) {
    const part = [...bytes.slice(from, from + 16)];
    const hex = part.map(byte => byte.toString(16).padStart(2, '0')).join(' ');
    const spelt = part.map(byte => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : '.')).join('');
    lines.push(`${from.toString(16).padStart(4, '0')}  ${hex.padEnd(47)}  ${spelt}`);
  }
  return lines.join('\n');
}

/** From the bytes to the header, step by step; the secret is not shown. */
export function Signature({ delivery }: { readonly delivery: SignedBody }) {
  const sent = delivery.attempts.at(-1)?.request_headers ?? {};
  const header = Object.entries(sent).find(([name]) => /signature/i.test(name));
  return (
    <section aria-labelledby="signature">
      <h2 id="signature">Signature in steps</h2>
      <ol class="steps">
        <li>
          {`The exact body: ${delivery.body_bytes} bytes, SHA-256 `}
          <code>{delivery.body_sha256}</code>
          {delivery.body_hidden && (
            <p class="quiet">A one-time code in the text below is replaced; the digest is that of what is sent.</p>
          )}
          <Text label="Body" text={laidOut(delivery.body)} />
          {!delivery.body_hidden && <Copy text={delivery.body} label="Copy the exact body" />}
          {!delivery.body_hidden && (
            <details>
              <summary>Bytes</summary>
              <Text label="Bytes of the body" text={hexOf(delivery.body)} />
            </details>
          )}
        </li>
        <li>The key: the text of the signing secret as it stands. It is not shown.</li>
        <li>HMAC-SHA256 of the body under the key.</li>
        <li>
          {'64 hex digits, sent as '}
          {header === undefined ? (
            <span>a header; nothing was sent yet, or it went without one.</span>
          ) : (
            <code class="wrap">{`${header[0]}: ${header[1]}`}</code>
          )}
        </li>
      </ol>
      <details>
        <summary>The check in your code: Node, Python</summary>
        {SIGNATURE_CHECKS.map(({ language, text }) => (
          <div>
            <Text label={`Check in ${language}`} text={text} />
            <Copy text={text} label={`Copy for ${language}`} />
          </div>
        ))}
      </details>
      <details>
        <summary>Check mine: your code gets another one?</summary>
        <p class="quiet">A form makes one kind of line ends of all; for exact bytes take the command with a file.</p>
        <RowForm
          row="deliveries.explain"
          fixed={{ webhook_id: delivery.webhook_id }}
          areas={['body']}
          label="Check mine"
          show={answer => <Judged answer={answer as unknown as JudgedAnswer} />}
        />
      </details>
    </section>
  );
}
