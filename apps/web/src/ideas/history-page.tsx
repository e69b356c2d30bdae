import { Anchor, Button, Group, Stack, Text } from '@mantine/core';
import type { IdeaRevision } from '@sparkroom/contract';
import { ErrorState, Face, PlainText, RelativeTime, Skeletons } from '@sparkroom/ui';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useParams } from 'react-router';
import { trpc } from '../api/client.ts';
import { troubleOf } from '../api/trouble.ts';
import { flat } from '../api/use-pages.ts';
import { PageHeading } from '../shell/page-heading.tsx';
import { DiffText } from './diff-text.tsx';
import classes from './history-page.module.css';

interface RevisionProps {
  revision: IdeaRevision;
  /** The version before it that has a text. */
  before: IdeaRevision | undefined;
}

function Revision({ revision, before }: RevisionProps) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  const [marked, setMarked] = useState(true);
  const what =
    revision.kind === 'statusChanged'
      ? t('history.statusChanged', { status: t(`status.${revision.status}`) })
      : t(`history.${revision.kind}`);
  const { body } = revision;
  return (
    <li className={classes.revision}>
      <Group gap="xs">
        <Face name={revision.by.name} small />
        <Text>
          <b>{revision.by.name}</b> {what}
        </Text>
        <Text size="sm" c="dimmed">
          {t('idea.version', { version: revision.version })} · <RelativeTime at={revision.at} />
        </Text>
      </Group>
      {revision.reason ? <Text mt="xs">{t('idea.reason', { reason: revision.reason })}</Text> : null}
      {body ? (
        <Group gap="xs" mt="xs">
          <Button size="compact-sm" variant="default" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? t('history.hideText') : t('history.showText')}
          </Button>
          {open && before?.body ? (
            <Button
              size="compact-sm"
              variant="subtle"
              aria-pressed={marked}
              onClick={() => setMarked(!marked)}
            >
              {marked ? t('history.plain') : t('history.diff')}
            </Button>
          ) : null}
        </Group>
      ) : null}
      {open && body ? (
        <Stack mt="sm" gap="xs">
          {before?.body && marked ? (
            <>
              <b>
                <DiffText before={before.title} after={revision.title} />
              </b>
              <DiffText before={before.body.text} after={body.text} />
            </>
          ) : (
            <>
              <b>{revision.title}</b>
              <PlainText text={body.text} />
            </>
          )}
        </Stack>
      ) : null}
    </li>
  );
}

/** Every version of an idea, newest first, with its text and what changed in it. */
export function HistoryPage() {
  const { t } = useTranslation();
  const { ideaId = '' } = useParams();
  const history = useInfiniteQuery(
    trpc.ideas.history.infiniteQueryOptions(
      { id: ideaId, limit: 20 },
      { getNextPageParam: (page) => page.nextCursor },
    ),
  );
  const items = flat(history.data);
  return (
    <Stack className={classes.page}>
      <Anchor component={Link} to={`/ideas/${ideaId}`} size="sm">
        {t('common.back')}
      </Anchor>
      <PageHeading title={t('history.of')}>{items[0]?.title ?? t('history.title')}</PageHeading>
      <Text c="dimmed">{t('history.of')}</Text>
      {history.data ? (
        <ol className={classes.list}>
          {items.map((revision, i) => (
            <Revision
              key={revision.version}
              revision={revision}
              before={items.slice(i + 1).find((r) => r.body !== null)}
            />
          ))}
        </ol>
      ) : history.error ? (
        <ErrorState trouble={troubleOf(history.error)} onRetry={() => void history.refetch()} />
      ) : (
        <Skeletons />
      )}
      {history.isFetchNextPageError ? (
        <ErrorState trouble={troubleOf(history.error)} onRetry={() => void history.fetchNextPage()} />
      ) : history.hasNextPage ? (
        <Button
          variant="default"
          loading={history.isFetchingNextPage}
          onClick={() => void history.fetchNextPage()}
        >
          {t('history.older')}
        </Button>
      ) : null}
    </Stack>
  );
}
