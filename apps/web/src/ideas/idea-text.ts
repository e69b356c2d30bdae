/** What a person writes of an idea. */
export interface IdeaText {
  title: string;
  text: string;
  tags: string[];
}

export const EMPTY_IDEA: IdeaText = { title: '', text: '', tags: [] };

export type IdeaFault = 'needTitle' | 'needText' | 'needTags';

const MOST_TITLE = 200;
const MOST_TEXT = 20_000;
const MOST_TAGS = 8;
const MOST_TAG = 30;

/** Length as the server counts it: code points after trimming, so that Chinese and emoji get the same room. */
const lengthOf = (text: string) => [...text.trim()].length;
const within = (text: string, most: number) => lengthOf(text) >= 1 && lengthOf(text) <= most;

/** Faults that the server would refuse, field by field. Each has a text `idea.<fault>`. */
export function faultsOf(idea: IdeaText): Partial<Record<keyof IdeaText, IdeaFault>> {
  return {
    ...(within(idea.title, MOST_TITLE) && !idea.title.trim().includes('\n') ? {} : { title: 'needTitle' }),
    ...(within(idea.text, MOST_TEXT) ? {} : { text: 'needText' }),
    ...(idea.tags.length <= MOST_TAGS && idea.tags.every((tag) => within(tag, MOST_TAG))
      ? {}
      : { tags: 'needTags' }),
  };
}

export const isSame = (a: IdeaText, b: IdeaText): boolean =>
  a.title === b.title && a.text === b.text && a.tags.join('\n') === b.tags.join('\n');
