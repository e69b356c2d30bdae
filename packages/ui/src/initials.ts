/**
 * Two letters (or Chinese characters) for a face: first letters of the first and last word; of a Chinese name its
 * last two characters, as colleagues call each other.
 */
export function initials(name: string): string {
  const trimmed = name.trim();
  if (/^\p{Script=Han}+$/u.test(trimmed)) return [...trimmed].slice(-2).join('');
  const words = trimmed.split(/\s+/).filter(Boolean);
  const first = [...(words[0] ?? '')][0] ?? '?';
  const last = words.length > 1 ? ([...(words.at(-1) ?? '')][0] ?? '') : '';
  return (first + last).toUpperCase();
}
