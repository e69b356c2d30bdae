export interface DiffPart {
  kind: 'same' | 'added' | 'deleted';
  text: string;
}

/** Beyond so many comparisons whole lines are compared instead of words, to stay within a few milliseconds. */
const MOST_CELLS = 4_000_000;

function words(text: string): string[] {
  // Segments Chinese into words, too, which a split at blanks would not.
  const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });
  return Array.from(segmenter.segment(text), (s) => s.segment);
}

const lines = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

/** Marks of a longest common subsequence (dynamic programming, O(n m) time and space). */
function compare(a: readonly string[], b: readonly string[]): DiffPart[] {
  const width = b.length + 1;
  const longest = new Uint16Array((a.length + 1) * width);
  const at = (i: number, j: number): number => longest[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      longest[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const parts: DiffPart[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      parts.push({ kind: 'same', text: a[i] ?? '' });
      i++;
      j++;
    } else if (i < a.length && (j === b.length || at(i + 1, j) >= at(i, j + 1))) {
      parts.push({ kind: 'deleted', text: a[i++] ?? '' });
    } else {
      parts.push({ kind: 'added', text: b[j++] ?? '' });
    }
  }
  return parts;
}

/** Neighbours of one kind become one part; deletions stand before additions. */
function joined(parts: readonly DiffPart[]): DiffPart[] {
  const result: DiffPart[] = [];
  let deleted = '';
  let added = '';
  const flush = () => {
    if (deleted) result.push({ kind: 'deleted', text: deleted });
    if (added) result.push({ kind: 'added', text: added });
    deleted = '';
    added = '';
  };
  for (const { kind, text } of parts) {
    if (kind === 'deleted') deleted += text;
    else if (kind === 'added') added += text;
    else {
      flush();
      const last = result.at(-1);
      if (last?.kind === 'same') last.text += text;
      else result.push({ kind, text });
    }
  }
  flush();
  return result;
}

/**
 * What changed from one text to the next, word by word; very long changes line by line.
 * The parts that are same or deleted make up `before`, those that are same or added make up `after`.
 */
export function wordDiff(before: string, after: string): DiffPart[] {
  let a = words(before);
  let b = words(after);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const head = a.slice(0, start).join('');
  const tail = end > 0 ? a.slice(-end).join('') : '';
  a = a.slice(start, a.length - end);
  b = b.slice(start, b.length - end);
  if (a.length * b.length > MOST_CELLS) {
    a = lines(a.join(''));
    b = lines(b.join(''));
  }
  const middle: DiffPart[] =
    a.length * b.length > MOST_CELLS
      ? [
          { kind: 'deleted', text: a.join('') },
          { kind: 'added', text: b.join('') },
        ]
      : compare(a, b);
  const parts: DiffPart[] = [{ kind: 'same', text: head }, ...middle, { kind: 'same', text: tail }];
  return joined(parts.filter((p) => p.text !== ''));
}
