export type TextPart = { kind: 'text'; value: string } | { kind: 'link'; value: string };

const URL_LIKE = /https?:\/\/[^\s<>"'，。；！？、（）《》“”]+/giu;
const TRAILING = /[.,;:!?)\]}]+$/;

/**
 * Splits a text into plain parts and links. Only whole http and https addresses become links; anything else, also
 * `javascript:` and `data:`, stays text. Punctuation after an address is not part of it.
 */
export function splitLinks(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let done = 0;
  for (const match of text.matchAll(URL_LIKE)) {
    const value = match[0].replace(TRAILING, '');
    if (!URL.canParse(value)) continue;
    if (match.index > done) parts.push({ kind: 'text', value: text.slice(done, match.index) });
    parts.push({ kind: 'link', value });
    done = match.index + value.length;
  }
  if (done < text.length) parts.push({ kind: 'text', value: text.slice(done) });
  return parts;
}
