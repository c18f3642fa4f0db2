import type { Shown } from '../../cli/shown.ts';
import { CliError } from '../../core/errors.ts';

export interface Removed {
  readonly name: string;
  /** Where the key still is; `why` when it could not be taken away there. */
  readonly remains: { readonly place: string; readonly why?: string } | undefined;
}

/** A profile that is gone. Where its key is not, that is said, and a failure when it was ours to take away. */
export function showRemoved({ name, remains }: Removed): Shown {
  const stays = remains === undefined ? 'its key was deleted from this machine' : `its key stays in ${remains.place}`;
  const failed = remains?.why !== undefined;
  return {
    data: { name, removed: true },
    noun: 'profile',
    idField: 'name',
    columns: [
      { field: 'name', title: 'NAME', kind: 'id', priority: 1 },
      { field: 'removed', title: 'REMOVED', kind: 'boolean', priority: 1 },
    ],
    blocks: failed
      ? []
      : [
          {
            kind: 'line',
            text: `Removed profile ${name} and its settings. ${stays[0]?.toUpperCase()}${stays.slice(1)}.`,
          },
        ],
    ...(failed && {
      failure: new CliError('check_failed', {
        message: `profile ${name} is removed, and its key may still be in ${remains.place}: ${remains.why}`,
        notes: ['Delete it there by hand.'],
      }),
    }),
  };
}
