import { Alert, Anchor, Button, Container, Group, Stack, Text } from '@mantine/core';
import { ErrorState, Skeletons, troubleText } from '@sparkroom/ui';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useNavigate, useParams } from 'react-router';
import { client, queryClient, trpc } from '../api/client.ts';
import { troubleOf } from '../api/trouble.ts';
import { useOpenWorkspace } from '../live/live-provider.tsx';
import { useMe } from '../session/me.tsx';
import { useKept } from '../session/use-kept.ts';
import { notifyDone } from '../shell/notify.ts';
import { PageHeading } from '../shell/page-heading.tsx';
import { PageTrouble } from '../shell/page-trouble.tsx';
import { useWorkspaceQuery } from '../workspace/use-workspace.ts';
import { focusFirstFault, IdeaFields } from './idea-fields.tsx';
import { EMPTY_IDEA, faultsOf, isSame } from './idea-text.ts';

/** Posts an idea, or saves it as a draft. What is typed survives a reload. */
export function PostIdeaPage() {
  const { t } = useTranslation();
  const { workspaceId = '' } = useParams();
  const navigate = useNavigate();
  const me = useMe();
  const workspace = useWorkspaceQuery(workspaceId);
  useOpenWorkspace(workspace.data?.id);
  const kept = useKept(`${me.id}.idea.${workspaceId}`, EMPTY_IDEA);
  const [checked, setChecked] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const idea = kept.value;

  const post = useMutation({
    mutationFn: (status: 'open' | 'draft') =>
      client.ideas.create.mutate({
        workspaceId,
        title: idea.title,
        body: { text: idea.text },
        tags: idea.tags,
        status,
      }),
    onSuccess: async (created) => {
      kept.forget();
      queryClient.setQueryData(trpc.ideas.get.queryKey({ id: created.id }), created);
      void queryClient.invalidateQueries({ queryKey: trpc.ideas.list.pathKey() });
      void queryClient.invalidateQueries({ queryKey: trpc.ideas.ranking.pathKey() });
      void queryClient.invalidateQueries({ queryKey: trpc.workspaces.pathKey() });
      void queryClient.invalidateQueries({ queryKey: trpc.me.contributions.pathKey() });
      notifyDone(created.status === 'draft' ? t('idea.draftNote') : t('idea.postedNote'));
      await navigate(`/ideas/${created.id}`);
    },
  });
  const send = (status: 'open' | 'draft') => {
    setChecked(true);
    if (Object.keys(faultsOf(idea)).length === 0) post.mutate(status);
    else if (form.current) focusFirstFault(form.current, idea);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    send('open');
  };

  if (!workspace.data) {
    return workspace.error ? (
      <PageTrouble error={workspace.error} onRetry={() => void workspace.refetch()} />
    ) : (
      <Skeletons />
    );
  }
  if (!workspace.data.may.post) {
    const reason = workspace.data.archivedAt === null ? 'ROLE_REQUIRED' : 'WORKSPACE_ARCHIVED';
    return (
      <ErrorState
        order={1}
        trouble={{ reason }}
        action={
          <Button component={Link} to={`/w/${workspaceId}`}>
            {t('idea.back', { name: workspace.data.name })}
          </Button>
        }
      />
    );
  }
  const refused = post.error ? troubleText(t, troubleOf(post.error)) : null;
  return (
    <Container size="sm" mx={0} p={0}>
      <Anchor component={Link} to={`/w/${workspaceId}`} size="sm">
        {t('idea.back', { name: workspace.data.name })}
      </Anchor>
      <PageHeading title={t('idea.post')}>{t('idea.post')}</PageHeading>
      <form ref={form} onSubmit={submit} noValidate>
        <Stack mt="md">
          {refused ? (
            <Alert color="red" role="alert" title={refused.title}>
              {refused.text}
            </Alert>
          ) : null}
          <IdeaFields value={idea} onChange={kept.set} checked={checked} />
          <Group>
            <Button type="submit" loading={post.isPending && post.variables === 'open'}>
              {t('idea.postButton')}
            </Button>
            <Button
              variant="default"
              loading={post.isPending && post.variables === 'draft'}
              onClick={() => send('draft')}
            >
              {t('idea.saveDraft')}
            </Button>
            {kept.restored && !isSame(idea, EMPTY_IDEA) ? (
              <Button variant="subtle" onClick={kept.forget}>
                {t('idea.discard')}
              </Button>
            ) : null}
          </Group>
          <Text size="sm" c="dimmed">
            {t('idea.draftHint')} {t('idea.kept')}
          </Text>
        </Stack>
      </form>
    </Container>
  );
}
