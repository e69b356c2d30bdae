import { Alert, Anchor, Button, Group, Stack, Textarea, TextInput } from '@mantine/core';
import type { GuidanceWithBody } from '@sparkroom/contract';
import { ErrorState, troubleText } from '@sparkroom/ui';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useNavigate } from 'react-router';
import { client, queryClient, trpc } from '../api/client.ts';
import { troubleOf } from '../api/trouble.ts';
import { faultsOf } from '../ideas/idea-text.ts';
import { useMe } from '../session/me.tsx';
import { useKept } from '../session/use-kept.ts';
import { notifyDone } from '../shell/notify.ts';
import { PageHeading } from '../shell/page-heading.tsx';
import { useWorkspace } from '../workspace/use-workspace.ts';

interface Draft {
  title: string;
  text: string;
}

const EMPTY: Draft = { title: '', text: '' };

interface GuidanceFormProps {
  /** Name under which what is typed survives a reload. */
  keep: string;
  initial: Draft;
  submit: string;
  save: (draft: Draft) => Promise<GuidanceWithBody>;
  onSaved: (saved: GuidanceWithBody) => void;
  onCancel: () => void;
}

/** Title and text of a guidance. */
export function GuidanceForm({ keep, initial, submit, save, onSaved, onCancel }: GuidanceFormProps) {
  const { t } = useTranslation();
  const kept = useKept<Draft>(keep, initial);
  const [checked, setChecked] = useState(false);
  const draft = kept.value;
  // The limits of guidance are those of ideas.
  const faults = faultsOf({ ...draft, tags: [] });
  const send = useMutation({
    mutationFn: () => save(draft),
    onSuccess: (saved) => {
      kept.forget();
      queryClient.setQueryData(trpc.guidance.get.queryKey({ id: saved.id }), saved);
      void queryClient.invalidateQueries({ queryKey: trpc.guidance.list.pathKey() });
      void queryClient.invalidateQueries({ queryKey: trpc.me.contributions.pathKey() });
      notifyDone(t('guidance.published'));
      onSaved(saved);
    },
  });
  const refused = send.error ? troubleText(t, troubleOf(send.error)) : null;
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    setChecked(true);
    if (!faults.title && !faults.text) send.mutate();
  };
  return (
    <form onSubmit={onSubmit} noValidate>
      <Stack>
        {refused ? (
          <Alert color="red" role="alert" title={refused.title}>
            {refused.text}
          </Alert>
        ) : null}
        <TextInput
          label={t('guidance.name')}
          required
          value={draft.title}
          onChange={(event) => kept.set({ ...draft, title: event.currentTarget.value })}
          error={checked && faults.title ? t('idea.needTitle') : null}
        />
        <Textarea
          label={t('guidance.text')}
          required
          autosize
          minRows={10}
          maxRows={30}
          value={draft.text}
          onChange={(event) => kept.set({ ...draft, text: event.currentTarget.value })}
          error={checked && faults.text ? t('idea.needText') : null}
        />
        <Group>
          <Button type="submit" loading={send.isPending}>
            {submit}
          </Button>
          <Button
            variant="default"
            onClick={() => {
              kept.forget();
              onCancel();
            }}
          >
            {t('common.cancel')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** Writes a new guidance. */
export function CreateGuidance() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const workspace = useWorkspace();
  const me = useMe();
  const base = `/w/${workspace.id}/guidance`;
  if (!workspace.may.writeGuidance) {
    // Said before anything is typed.
    const reason = workspace.archivedAt === null ? 'ROLE_REQUIRED' : 'WORKSPACE_ARCHIVED';
    return (
      <ErrorState
        order={1}
        trouble={{ reason }}
        action={
          <Button component={Link} to={base}>
            {t('guidance.back')}
          </Button>
        }
      />
    );
  }
  return (
    <Stack maw="70ch">
      <Anchor component={Link} to={base} size="sm">
        {t('guidance.back')}
      </Anchor>
      <PageHeading title={t('guidance.create')}>{t('guidance.create')}</PageHeading>
      <GuidanceForm
        keep={`${me.id}.guidance.${workspace.id}`}
        initial={EMPTY}
        submit={t('guidance.publish')}
        save={({ title, text }) =>
          client.guidance.create.mutate({ workspaceId: workspace.id, title, body: { text } })
        }
        onSaved={(saved) => void navigate(`${base}/${saved.id}`)}
        onCancel={() => void navigate(base)}
      />
    </Stack>
  );
}
