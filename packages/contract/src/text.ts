import { z } from 'zod';

/** Characters nobody types on purpose and that break displays, exports and stores (C0 and C1 controls except tab and newline). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: refusing control characters is this pattern's purpose
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;

/** Characters that show nothing: blanks, zero-width and direction marks, fillers, and the empty Braille cell. */
const INVISIBLE = /[\p{White_Space}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/**
 * Direction embeddings, overrides and isolates: they reach beyond their text and make a name read as another one
 * (Unicode TR 36, 2.9). The marks U+200E, U+200F and the joiners of emoji and scripts do no such thing.
 */
const DIRECTION = /[\u202a-\u202e\u2066-\u2069]/;

const lengthInCodePoints = (value: string): number => [...value].length;

/**
 * Text a person typed: trimmed, well-formed Unicode, without control characters, measured in code points
 * so that Chinese and emoji get the same room as Latin letters. One that shows nothing counts as empty.
 * @param min least length in code points, after trimming
 * @param max greatest length in code points
 */
export const text = (min: number, max: number) =>
  z
    .string()
    .refine((v) => v.isWellFormed(), 'The text contains half of a character (a lone surrogate). Retype it.')
    .transform((v) => v.replace(/\r\n?/g, '\n').trim())
    .refine((v) => !CONTROL.test(v), 'The text contains control characters. Remove them.')
    .refine(
      (v) => lengthInCodePoints(v) >= min && (min === 0 || v.replace(INVISIBLE, '') !== ''),
      `Write at least ${min} character${min === 1 ? '' : 's'}.`,
    )
    .refine((v) => lengthInCodePoints(v) <= max, `Write at most ${max} characters.`);

/** One line of text, shown beside others: {@link text} without line breaks and without changes of direction. */
export const line = (min: number, max: number) =>
  text(min, max)
    .refine((v) => !v.includes('\n'), 'Write this on one line.')
    .refine(
      (v) => !DIRECTION.test(v),
      'The text contains characters that turn the direction of writing. Remove them.',
    );

/**
 * Id of any entity: 1 to 64 characters, compared byte by byte (`a` and `A` are two ids).
 * New ids are ULIDs; ids of migrated documents are kept.
 */
export const Id = z
  .string()
  .regex(/^[A-Za-z0-9_.:~-]{1,64}$/, 'An id has 1 to 64 characters from A-Z a-z 0-9 _ . : ~ -');
export type Id = z.infer<typeof Id>;

/** E-mail address, lower-cased: addresses that differ only in case are one person. */
export const Email = z
  .string()
  .trim()
  .toLowerCase()
  .max(254)
  .pipe(z.email('Write an e-mail address like ana@example.com.'));

/** Instant in UTC with microseconds, as the stores keep it: `2026-11-30T09:12:05.123456Z`. */
export const Instant = z.string();
export type Instant = string;
