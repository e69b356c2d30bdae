import { Id, IdeaStatus, inputs } from '@sparkroom/contract';
import { describe, expect, test } from 'vitest';
import { faultsOf, textsOf } from './check-chunk.ts';
import { clients, people } from './content/index.ts';
import { demo } from './demo.ts';

const now = Date.UTC(2026, 10, 30, 9);
const chunk = demo(1, now);
const ideas = clients.flatMap((c) => c.workspaces.flatMap((w) => w.ideas));
const guidance = clients.flatMap((c) => c.workspaces.flatMap((w) => w.guidance));

describe('the content', () => {
  test('has the promised size', () => {
    expect(clients).toHaveLength(6);
    expect(clients.flatMap((c) => c.workspaces)).toHaveLength(12);
    expect(Object.keys(people)).toHaveLength(20);
    expect(ideas).toHaveLength(200);
    expect(guidance).toHaveLength(24);
  });

  test('is about three fifths English and two fifths Chinese', () => {
    const isChinese = (text: string) => /\p{Script=Han}/u.test(text);
    const chinese = ideas.filter((idea) => isChinese(idea.title));
    expect(chinese.length / ideas.length).toBeGreaterThan(0.35);
    expect(chinese.length / ideas.length).toBeLessThan(0.45);
    // One language each: title and text agree.
    for (const idea of ideas) expect(isChinese(idea.text), idea.title).toBe(isChinese(idea.title));
    expect(guidance.some((g) => isChinese(g.title))).toBe(true);
    expect(clients.filter((c) => isChinese(c.name)).length).toBeGreaterThan(1);
  });

  test('never repeats a title, a text or a sentence', () => {
    const sentences = [...ideas, ...guidance].flatMap(({ text }) =>
      [...new Intl.Segmenter('zh', { granularity: 'sentence' }).segment(text)].map((s) => s.segment.trim()),
    );
    expect(new Set(ideas.map((i) => i.title)).size).toBe(ideas.length);
    expect(new Set(sentences).size).toBe(sentences.length);
  });

  test('passes the checks that people’s input has to pass', () => {
    for (const { title, text, tags, status } of ideas) {
      const input = inputs.ideas.create.safeParse({ workspaceId: 'w', title, body: { text }, tags });
      expect(input.success, title).toBe(true);
      if (status) IdeaStatus.parse(status);
    }
    for (const { title, text } of guidance)
      expect(inputs.guidance.create.safeParse({ workspaceId: 'w', title, body: { text } }).success).toBe(
        true,
      );
    for (const client of clients) {
      expect(inputs.clients.create.safeParse({ name: client.name }).success).toBe(true);
      for (const { name, description } of client.workspaces)
        expect(inputs.workspaces.create.safeParse({ clientId: 'c', name, description }).success).toBe(true);
    }
  });

  test('has ideas in every state, and unrated ones', () => {
    for (const status of IdeaStatus.options)
      expect(ideas.filter((i) => (i.status ?? 'open') === status).length, status).toBeGreaterThan(7);
    expect(ideas.filter((i) => i.unrated).length).toBeGreaterThan(10);
    expect(ideas.filter((i) => i.before).length).toBeGreaterThan(3);
  });
});

describe('the demo', () => {
  test('is the same for the same seed and time, and has other ids for another seed', () => {
    expect(demo(1, now)).toEqual(chunk);
    const other = demo(2, now);
    expect(other.user[0]?.id).not.toBe(chunk.user[0]?.id);
    expect(other.idea.map((i) => i.title)).toEqual(chunk.idea.map((i) => i.title));
  });

  test('keeps its ids whatever the day', () => {
    const later = demo(1, now + 86_400_000 * 400);
    expect(later.idea.map((i) => i.id)).toEqual(chunk.idea.map((i) => i.id));
    expect(later.idea[0]?.created_at).not.toBe(chunk.idea[0]?.created_at);
  });

  test('breaks no promise of the tables', () => {
    expect(faultsOf(chunk, textsOf(chunk))).toEqual([]);
  });

  test('a wrong sum would be noticed', () => {
    const [first, ...rest] = structuredClone(chunk.idea);
    if (!first) throw new Error('no ideas');
    first.rating_sum++;
    expect(faultsOf({ ...chunk, idea: [first, ...rest] }, textsOf(chunk))).toEqual([
      `${first.title}: its sum of ratings is wrong`,
    ]);
  });

  test('has ids of its own for everything', () => {
    const ids = [...chunk.user, ...chunk.client, ...chunk.workspace, ...chunk.idea, ...chunk.guidance].map(
      (row) => Id.parse(row.id),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('user0 owns several workspaces and is a member of others; the admin is in one', () => {
    const of = (email: string) => {
      const id = chunk.user.find((u) => u.email === email)?.id;
      return chunk.membership.filter((m) => m.user_id === id).map((m) => m.role);
    };
    const user0 = of('user0@sparkroom.example');
    expect(user0.filter((r) => r === 'owner').length).toBeGreaterThan(2);
    expect(user0.filter((r) => r === 'member').length).toBeGreaterThan(2);
    expect(of('admin@sparkroom.example')).toEqual(['member']);
    for (let i = 0; i < 10; i++) expect(of(`user${i}@sparkroom.example`).length).toBeGreaterThan(0);
    expect(chunk.user.filter((u) => u.role === 'admin').map((u) => u.email)).toEqual([
      'admin@sparkroom.example',
    ]);
  });

  test('ratings spread: weak and strong ideas, harsh and generous raters', () => {
    const rated = chunk.idea.filter((i) => i.rating_count >= 3).map((i) => i.rating_sum / i.rating_count);
    expect(Math.min(...rated)).toBeLessThan(2.2);
    expect(Math.max(...rated)).toBeGreaterThan(4.2);
    const byPerson = [...Map.groupBy(chunk.rating, (r) => r.user_id).values()]
      .filter((given) => given.length > 20)
      .map((given) => given.reduce((sum, r) => sum + r.stars, 0) / given.length);
    expect(Math.max(...byPerson) - Math.min(...byPerson)).toBeGreaterThan(0.6);
  });

  test('nothing happens in the future, and the activity is in order', () => {
    const limit = new Date(now).toISOString().replace('T', ' ');
    const times = chunk.audit.map((a) => a.created_at);
    expect(times.toSorted()).toEqual(times);
    for (const time of [
      ...times,
      ...chunk.rating.map((r) => r.created_at),
      ...chunk.idea.map((i) => i.active_at),
    ])
      expect(time < limit, time).toBe(true);
  });

  test('every change of an idea is in the activity', () => {
    for (const idea of chunk.idea) {
      const of = chunk.audit.filter((a) => a.target_id === idea.id);
      expect(of.filter((a) => a.action !== 'idea.rated')).toHaveLength(idea.version);
      expect(of.some((a) => a.private)).toBe(idea.status === 'draft');
    }
    expect(chunk.audit.filter((a) => a.action === 'idea.rated')).toHaveLength(chunk.rating.length);
  });
});
