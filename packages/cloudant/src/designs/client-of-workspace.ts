import { defineDesign } from '../design.ts';

/** Key: a workspace's id. Value: a link to its client, so that one query with `include_docs` reads the client. */
export const clientOfWorkspace = defineDesign({
  name: 'client-of-workspace',
  version: 1,
  views: {
    client: {
      map: `function (doc) {
  if (doc.type === 'workspace' && doc.clientId) {
    emit(doc._id, { _id: doc.clientId });
  }
}`,
    },
  },
});
