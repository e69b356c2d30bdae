import { Group, Text } from '@mantine/core';
import type { IdeaSummary } from '@sparkroom/contract';
import { Coverage, Face, RelativeTime, ScoreBar, StarRating, StatusBadge } from '@sparkroom/ui';
import { Link } from 'react-router';
import { useMe } from '../session/me.tsx';
import classes from './idea-card.module.css';
import { maySeeScore } from './may-see-score.ts';
import { useRate } from './use-rate.ts';

/** An idea in a list: what it is, whose, how old, and my rating, which can be given right here. */
export function IdeaCard({ idea, workspaceName }: { idea: IdeaSummary; workspaceName?: string }) {
  const me = useMe();
  const { rate, clear } = useRate(idea);
  return (
    <article className={classes.card} aria-labelledby={`idea-${idea.id}`}>
      <Group justify="space-between" align="flex-start" wrap="nowrap" gap="sm">
        <h2 className={classes.title} id={`idea-${idea.id}`}>
          <Link to={`/ideas/${idea.id}`}>{idea.title}</Link>
        </h2>
        <StatusBadge status={idea.status} />
      </Group>
      <Text className={classes.excerpt} lineClamp={2}>
        {idea.excerpt}
      </Text>
      <Group gap="xs" mt="sm">
        <Face name={idea.author.name} small />
        <Text size="sm">{idea.author.name}</Text>
        <Text size="sm" c="dimmed">
          <RelativeTime at={idea.createdAt} />
          {workspaceName ? ` · ${workspaceName}` : ''}
        </Text>
        {idea.tags.map((tag) => (
          <span key={tag} className={classes.tag}>
            {tag}
          </span>
        ))}
      </Group>
      <div className={classes.foot}>
        {idea.mayRate ? (
          <StarRating value={idea.myRating} onRate={rate} onClear={clear} title={idea.title} />
        ) : idea.myRating !== null ? (
          <StarRating value={idea.myRating} title={idea.title} />
        ) : null}
        {maySeeScore(idea, me.id) && idea.status !== 'draft' ? (
          <div className={classes.score}>
            {idea.score.value === null ? null : <ScoreBar score={idea.score} />}
            <Coverage score={idea.score} />
          </div>
        ) : null}
      </div>
    </article>
  );
}
