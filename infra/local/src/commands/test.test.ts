import { expect, test } from 'vitest';
import { countOf, type Report } from './test.ts';

const report = (passed: number, failed: number, testResults: Report['testResults'] = []): Report => ({
  numPassedTests: passed,
  numFailedTests: failed,
  testResults,
});

test('counts tests', () => {
  expect(countOf(report(5, 2), 1)).toEqual({ passed: 5, failed: 2 });
});

test('counts a file that broke before its first test', () => {
  const broken = { status: 'failed', assertionResults: [] };
  expect(countOf(report(5, 0, [broken, { status: 'passed', assertionResults: [{}] }]), 1)).toEqual({
    passed: 5,
    failed: 1,
  });
});

test('a run that failed outside of every test has not passed', () => {
  expect(countOf(report(5, 0), 1)).toEqual({ passed: 5, failed: 1 });
  expect(countOf(report(5, 0), 0)).toEqual({ passed: 5, failed: 0 });
});
