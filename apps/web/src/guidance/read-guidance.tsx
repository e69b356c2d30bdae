import { Anchor, Button, Group, Stack, Text } from '@mantine/core';
import type { GuidanceWithBody } from '@sparkroom/contract';
import { Face, PlainText, RelativeTime, Skeletons } from '@sparkroom/ui';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useNavigate, useParams, useSearchParams } from 'react-router';
import { client, queryClient, trpc } from '../api/client.ts';
import { useMe } from '../session/me.tsx';
import { ConfirmDialog } from '../shell/confirm-dialog.tsx';
import { notifyDone, notifyError } from '../shell/notify.ts';
import { focusHeading, PageHeading } from '../shell/page-heading.tsx';
import { PageTrouble } from '../shell/page-trouble.tsx';
import { useWorkspace } from '../workspace/use-workspace.ts';
import { GuidanceForm } from './write-guidance.tsx';

function Actions({ guidance, onEdit }: { guidance: GuidanceWithBody; onEdit: () => void }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [removing, setRemoving] = useState(false);
  const remove = useMutation({
    mutationFn: () => client.guidance.remove.mutate({ id: guidance.id, version: guidance.version }),
    onSuccess: async () => {
      await navigate(`/w/${guidance.workspaceId}/guidance`);
      notifyDone(t('guidance.removed'));
      void queryClient.invalidateQueries({ queryKey: trpc.guidance.list.pathKey() });
    },
    onError: (error) => {
      setRemoving(false);
      notifyError(error);
      void queryClient.invalidateQueries({ queryKey: trpc.guidance.pathKey() });
    },
  });
  return (
    <Group>
      <Button variant="default" onClick={onEdit}>
        {t('common.edit')}
      </Button>
      <Button variant="subtle" color="red" onClick={() => setRemoving(true)}>
        {t('common.remove')}
      </Button>
      <ConfirmDialog
        opened={removing}
        onClose={() => setRemoving(false)}
        onConfirm={() => remove.mutate()}
        busy={remove.isPending}
        danger
        title={t('guidance.removeTitle')}
        text={t('guidance.removeText')}
        confirm={t('common.remove')}
      />
    </Group>
  );
}

/** One guidance: read, and for its author and owners edit and remove. */
export function ReadGuidance() {
  const { t } = useTranslation();
  const { guidanceId = '' } = useParams();
  const workspace = useWorkspace();
  const me = useMe();
  const [query, setQuery] = useSearchParams();
  const { data, error, refetch } = useQuery(trpc.guidance.get.queryOptions({ id: guidanceId }));
  if (!data) {
    return error ? (
      <PageTrouble error={error} onRetry={() => void refetch()} />
    ) : (
      <Skeletons count={1} height={12} />
    );
  }
  const editing = query.has('edit') && data.may.edit;
  const edit = (on: boolean) => {
    setQuery(on ? { edit: '1' } : {}, { replace: true });
    if (!on) setTimeout(focusHeading);
  };
  return (
    <Stack maw="70ch">
      <Anchor component={Link} to={`/w/${workspace.id}/guidance`} size="sm">
        {t('guidance.back')}
      </Anchor>
      <PageHeading title={data.title}>{editing ? t('guidance.edit') : data.title}</PageHeading>
      {editing ? (
        <GuidanceForm
          keep={`${me.id}.guidance.${data.id}`}
          initial={{ title: data.title, text: data.body.text }}
          submit={t('common.save')}
          save={({ title, text }) =>
            client.guidance.update.mutate({ id: data.id, version: data.version, title, body: { text } })
          }
          onSaved={() => edit(false)}
          onCancel={() => edit(false)}
        />
      ) : (
        <>
          <Group gap="xs">
            <Face name={data.author.name} small />
            <Text size="sm">{data.author.name}</Text>
            <Text size="sm" c="dimmed">
              <RelativeTime at={data.updatedAt} />
            </Text>
          </Group>
          <PlainText text={data.body.text} />
          {data.may.edit ? <Actions guidance={data} onEdit={() => edit(true)} /> : null}
        </>
      )}
    </Stack>
  );
}
