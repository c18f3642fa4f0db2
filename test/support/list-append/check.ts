/**
 * Whether transactions on lists look as if they had run one after the other, each between its call and its answer
 * (strict serializability). The core of Elle (Kingsbury and Alvaro, 2020) for histories of appends and reads.
 */
import { cycles } from './cycles.ts';
import { dependencies } from './dependencies.ts';
import { type Anomaly, type History, Writers } from './history.ts';
import { readAnomalies, versionsOf } from './versions.ts';

/** Empty for a history that some serial order explains, as far as the lists that were read tell. */
export function anomalies(history: History): readonly Anomaly[] {
  const writers = new Writers(history);
  const { versions, anomalies: unordered } = versionsOf(history);
  return [...readAnomalies(history, writers), ...unordered, ...cycles(dependencies(history, versions, writers))];
}
