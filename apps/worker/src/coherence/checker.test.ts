import type { AnyDomainEvent } from '@sparkroom/contract';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createChecker, judge, type Tier, type Verdict, type Window } from './checker.ts';
import { type Expectation, expectationsOf } from './expectations.ts';

const renamed = (name: string): AnyDomainEvent =>
  ({
    id: `event-${name}`,
    type: 'workspace.updated',
    aggregate: { type: 'workspace', id: 'w', version: 2 },
    workspaceId: 'w',
    actorId: 'ana',
    payload: { name },
  }) as AnyDomainEvent;

const first = (event: AnyDomainEvent): Expectation => expectationsOf(event)[0] as Expectation;
const answering = (...names: string[]): Tier => {
  let i = 0;
  return { name: 'tier', read: async () => ({ name: names[Math.min(i++, names.length - 1)] }) };
};

describe('verdict', () => {
  const judged = (tier: Tier, truth: Tier) => judge(first(renamed('new')), tier, truth.read);

  it('is coherent without a look at the database when the answer shows the event', async () => {
    const read = vi.fn();
    expect(await judge(first(renamed('new')), answering('new'), read)).toBe('coherent');
    expect(read).not.toHaveBeenCalled();
  });
  it('is incoherent when the database shows it and the tier still does not', async () => {
    expect(await judged(answering('old'), answering('new'))).toBe('incoherent');
  });
  it('is coherent when the tier has followed in the meantime', async () => {
    expect(await judged(answering('old', 'new'), answering('new'))).toBe('coherent');
  });
  it('is coherent when both show a later change', async () => {
    expect(await judged(answering('newer'), answering('newer'))).toBe('coherent');
  });
  it('leaves open what may be between two later changes; the last one decides', async () => {
    expect(await judged(answering('newer'), answering('newest'))).toBe('undecided');
  });
  it('is undecided without a right to read', async () => {
    expect(await judged({ name: 'tier', read: async () => null }, answering('new'))).toBe('undecided');
  });
});

describe('checker', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('reads every tier in every window and finds one that stays behind', async () => {
    const seen: Array<[Window, string, Verdict]> = [];
    const checker = createChecker({
      tiers: [
        { ...answering('old'), name: 'stuck' },
        { ...answering('new'), name: 'right' },
      ],
      truth: answering('new').read,
      report: ({ window, tier, verdict, expectation }) =>
        expectation.reading.procedure === 'workspaces.get' && seen.push([window, tier, verdict]),
    });
    expect(checker.watch(renamed('new'))).toBe(true);
    await vi.advanceTimersByTimeAsync(61_000);
    const order = ([a, x]: [number, string, unknown], [b, y]: [number, string, unknown]) =>
      a - b || x.localeCompare(y);
    expect(seen.sort(order)).toEqual(
      [50, 1_000, 5_000, 60_000].flatMap((window) => [
        [window, 'right', 'coherent'],
        [window, 'stuck', 'incoherent'],
      ]),
    );
    await checker.stop();
  });

  it('reads as one person only where it has to, takes an outage for no verdict, and does not pile up', async () => {
    const verdicts: string[] = [];
    const checker = createChecker({
      tiers: [
        { name: 'other', as: 'ben', read: () => Promise.reject(new Error('must not be asked')) },
        { name: 'away', as: 'ana', read: () => Promise.reject(new Error('away')) },
      ],
      truth: answering('new').read,
      report: ({ tier, verdict }) => verdicts.push(`${tier} ${verdict}`),
      most: 1,
    });
    expect(checker.watch(renamed('new'))).toBe(true);
    expect(checker.watch(renamed('newer'))).toBe(false);
    await vi.advanceTimersByTimeAsync(50);
    expect(verdicts).toEqual(['away unreadable', 'away unreadable']);
    await checker.stop();
    expect(checker.waiting).toBe(0);
  });
});

describe('expectations', () => {
  const event = (type: string, payload: object): AnyDomainEvent =>
    ({
      ...renamed(''),
      type,
      payload,
      aggregate: { type: 'idea', id: 'i', version: 3 },
    }) as AnyDomainEvent;
  const list = (items: object[], nextCursor: string | null = null) => ({ items, nextCursor });

  it.each<[string, object, object, boolean | null]>([
    ['idea.created', { title: 'T', status: 'open' }, list([{ id: 'i', title: 'T' }]), true],
    ['idea.created', { title: 'T', status: 'open' }, list([]), false],
    ['idea.created', { title: 'T', status: 'open' }, list([], 'more'), null],
    ['idea.revised', { title: 'T', status: 'open' }, list([{ id: 'i', title: 'S' }]), false],
    ['idea.statusChanged', { from: 'open', to: 'accepted' }, list([{ id: 'i', status: 'open' }]), false],
    ['idea.removed', { status: 'open' }, list([{ id: 'i' }]), false],
    ['idea.removed', { status: 'open' }, list([]), true],
    ['idea.rated', { userId: 'u', raters: 2 }, list([{ id: 'i', score: { raters: 1 } }]), false],
    ['idea.rated', { userId: 'u', raters: 2 }, list([{ id: 'i', score: { raters: 2 } }]), true],
    ['membership.removed', { userId: 'u' }, list([{ userId: 'u' }]), false],
    ['membership.added', { userId: 'u', role: 'member' }, list([{ userId: 'u', role: 'member' }]), true],
    ['membership.roleChanged', { userId: 'u', to: 'editor' }, list([{ userId: 'u', role: 'member' }]), false],
  ])('%s %j in %j: %j', (type, payload, answer, shows) => {
    expect(first(event(type, payload)).shows(answer)).toBe(shows);
  });

  it('are none for drafts, for the copying of texts, and without a person', () => {
    expect(expectationsOf(event('idea.created', { title: 'T', status: 'draft' }))).toEqual([]);
    expect(expectationsOf(event('idea.bodyStored', { bodyVersion: 1 }))).toEqual([]);
    expect(expectationsOf({ ...renamed('x'), actorId: null })).toEqual([]);
  });
});
