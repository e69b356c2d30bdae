import { splitLinks } from './links.ts';
import classes from './plain-text.module.css';

/** What a person typed, as paragraphs with their line breaks. Nothing in it is ever interpreted but http(s) links. */
export function PlainText({ text }: { text: string }) {
  return (
    <div className={classes.text}>
      {text.split(/\n{2,}/).map((paragraph, p) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text have no identity but their place
        <p key={p}>
          {splitLinks(paragraph).map((part, i) =>
            part.kind === 'link' ? (
              // biome-ignore lint/suspicious/noArrayIndexKey: as above
              <a key={i} href={part.value} target="_blank" rel="noopener noreferrer nofollow">
                {part.value}
              </a>
            ) : (
              part.value
            ),
          )}
        </p>
      ))}
    </div>
  );
}
