import { defineDesign } from '../design.ts';

/**
 * Key `[userId, 0]`: the user. Key `[userId, 1]`: one row for each membership, linked to the workspace. Read from
 * `[userId]` to `[userId, 1]`.
 */
export const userWithWorkspaces = defineDesign({
  name: 'user-with-workspaces',
  version: 1,
  views: {
    documents: {
      map: `function (doc) {
  if (doc.type === 'user') {
    emit([doc._id, 0], { _id: doc._id });
  } else if (doc.type === 'user_workspace_rel' && doc.userId && doc.workspaceId) {
    emit([doc.userId, 1], { _id: doc.workspaceId });
  }
}`,
    },
  },
});
