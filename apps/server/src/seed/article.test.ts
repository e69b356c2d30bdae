import { beforeAll, describe, expect, test } from 'vitest';
import { article, articleSizes } from './article.ts';
import { articleClientName } from './article-words.ts';
import { faultsOf, textsOf } from './check-chunk.ts';
import { append, type Chunk, emptyChunk } from './rows.ts';

const small = { clients: 70, workspaces: 40, users: 60, ideas: 800, ratings: 7000 };

function all(seed: number, sizes = small): Chunk {
  const data = article(seed, sizes);
  const chunk = data.base();
  for (let i = 0; i < sizes.workspaces; i++) append(chunk, data.workspace(i));
  return chunk;
}

describe('a small one', () => {
  test('has exactly the sizes asked for', () => {
    const chunk = all(1);
    expect({
      clients: chunk.client.length,
      workspaces: chunk.workspace.length,
      users: chunk.user.length,
      ideas: chunk.idea.length,
      ratings: chunk.rating.length,
    }).toEqual(small);
  });

  test('is the same for the same seed and another one for another', () => {
    expect(all(7)).toEqual(all(7));
    expect(all(7).user[0]?.id).not.toBe(all(8).user[0]?.id);
  });

  test('gives a workspace alone as it gives it among the others', () => {
    expect(article(1, small).workspace(23)).toEqual(article(1, small).workspace(23));
  });

  test('breaks no promise of the tables', () => {
    const chunk = all(3);
    expect(faultsOf(chunk, textsOf(chunk))).toEqual([]);
  });

  test('refuses more ratings than its people can give', () => {
    expect(() => article(1, { ...small, ratings: 1_000_000 })).toThrow('There is no room for');
  });
});

describe('the article’s size', () => {
  const chunk = emptyChunk();
  const members: number[] = [];
  const perUser = new Map<string, number>();

  beforeAll(() => {
    const data = article(1);
    append(chunk, data.base());
    for (let i = 0; i < articleSizes.workspaces; i++) {
      const part = data.workspace(i);
      members.push(part.membership.length);
      for (const m of part.membership) perUser.set(m.user_id, (perUser.get(m.user_id) ?? 0) + 1);
      chunk.idea.push(...part.idea);
      for (const r of part.rating) chunk.rating.push(r);
    }
  }, 60_000);

  test('is exact', () => {
    expect(chunk.client).toHaveLength(7000);
    expect(chunk.user).toHaveLength(2000);
    expect(members).toHaveLength(3000);
    expect(chunk.idea).toHaveLength(60_000);
    expect(chunk.rating).toHaveLength(600_000);
  });

  test('has ten members a workspace on average, small and large ones, and everybody in several', () => {
    const mean = members.reduce((a, b) => a + b, 0) / members.length;
    expect(mean).toBeGreaterThan(9);
    expect(mean).toBeLessThan(11);
    expect(Math.min(...members)).toBe(3);
    expect(Math.max(...members)).toBeGreaterThan(30);
    expect(perUser.size).toBe(2000);
    expect(Math.min(...perUser.values())).toBeGreaterThan(1);
  });

  test('has ids, names and stars of its own', () => {
    expect(new Set(chunk.idea.map((i) => i.id)).size).toBe(60_000);
    expect(new Set(chunk.client.map((c) => c.name)).size).toBe(7000);
    expect(new Set(chunk.user.map((u) => u.email)).size).toBe(2000);
    const stars = [1, 2, 3, 4, 5].map((n) => chunk.rating.filter((r) => r.stars === n).length / 600_000);
    for (const share of stars) expect(share).toBeGreaterThan(0.03);
    expect(chunk.idea.filter((i) => i.rating_count === 0).length).toBeGreaterThan(1000);
  });
});

test('every client has a name of its own', () => {
  expect(new Set(Array.from({ length: 20_000 }, (_, i) => articleClientName(i))).size).toBe(20_000);
});
