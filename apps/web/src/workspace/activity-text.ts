import { en } from '@sparkroom/ui';

type ActivityKey = keyof typeof en.activity;

/** Key of the text for an event's type; a type this page does not know yet is `other`. */
export function activityKey(type: string): ActivityKey {
  const key = type.replace('.', '');
  return Object.hasOwn(en.activity, key) ? (key as ActivityKey) : 'other';
}
