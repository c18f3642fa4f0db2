/** What is secret, for half a minute, to whoever confirms it; gone at once when nobody sees the page. */
import { useLayoutEffect, useState } from '../elements.ts';
import { RowForm } from '../form.tsx';
import { Facts, useCanChange } from '../parts.tsx';
import { accessOf, callRow } from '../session.ts';

/** ms that it stands in the document. */
const SHOWN_FOR = 30_000;

/** A value that is forgotten by itself. */
function useSecret<Value>(): readonly [Value | undefined, (value: Value | undefined) => void] {
  const [value, set] = useState<Value | undefined>(undefined);
  // A secret never stands there before it can be forgotten.
  useLayoutEffect(() => {
    if (value === undefined) return undefined;
    const forget = () => set(undefined);
    const timer = setTimeout(forget, SHOWN_FOR);
    document.addEventListener('visibilitychange', forget);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', forget);
    };
  }, [value]);
  return [value, set];
}

interface Details {
  readonly number: string;
  readonly cvv: string;
  readonly exp_month: number;
  readonly exp_year: number;
}

export function RevealCard({ id }: { readonly id: string }) {
  const [details, show] = useSecret<Details>();
  const [asks, ask] = useState(false);
  const canChange = useCanChange() && accessOf() === 'full';
  if (details !== undefined) {
    const { number, cvv, exp_month: month, exp_year: year } = details;
    return (
      <div>
        <Facts
          facts={[
            ['Card number', <code>{number}</code>],
            ['Security code', <code>{cvv}</code>],
            ['Good until', `${String(month).padStart(2, '0')}/${year}`],
          ]}
        />
        <button type="button" class="small" onClick={() => show(undefined)}>
          Hide
        </button>
      </div>
    );
  }
  if (!asks) {
    return (
      <button type="button" class="small" disabled={!canChange} onClick={() => ask(true)}>
        Reveal
      </button>
    );
  }
  return (
    <RowForm
      row="cards.reveal"
      fixed={{ card_id: id }}
      label="Reveal for 30 s"
      done={answer => {
        ask(false);
        show(answer as unknown as Details);
      }}
      show={() => null}
    />
  );
}

/** The one-time code of a challenge that waits. */
export function RevealCode({ id }: { readonly id: string }) {
  const [told, tell] = useSecret<string>();
  const canChange = useCanChange() && accessOf() === 'full';
  const reveal = () =>
    callRow<{ readonly otp: string }>('challenges.reveal', { challenge_id: id }).then(
      ({ otp }) => tell(otp),
      (error: unknown) => tell((error as Error).message),
    );
  if (told !== undefined) return <code>{told}</code>;
  return (
    <button type="button" class="small" disabled={!canChange} onClick={() => void reveal()}>
      Show code
    </button>
  );
}
