/**
 * What a run makes and must take away again, written down before it is made: the next run after a crash finds it and
 * cleans up (docs/design/security.md, L7). One private file each, with a random name, in the state folder.
 */

import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject, jsonOrUndefined } from '../core/objects.ts';
import { type IsRunning, identify, isProvablyGone, type ProcessIdentity } from '../files/lock.ts';
import {
  type FileDependencies,
  nothingThere,
  preparePrivateFolder,
  readPrivate,
  writePrivate,
} from '../files/private-files.ts';

/** Facts of one thing: ids and addresses, never a secret. */
export type Facts = Readonly<Record<string, string>>;

interface Leftover {
  readonly kind: 'listener' | 'lease';
  /** Whose it is: profile and base address of the run that made it. */
  readonly profile: string;
  readonly base_url: string;
  /** ms UTC, by this machine's clock. */
  readonly made_at: number;
  /** ms UTC after which it may be taken away although its run goes on. */
  readonly ends_at?: number;
  readonly facts: Facts;
}

export interface Noted {
  readonly leftover: Leftover;
  /** Adds facts; durable when it resolves. */
  add(facts: Facts): Promise<void>;
  /** It is taken away. */
  forget(): Promise<void>;
}

export interface CleanupLog {
  /** Durable when it resolves. Throws `guarded` when it cannot be written; then nothing must be made. */
  note(leftover: Leftover): Promise<Noted>;
  /** Those whose run is provably gone, and those whose time is over. */
  abandoned(kind: Leftover['kind']): Promise<readonly Noted[]>;
}

interface CleanupLogSettings {
  /** Folder of the state. */
  readonly folder: string;
  readonly pid: number;
  readonly now: () => number;
  readonly files: FileDependencies;
  readonly isRunning: IsRunning;
}

interface Written extends Leftover {
  readonly by: ProcessIdentity;
}

export function openCleanupLog({ folder, pid, now, files, isRunning }: CleanupLogSettings): CleanupLog {
  const place = join(folder, 'leftovers');

  function noted(path: string, written: Written): Noted {
    let current = written;
    return {
      get leftover() {
        return current;
      },
      async add(facts) {
        current = { ...current, facts: { ...current.facts, ...facts } };
        await writePrivate(path, `${JSON.stringify(current)}\n`, files);
      },
      forget: () => rm(path, { force: true }),
    };
  }

  return {
    async note(leftover) {
      await preparePrivateFolder(place, files);
      const path = join(place, `${leftover.kind}-${Buffer.from(files.random.bytes(8)).toString('hex')}.json`);
      const made = noted(path, { ...leftover, by: identify(pid) });
      await made.add({});
      return made;
    },
    async abandoned(kind) {
      const names = await readdir(place).catch(error => nothingThere(error) ?? []);
      const us = identify(pid);
      const found: Noted[] = [];
      for (const name of names.filter(each => each.startsWith(`${kind}-`) && each.endsWith('.json')).sort()) {
        const path = join(place, name);
        const written = jsonOrUndefined((await readPrivate(path, files)) ?? '');
        // A file that is not ours stays where it is; one that was taken away meanwhile is settled.
        if (!isWritten(written)) continue;
        const isOver = written.ends_at !== undefined && written.ends_at <= now();
        if (isOver || isProvablyGone(written.by, us, isRunning)) found.push(noted(path, written));
      }
      return found;
    },
  };
}

function isWritten(value: unknown): value is Written {
  if (!isObject(value)) return false;
  const { kind, profile, base_url: address, made_at: made, ends_at: ends, facts, by } = value;
  const texts = (part: unknown, ...names: string[]) => isObject(part) && names.every(name => isText(part[name]));
  return (
    [kind, profile, address].every(isText) &&
    typeof made === 'number' &&
    (ends === undefined || typeof ends === 'number') &&
    isObject(facts) &&
    Object.values(facts).every(isText) &&
    texts(by, 'started', 'boot', 'pids', 'machine') &&
    typeof (by as { pid?: unknown }).pid === 'number'
  );
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
