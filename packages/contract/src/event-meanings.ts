import type { EventName } from './events.ts';

/** What each event says, for the people who read docs/events.md. An event without a line here does not compile. */
export const eventMeanings: Readonly<Record<EventName, string>> = {
  'user.registered': 'Somebody has an account now.',
  'client.created': 'A customer is known now.',
  'client.updated': 'A customer has another name.',
  'client.archived': 'A customer was put away, or taken out again (`archived: false`).',
  'workspace.created': 'A room for a customer was opened; its owner is the actor.',
  'workspace.updated': 'A room has another name.',
  'workspace.archived': 'A room was closed to changes, or opened again (`archived: false`).',
  'membership.added': 'Somebody may enter the room.',
  'membership.roleChanged': 'A member may do more, or less, than before.',
  'membership.removed': 'Somebody may no longer enter the room; open live pages of theirs end.',
  'idea.created': 'An idea was written. A draft (`status`) is heard of by its author alone.',
  'idea.revised': 'Title or text of an idea changed; the text itself is read from the API.',
  'idea.statusChanged': 'An idea moved on, or back.',
  'idea.removed': 'An idea was taken away; `status` is the one it had.',
  'idea.bodyStored': 'This version of an idea’s text is in the document store. For machines only.',
  'idea.rated': 'Somebody rated an idea, for the first time or anew; stars are never told.',
  'idea.unrated': 'Somebody took a rating back.',
  'guidance.published': 'A piece of guidance was published.',
  'guidance.revised': 'Title or text of guidance changed.',
  'guidance.removed': 'Guidance was taken away.',
  'guidance.bodyStored': 'This version of guidance’s text is in the document store. For machines only.',
};
