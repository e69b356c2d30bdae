import { events } from '@sparkroom/contract';
import { expect, it } from 'vitest';
import { activityKey } from './activity-text.ts';

it('has words for everything that is written down as done by somebody', () => {
  const done = [...events.keys()].filter((type) => !type.endsWith('.bodyStored'));
  // Invitations are written down, but are no events.
  const invitations = ['invitation.created', 'invitation.revoked', 'invitation.accepted'];
  expect([...done, ...invitations].filter((type) => activityKey(type) === 'other')).toEqual([]);
  expect(activityKey('toString')).toBe('other');
});
