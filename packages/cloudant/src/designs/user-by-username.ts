import { defineDesign } from '../design.ts';

/** Mango index for finding a user by name. Both fields are always searched, so the index can always be used. */
export const userByUsername = defineDesign({
  name: 'user-by-username',
  version: 1,
  index: { name: 'type-username', fields: ['type', 'username'] },
});
