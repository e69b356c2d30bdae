import { useTranslation } from 'react-i18next';
import classes from './faces.module.css';
import { initials } from './initials.ts';

/** Round face with initials. Decorative unless `label` is set: the name usually stands beside it. */
export function Face({ name, small, label }: { name: string; small?: boolean; label?: boolean }) {
  return (
    <span
      className={classes.face}
      data-small={small || undefined}
      title={name}
      {...(label ? { role: 'img', 'aria-label': name } : { 'aria-hidden': true })}
    >
      {initials(name)}
    </span>
  );
}

export interface FacesProps {
  people: ReadonlyArray<{ id: string; name: string }>;
  /** How many there are in all, when `people` is only the first page. */
  total?: number;
  /** How many faces to show before "+3". */
  max?: number;
}

/** Overlapping faces of a group. */
export function Faces({ people, total = people.length, max = 5 }: FacesProps) {
  const { t } = useTranslation();
  const shown = people.slice(0, total > max ? max - 1 : max);
  const rest = total - shown.length;
  return (
    <ul className={classes.faces}>
      {shown.map((person) => (
        <li key={person.id}>
          <Face name={person.name} label />
        </li>
      ))}
      {rest > 0 ? (
        <li>
          <span
            className={`${classes.face} ${classes.rest}`}
            role="img"
            aria-label={t('common.and', { count: rest })}
          >
            +{rest}
          </span>
        </li>
      ) : null}
    </ul>
  );
}
