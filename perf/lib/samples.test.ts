import { expect, test } from 'vitest';
import { Samples } from './samples.ts';

test('figures are those of the very times that were measured', () => {
  const samples = new Samples();
  for (let i = 100; i >= 1; i--) samples.add(i);
  expect(samples.figures()).toEqual({ count: 100, avg: 50.5, min: 1, p50: 50, p95: 95, p99: 99, max: 100 });
});

test('one slow request among few is their p99', () => {
  const samples = new Samples();
  for (const ms of [5, 5, 5, 900]) samples.add(ms);
  expect(samples.figures()).toMatchObject({ p50: 5, p95: 900, p99: 900, max: 900 });
});

test('grows, and is all zeros when empty', () => {
  const samples = new Samples();
  expect(samples.figures()).toEqual({ count: 0, avg: 0, min: 0, p50: 0, p95: 0, p99: 0, max: 0 });
  for (let i = 0; i < 10_000; i++) samples.add(i);
  expect(samples.figures()).toMatchObject({ count: 10_000, p50: 4999, max: 9999 });
});
