/** What the world outside does: merchants, card holders, the chain. Each form is made from its row. */
import { addressOf, refine, useAddress } from '../address.ts';
import { RowForm } from '../form.tsx';
import { Head } from '../parts.tsx';
import { TABLES } from '../tables.ts';

const SIMULATIONS = Object.keys(TABLES.rows).filter(name => name.startsWith('simulate.'));

export function Simulate({ id }: { readonly id: string | undefined }) {
  const { filters } = useAddress();
  const chosen = id !== undefined && SIMULATIONS.includes(id) ? id : 'simulate.authorize';
  return (
    <section>
      <Head title="Simulate" />
      <p class="filters">
        <label>
          What happens{' '}
          <select
            id="search"
            value={chosen}
            onChange={event => refine(addressOf('simulate', event.currentTarget.value, filters))}
          >
            {SIMULATIONS.map(name => (
              <option value={name}>{TABLES.rows[name]?.summary}</option>
            ))}
          </select>
        </label>
      </p>
      <RowForm key={chosen + JSON.stringify(filters)} row={chosen} begins={filters} label="Simulate" />
      <p class="quiet">
        The page is the world outside. What your code does (create, fund, freeze) it does itself, with a key and a line
        in the log.
      </p>
    </section>
  );
}
