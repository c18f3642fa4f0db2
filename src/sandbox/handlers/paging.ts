/** Where a page of a list stands. */
import type { PageFacts } from '../../contract/operation.ts';

export function pageFacts(page: number, perPage: number, total: number): PageFacts {
  return { page, per_page: perPage, total, total_pages: Math.ceil(total / perPage) };
}
