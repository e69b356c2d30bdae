import { z } from 'zod';

/** Page request: at most `limit` items after `cursor` (opaque, from the previous page's `nextCursor`). */
export const Page = z.object({
  limit: z.number().int().min(1).max(100).default(20),
  cursor: z.string().max(1000).nullish(),
});
export type Page = z.infer<typeof Page>;

/** Most texts that one page brings along: a text has up to 80 kB, and a batch asks for several pages. */
export const TEXTS_A_PAGE = 20;

/** One page: items in a stable total order; `nextCursor` is null on the last page. */
export interface Paged<T> {
  items: T[];
  nextCursor: string | null;
}

/** Schema of one page of `item`. */
export const paged = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), nextCursor: z.string().nullable() });
